"""pybandit: pure exploration at C speed.

Examples
--------
The best of three models, from as few scores as it takes:

>>> import numpy as np, pybandit as pb
>>> scores = np.random.default_rng(0).random((5000, 3)) * [0.7, 0.8, 1.0]
>>> result = pb.best_of(scores, value_range=(0, 1), rng=1)
>>> result.best, result.n_pulls
(2, 476)

A policy that says what to measure next, and is told what came of it:

>>> policy = pb.policies.SequentialHalving(4, budget=80)
>>> while not policy.done:
...     arms = policy.ask()
...     policy.tell(arms, np.array([0.1, 0.9, 0.3, 0.2])[arms])
>>> policy.recommend()
array([1])
"""

import importlib as _importlib
import typing as _typing

from pybandit import bounds, environments, errors, factors, kernels, stopping, tables
from pybandit._shared.paths import get_include
from pybandit._shared.version import __version__ as __version__
from pybandit.betting import (
    BettingRace,
    BettingThreshold,
    BudgetRace,
    ConfidenceBounds,
    ConfidenceSequence,
    Costs,
    CountRace,
    confidence_sequence,
)
from pybandit.evaluation import (
    BestOfResult,
    Calls,
    Items,
    best_of,
    best_of_async,
    best_of_pairs,
    group_weights,
)
from pybandit.montecarlo import (
    EstimatorAllocator,
    PopulationEstimate,
    combine_estimators,
    estimators,
    population_monte_carlo,
)
from pybandit.policies import (
    APT,
    EBTC,
    GPUCB,
    KLLUCB,
    KLUCB,
    LUCB,
    OCBA,
    UCB1,
    UCBE,
    UCBV,
    VBR,
    BatchHalving,
    BatchRacing,
    BatchSAR,
    BatchScreening,
    BayesGap,
    BayesUCB,
    ContinuousRejects,
    ExpectedImprovement,
    GapE,
    GapEV,
    GaussianThompson,
    GoodArms,
    LilUCB,
    Policy,
    ProbabilityOfImprovement,
    RoundRobin,
    SequentialHalving,
    SHAdaVar,
    SHVar,
    SuccessiveElimination,
    SuccessiveRejects,
    ThompsonSampling,
    TopTwo,
    TrackAndStop,
    UGapEb,
    UGapEc,
    Uniform,
)
from pybandit.racing import (
    AcceptanceTest,
    AcceptResult,
    BettingBound,
    ControlVariate,
    DrawInfo,
    EBSBound,
    Factors,
    NormalBound,
    PopulationMoments,
    Populations,
    RaceResult,
    RacingSampler,
    SliceResult,
    StudentBound,
    accept,
    exact_sample,
    lil_ucb,
    race,
    race_populations,
    slice_sample,
    taylor_control,
)
from pybandit.simulation import Comparison, SimulationResult, compare, simulate
from pybandit.tables import Blocks

__all__ = [
    "APT",
    "GoodArms",
    "LilUCB",
    "SuccessiveElimination",
    "UGapEc",
    "EBTC",
    "VBR",
    "AcceptResult",
    "AcceptanceTest",
    "BatchHalving",
    "BatchRacing",
    "BatchSAR",
    "BatchScreening",
    "BayesGap",
    "BayesUCB",
    "BestOfResult",
    "BettingBound",
    "BettingRace",
    "BettingThreshold",
    "Blocks",
    "BudgetRace",
    "Calls",
    "Comparison",
    "ConfidenceBounds",
    "ConfidenceSequence",
    "ContinuousRejects",
    "CountRace",
    "ControlVariate",
    "Costs",
    "DrawInfo",
    "EBSBound",
    "EstimatorAllocator",
    "ExpectedImprovement",
    "Factors",
    "GPUCB",
    "GapE",
    "GapEV",
    "GaussianThompson",
    "Items",
    "KLLUCB",
    "KLUCB",
    "LUCB",
    "OCBA",
    "NormalBound",
    "Policy",
    "PopulationEstimate",
    "PopulationMoments",
    "Populations",
    "ProbabilityOfImprovement",
    "RaceResult",
    "RacingSampler",
    "RoundRobin",
    "SHAdaVar",
    "SHVar",
    "SequentialHalving",
    "SimulationResult",
    "SliceResult",
    "StudentBound",
    "Study",
    "SuccessiveRejects",
    "ThompsonSampling",
    "TopTwo",
    "TrackAndStop",
    "UCB1",
    "UCBE",
    "UCBV",
    "UGapEb",
    "Uniform",
    "accept",
    "best_of",
    "best_of_async",
    "best_of_pairs",
    "bounds",
    "combine_estimators",
    "compare",
    "confidence_sequence",
    "environments",
    "errors",
    "estimators",
    "exact_sample",
    "factors",
    "get_include",
    "group_weights",
    "kernels",
    "lil_ucb",
    "mcmc",
    "population_monte_carlo",
    "race",
    "race_populations",
    "simulate",
    "slice_sample",
    "stopping",
    "tables",
    "taylor_control",
]


if _typing.TYPE_CHECKING:
    from pybandit import mcmc as mcmc
    from pybandit import studies as studies
    from pybandit.studies import Study
else:

    def __getattr__(name):
        # chains, and SQLite, are loaded by those who use them
        if name == "mcmc":
            return _importlib.import_module("pybandit.mcmc")
        if name in ("Study", "studies"):
            studies = _importlib.import_module("pybandit.studies")
            globals()["Study"] = studies.Study
            return globals()[name]
        raise AttributeError(f"module 'pybandit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
