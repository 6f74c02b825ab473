"""Policies made of functions compiled by numba."""

import functools
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

from pybandit._shared.numba_calls import Face, Role, Rules, types
from pybandit.policies.protocol.functions import FunctionPolicy

_INTEGERS, _NUMBERS = types.Array(types.int64, 1, "C", readonly=True), types.Array(
    types.float64, 1, "C", readonly=True)
_STATISTICS = {"pulls": _INTEGERS, "sums": _NUMBERS, "deviations": _NUMBERS}
FACE = Face(
    types.int64(types.int64, types.int64, types.float64, types.int64,
                types.CPointer(types.int64), types.CPointer(types.float64),
                types.CPointer(types.float64), types.voidptr, types.voidptr),
    "t, arm, reward, n_arms, pulls, sums, deviations, bits, data",
    {"t": "t", "n_arms": "n_arms", "arm": "arm", "reward": "reward",
     "rng": "generator_at(bits)",
     **{name: f"read_only(carray({name}, (n_arms,)))" for name in _STATISTICS}},
    {"t": types.int64, "n_arms": types.int64, "arm": types.int64, "reward": types.float64,
     "rng": types.npy_rng, **_STATISTICS},
    "FAILED")
_WORDS = frozenset({"t", "n_arms", *_STATISTICS})
ROLES = {
    "ask": Role(_WORDS | {"rng"}, "an arm, an integer,", (types.Integer,)),
    "tell": Role(_WORDS | {"rng", "arm", "reward"}),
    "recommend": Role(_WORDS, "an arm, an integer,", (types.Integer,), writes=False),
    "done": Role(_WORDS, "True or False", (types.Boolean,), writes=False),
}


def policy(ask: Callable[..., int] | None = None, *, tell: Callable[..., None] | None = None,
           recommend: Callable[..., int] | None = None, done: Callable[..., bool] | None = None,
           **options: Any) -> Any:
    """Compile a policy class from a function that chooses the next arm.

    Functions receive the arguments that they name, in any order:

    ============ ============================================================= ================
    name         meaning                                                       functions
    ============ ============================================================= ================
    t            pulls reported so far                                         all
    n_arms       K                                                             all
    pulls        number of rewards of each arm; int64, shape (K,)              all
    sums         sum of the rewards of each arm; float64, shape (K,)           all
    deviations   sum of squares of these rewards about their mean; like sums   all
    rng          a NumPy Generator: the run's stream in `simulate`             ask, tell
    arm, reward  the reported arm and its reward                               tell
    any other    an option of the policy: an array or a number                 all
    ============ ============================================================= ================

    Parameters
    ----------
    ask : callable
        Returns the arm to pull. Called once per pull.
    tell : callable, optional
        Called after every reward that is not lost. `pulls` and `sums` include the reward, `t` does
        not. It may write to arrays among its options, which are the policy's own data.
    recommend : callable, optional
        Returns the best arm found. May be called at any time, also if some arms have no rewards.
        By default the arm of the largest mean, ties to the lowest index, unseen arms last.
    done : callable, optional
        Returns True if there is nothing left to ask; called after every pull and before the
        first. By default the policy never ends, and `simulate` needs `max_pulls`.
    **options
        Options of ``numba.njit``. The defaults are ``boundscheck=True`` (an index outside an array
        is an error) and ``error_model="numpy"`` (x / 0 is infinite or NaN).

    Returns
    -------
    type
        A subclass of `FunctionPolicy` with the name of the function: ``name(n_arms, rng=None,
        **options)``. Its attribute `functions` maps each role to its compiled function.

    Raises
    ------
    TypeError
        If a function names an argument that is not available to it.

    Notes
    -----
    Functions may not write to `pulls`, `sums` and `deviations`, and `recommend` and `done` may not
    write to any array: numba does not compile a function that does.

    Examples
    --------
    >>> import numpy as np, pybandit as pb, pybandit.numba
    >>> @pybandit.numba.policy
    ... def ucb(t, pulls, sums, constant=2.0):
    ...     if t < pulls.size:
    ...         return t
    ...     return np.argmax(sums / pulls + np.sqrt(constant * np.log(t + 1) / pulls))
    >>> bandit = pb.environments.GaussianBandit([0.0, 0.5, 1.0])
    >>> result = pb.simulate(ucb(3, constant=0.5), bandit, 500, rng=1, max_pulls=300)
    >>> result.error_probability
    0.048
    """
    if ask is None:
        return functools.partial(policy, tell=tell, recommend=recommend, done=done, **options)
    name = getattr(ask, "__name__", type(ask).__name__)
    rules = Rules(name, FACE, ROLES, dict(ask=ask, tell=tell, recommend=recommend, done=done),
                  options)
    return type(name, (FunctionPolicy,), {
        "rules": rules, "functions": MappingProxyType(rules.jitted), "__doc__": ask.__doc__,
        "__module__": getattr(ask, "__module__", None) or "__main__",
        "__qualname__": getattr(ask, "__qualname__", name)})
