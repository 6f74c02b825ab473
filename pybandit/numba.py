"""Factors written in Python and compiled by numba. Their arrays are not copied.

`factor` compiles a function of factor indices, states and any data; `bind` attaches the data::

    @pybandit.numba.factor
    def log_factor(factors, states, out, y, means):
        for f in range(factors.size):
            for s in range(states.size):
                out[f, s] = -0.5 * (y[factors[f]] - means[states[s]]) ** 2

    sampler = pb.RacingSampler(pb.Factors(log_factor.bind(y, means), y.size, means.size))

Examples
--------
>>> import numpy as np, pybandit as pb, pybandit.numba
>>> @pybandit.numba.policy
... def in_turn(t, n_arms):
...     return t % n_arms
>>> in_turn(3).ask()
array([0])

`factor_signature` is the signature for ``numba.cfunc``:

>>> import numba
>>> @numba.cfunc(pybandit.numba.factor_signature)
... def log_factor(factors, n_factors, states, n_states, out, data):
...     for f in range(n_factors):
...         for s in range(n_states):
...             out[f * n_states + s] = -((factors[f] % 10) / 10 - states[s]) ** 2
...     return 0
>>> pb.race(pb.Factors(log_factor, 1000, 3), rng=1).best
0
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from pybandit._shared.checks import shown
from pybandit._shared.numba_calls import SCOPE, numba, pack, types, unpack, width
from pybandit.policies.protocol._numba import policy
from pybandit.policies.protocol.functions import FunctionPolicy
from pybandit.racing._callbacks import BoundFunction
from pybandit.simulation._numba import environment
from pybandit.simulation.functions import FunctionEnvironment

__all__ = ["Factor", "FunctionEnvironment", "FunctionPolicy", "environment", "factor",
           "factor_signature", "policy"]

#: The signature of ``pybandit/factors.h``, for ``numba.cfunc``.
factor_signature = types.intc(
    types.CPointer(types.int64), types.int64, types.CPointer(types.int64), types.int64,
    types.CPointer(types.float64), types.voidptr)

# Source of the compiled callback: it makes views of C memory and calls the user's function.
_WRAPPER = """
def callback(factors, n_factors, states, n_states, out, data):
    words = carray(data, ({n_words},), int64)
    reals = carray(data, ({n_words},), float64)
    try:
        function(carray(factors, (n_factors,)), carray(states, (n_states,)),
                 carray(out, (n_factors, n_states)), {arguments})
    except Exception:
        return 1
    return 0
"""


def factor(function: Callable[..., None] | None = None, **options: Any) -> Any:
    """Compile ``function(factors, states, out, *data)`` for `pybandit.Factors`.

    Parameters
    ----------
    function : callable
        Receives int64 arrays of n factor indices and k states, a float64 array ``out`` of shape
        (n, k) to fill with log f_n(i), and the bound data: arrays and numbers. It must be written
        in numba's subset of Python.
    **options
        Options of ``numba.njit``: ``fastmath``, ``cache``, ``error_model``, ``boundscheck``.

    Returns
    -------
    Factor
        Its method `Factor.bind` takes the data.

    Raises
    ------
    TypeError
        If `function` is not callable.

    Examples
    --------
    >>> import numpy as np, pybandit as pb, pybandit.numba
    >>> @pybandit.numba.factor
    ... def log_factor(factors, states, out, y, means):
    ...     for f in range(factors.size):
    ...         for s in range(states.size):
    ...             out[f, s] = -0.5 * (y[factors[f]] - means[states[s]]) ** 2
    >>> y = np.random.default_rng(1).normal(0.3, 1.0, 100_000)
    >>> means = np.linspace(-1, 1, 5)
    >>> factors = pb.Factors(log_factor.bind(y, means), y.size, means.size)
    >>> pb.race(factors, rng=1).best
    3
    """
    if function is None:
        return functools.partial(factor, **options)
    return Factor(function, options)


class Factor:
    """A function compiled by `factor`, once for every combination of types of its data.

    Attributes
    ----------
    jitted : numba dispatcher
        The function itself, to call with arrays from Python or from numba.

    Notes
    -----
    **Threads.** It only stores compiled code, so threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb, pybandit.numba
    >>> @pybandit.numba.factor
    ... def distance(factors, states, out, y, places):
    ...     for f in range(factors.size):
    ...         for s in range(states.size):
    ...             out[f, s] = -abs(y[factors[f]] - places[states[s]])
    >>> y, places = np.random.default_rng(1).normal(0.3, 1.0, 10_000), np.linspace(-1, 1, 5)
    >>> pb.race(pb.Factors(distance.bind(y, places), y.size, 5), rng=1).best
    3
    >>> out = np.empty((1, 2))
    >>> distance.jitted(np.array([0]), np.array([1, 2]), out, np.array([0.5]), places)
    >>> out
    array([[-1. , -0.5]])
    """

    def __init__(self, function: Callable[..., None], options: dict[str, Any]) -> None:
        if not callable(function):
            raise TypeError(f"function must be callable; got {shown(function)}")
        functools.update_wrapper(self, function)
        self.jitted = numba.njit(**options)(function)
        self._compiled = {}

    def __repr__(self):
        return f"<pybandit.numba.factor {self.__qualname__}>"

    def bind(self, *data: Any) -> BoundFunction:
        """Return the compiled function with these last arguments, for `pybandit.Factors`.

        Parameters
        ----------
        *data : ndarray, float, int or bool
            Arrays must be C-contiguous and are not copied: they are kept alive, and later draws
            see changes to them. Numbers are passed by value, as float64, int64 or bool.

        Returns
        -------
        object
            Pass it as the `function` of `pybandit.Factors`.

        Raises
        ------
        TypeError, ValueError
            If an argument is neither an array nor a number, or an array is not C-contiguous.
        numba.core.errors.NumbaError
            If numba cannot compile the function for these types.

        Notes
        -----
        Compiles the function if the types, dimensions included, were not bound before.
        """
        kinds, words = [], []
        for position, value in enumerate(data):
            kind, memory = pack(f"argument {position}", value)
            kinds.append(kind)
            words.append(memory)
        kinds = tuple(kinds)
        if kinds not in self._compiled:
            self._compiled[kinds] = self._compile(kinds)
        packed = np.concatenate([np.zeros(1, dtype=np.int64), *words])
        return BoundFunction(self._compiled[kinds], packed, data)

    def _compile(self, kinds):
        scope = {**SCOPE, "function": self.jitted}
        arguments, at = [], 1
        for position, (dtype, n_dimensions) in enumerate(kinds):
            scope[f"dtype{position}"] = dtype
            arguments.append(unpack(at, dtype, n_dimensions, f"dtype{position}"))
            at += width(n_dimensions)
        source = _WRAPPER.format(n_words=at, arguments=", ".join(arguments))
        exec(source, scope)
        return numba.cfunc(factor_signature)(scope["callback"])
