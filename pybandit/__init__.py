"""pybandit: pure exploration at C speed.

Examples
--------
Find the best of three models from few scores:

>>> import numpy as np, pybandit as pb
>>> scores = np.random.default_rng(0).random((5000, 3)) * [0.7, 0.8, 1.0]
>>> result = pb.best_of(scores, value_range=(0, 1), rng=1)
>>> result.best, result.n_pulls
(2, 476)

Let a policy choose the next measurements, and report their results:

>>> policy = pb.policies.SequentialHalving(4, budget=80)
>>> while not policy.done:
...     arms = policy.ask()
...     policy.tell(arms, np.array([0.1, 0.9, 0.3, 0.2])[arms])
>>> policy.recommend()
array([1])
"""

import importlib as _importlib
import typing as _typing

from pybandit._shared.compiled import check_compiled as _check_compiled
from pybandit._shared.paths import get_include
from pybandit._shared.version import __version__ as __version__

_check_compiled()

# Names in the top-level namespace, by module. The other public names are in their modules.
_NAMES = {
    "betting": ("BettingRace", "BettingThreshold", "BudgetRace", "Costs", "CountRace",
                "confidence_sequence"),
    "evaluation": ("Calls", "Items", "best_of", "best_of_async", "best_of_pairs", "tied_set",
                   "verdict"),
    "montecarlo": ("combine_estimators",),
    "policies": ("Policy",),
    "racing": ("Factors", "RacingSampler", "race"),
    "simulation": ("compare", "simulate"),
    "studies": ("Study",),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}
# Modules that need an optional package or a compiler: not part of `from pybandit import *`.
_OPTIONAL = ("embedding", "integrations", "model_selection", "numba")

__all__ = [
    "BettingRace",
    "BettingThreshold",
    "BudgetRace",
    "Calls",
    "Costs",
    "CountRace",
    "Factors",
    "Items",
    "Policy",
    "RacingSampler",
    "Study",
    "best_of",
    "best_of_async",
    "best_of_pairs",
    "betting",
    "bounds",
    "cluster",
    "combine_estimators",
    "compare",
    "confidence_sequence",
    "environments",
    "errors",
    "evaluation",
    "factors",
    "get_include",
    "kernels",
    "lab",
    "mcmc",
    "montecarlo",
    "policies",
    "race",
    "racing",
    "simulate",
    "simulation",
    "stopping",
    "studies",
    "tables",
    "tied_set",
    "verdict",
    "webtests",
]

if _typing.TYPE_CHECKING:
    from pybandit import betting as betting
    from pybandit import bounds as bounds
    from pybandit import cluster as cluster
    from pybandit import environments as environments
    from pybandit import errors as errors
    from pybandit import evaluation as evaluation
    from pybandit import factors as factors
    from pybandit import kernels as kernels
    from pybandit import lab as lab
    from pybandit import mcmc as mcmc
    from pybandit import montecarlo as montecarlo
    from pybandit import policies as policies
    from pybandit import racing as racing
    from pybandit import simulation as simulation
    from pybandit import stopping as stopping
    from pybandit import studies as studies
    from pybandit import tables as tables
    from pybandit import webtests as webtests
    from pybandit.betting import (
        BettingRace,
        BettingThreshold,
        BudgetRace,
        Costs,
        CountRace,
        confidence_sequence,
    )
    from pybandit.evaluation import (
        Calls,
        Items,
        best_of,
        best_of_async,
        best_of_pairs,
        tied_set,
        verdict,
    )
    from pybandit.montecarlo import combine_estimators
    from pybandit.policies import Policy
    from pybandit.racing import Factors, RacingSampler, race
    from pybandit.simulation import compare, simulate
    from pybandit.studies import Study
else:

    def __getattr__(name):
        """Import a module at its first use (PEP 562)."""
        if name in _HOMES:
            found = getattr(_importlib.import_module(f"pybandit.{_HOMES[name]}"), name)
        elif name in __all__ or name in _OPTIONAL:
            found = _importlib.import_module(f"pybandit.{name}")
        else:
            raise AttributeError(f"module 'pybandit' has no attribute {name!r}{_remedy(name)}")
        globals()[name] = found
        return found


def _remedy(name: str) -> str:
    """Return the place of a misspelt or misplaced name, as the end of a message, or ""."""
    from difflib import get_close_matches

    if name.startswith("_"):  # looked up by tools
        return ""
    doors = [one for one in __all__ if one not in _HOMES and one != "get_include"]
    for door in doors:
        if name in _importlib.import_module(f"pybandit.{door}").__all__:
            return f": it is pybandit.{door}.{name}"
    close = get_close_matches(name, __all__, 1)
    return f": did you mean {close[0]!r}?" if close else ""


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_OPTIONAL})
