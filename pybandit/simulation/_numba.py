"""Environments made of functions that numba compiles."""

import functools
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

from pybandit._shared.numba_calls import Face, Role, Rules, types
from pybandit.simulation.functions import FunctionEnvironment

_MOMENTS = {name: types.Array(types.float64, 1, "C", readonly=True)
            for name in ("means", "noise_std")}
FACE = Face(
    types.float64(types.int64, types.int64, types.int64, types.CPointer(types.float64),
                  types.CPointer(types.float64), types.voidptr, types.voidptr),
    "arm, seen, n_arms, means, noise_std, bits, data",
    {"arm": "arm", "seen": "seen", "n_arms": "n_arms", "rng": "generator_at(bits)",
     **{name: f"read_only(carray({name}, (n_arms,)))" for name in _MOMENTS}},
    {"arm": types.int64, "seen": types.int64, "n_arms": types.int64, "rng": types.npy_rng,
     **_MOMENTS},
    "NAN")
ROLES = {"draw": Role(frozenset(FACE.given), "a reward, a number,",
                      (types.Float, types.Integer, types.Boolean), writes=False)}


def environment(draw: Callable[..., float] | None = None, **options: Any) -> Any:
    """Compile an environment: make a class of environments from a function that draws a reward.

    The function takes any of these arguments, by name, in any order:

    ================= ===================================================================
    name              meaning
    ================= ===================================================================
    arm               the arm whose reward is drawn
    rng               a NumPy Generator: the run's stream in `simulate`
    seen              number of rewards that the arm gave before, in this run or this `pull`
    n_arms            number of arms, K
    means, noise_std  moments of the environment; float64, shape (K,)
    any other         an option of the environment: an array or a number
    ================= ===================================================================

    Parameters
    ----------
    draw : callable
        Returns one reward. Its mean must be the one given to the environment; this is not checked.
    **options
        Options of ``numba.njit``, as for `policy`.

    Returns
    -------
    type
        A subclass of `FunctionEnvironment` with the function's name: ``name(means, noise_std,
        **options)``. Its `functions` holds the functions that numba compiled.

    Raises
    ------
    TypeError
        If the function has arguments without names, such as ``*args``.

    Notes
    -----
    Threads share an environment, so functions that write to its arrays are not compiled.

    Examples
    --------
    >>> import numpy as np, pybandit as pb, pybandit.numba
    >>> @pybandit.numba.environment
    ... def waiting(arm, rng, means):
    ...     return rng.exponential(means[arm])
    >>> means = np.array([1.0, 2.0, 3.0])
    >>> result = pb.simulate(pb.policies.SequentialHalving(3, budget=300), waiting(means, means),
    ...                      200,
    ...                      rng=1)
    >>> result.error_probability
    0.02
    """
    if draw is None:
        return functools.partial(environment, **options)
    name = getattr(draw, "__name__", type(draw).__name__)
    rules = Rules(name, FACE, ROLES, dict(draw=draw), options)
    return type(name, (FunctionEnvironment,), {
        "rules": rules, "functions": MappingProxyType(rules.jitted), "__doc__": draw.__doc__,
        "__module__": getattr(draw, "__module__", None) or "__main__",
        "__qualname__": getattr(draw, "__qualname__", name)})
