"""Log factors of a race: computed by functions, or stored in arrays and blocks."""

import copy
import functools
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from typing import Any

import numpy as np

from pybandit._shared.checks import (
    MOST_PULLS,
    check_in,
    check_indices,
    check_integer,
    check_numeric,
    frozen,
    is_masked,
    numbers_returned,
    shown,
)
from pybandit._shared.types import ArrayLike, Floats
from pybandit.racing._callbacks import Callback, as_callback
from pybandit.racing.control import ControlVariate
from pybandit.tables._npy import cells_of
from pybandit.tables.blocks import Blocks, refuse_unshuffled

# Maximum number of factors of an order (subsample.h).
MOST_FACTORS = 2**62
ONLY_DOUBLES = (np.dtype(np.float64),)
# Types of tables that races read in place; all are converted to float64 cell by cell.
KEPT = tuple(np.dtype(kind) for kind in (np.float64, np.float32, np.bool_, np.uint8, np.int8))


@dataclass(frozen=True)
class Factors:
    """Log factors computed on demand.

    Parameters
    ----------
    function : callable or compiled function
        ``function(indices, states)`` receives int64 arrays of n factor indices (in
        no particular order) and k states (increasing). It returns a float64 array (n, k)
        of log f_n(i). A race requests each pair at most once. Exceptions that the
        function raises reach the caller of the race unchanged.

        Alternatively a compiled function with the signature of ``pybandit/racing/factors.h``,
        ``int (const int64_t *factors, int64_t n_factors, const int64_t *states,
        int64_t n_states, double *out, void *user_data)``. It writes the same array to
        ``out`` and returns 0, and is called without the GIL. Accepted are a numba ``cfunc``
        (or a function bound by `pybandit.numba.factor`), a ``scipy.LowLevelCallable``, a
        capsule with the signature as its name, as in a Cython module's ``__pyx_capi__``, and
        function pointers of ctypes and cffi.
    n_factors : int
        N, at least 1.
    n_states : int
        D, at least 1.
    control : ControlVariate, optional
        Values close to the factors whose sums are known. A race then reads the
        differences and needs fewer factors. `exact_sample` does not use it.
    user_data : optional
        Last argument of a compiled function: an address (int), a ctypes object or
        pointer, a cffi pointer, or a C-contiguous array, which is passed as a pointer to
        its data. The `Factors`, and every race or sampler on them, keep it and the function
        alive. Must be None if the function has its own data.

    Raises
    ------
    TypeError, ValueError
        If `function` is neither callable nor compiled with that signature, a
        size is not a positive integer, the control variate has other sizes, or
        `user_data` is of another type.

    Notes
    -----
    Entries that a compiled function does not write are NaN and raise an error. So does a
    numba function that raises, because it returns before it has written everything.
    `Factors` with a compiled function cannot be pickled.

    **Threads.** Immutable: threads may share it if several threads may call your function at
    once.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> y = np.random.default_rng(1).normal(0.3, 1.0, 100_000)
    >>> means = np.linspace(-1, 1, 5)
    >>> factors = pb.Factors(lambda n, i: -0.5 * (y[n, None] - means[i]) ** 2, y.size, 5)
    >>> pb.race(factors, rng=1).best
    3
    """

    function: Callable
    n_factors: int
    n_states: int
    _: KW_ONLY
    control: ControlVariate | None = None
    user_data: Any = field(default=None, repr=False, compare=False)
    # addresses of a compiled function; None for a Python function
    _callback: Callback | None = field(init=False, repr=False)

    def __post_init__(self):
        callback = as_callback(self.function, self.user_data)
        if callback is None and not callable(self.function):
            raise TypeError(f"function must be callable; got {shown(self.function)}")
        if callback is None and self.user_data is not None:
            raise TypeError(f"user_data must be None unless function is compiled; got it with "
                            f"{shown(self.function)}")
        object.__setattr__(self, "_callback", callback)
        for name, most in (("n_factors", MOST_FACTORS), ("n_states", MOST_PULLS)):
            object.__setattr__(self, name, check_integer(name, getattr(self, name), 1, most))
        if self.control is not None:
            if not isinstance(self.control, ControlVariate):
                raise TypeError(f"control must be a pybandit.racing.ControlVariate; got "
                                f"{shown(self.control)}")
            self.control.check_sizes(self.n_factors, self.n_states)

    def evaluate(self, indices: ArrayLike, states: ArrayLike) -> Floats:
        """Call the function, Python or compiled.

        Parameters
        ----------
        indices : array_like of int, shape (n,)
            Factors, in [0, N).
        states : array_like of int, shape (k,)
            States, in [0, D).

        Returns
        -------
        ndarray of float64, shape (n, k)
            log f_n(i); NaN if a compiled function did not write it.

        Raises
        ------
        TypeError, ValueError
            If an index is out of range, or a Python function does not return
            numbers of this shape.
        RuntimeError
            If a compiled function returns a status other than 0.

        Examples
        --------
        >>> import pybandit as pb
        >>> pb.Factors(lambda n, i: n[:, None] * i, 10, 3).evaluate([4, 5], [1, 2])
        array([[ 4.,  8.],
               [ 5., 10.]])
        """
        indices = check_indices("indices", indices, self.n_factors)
        states = check_indices("states", states, self.n_states)
        if self._callback is not None:
            return self._callback.evaluate(indices, states)
        return check_returned(self.function(indices, states), (indices.size, states.size))

    def __reduce_ex__(self, protocol):
        if self._callback is not None:
            raise TypeError("Factors with a compiled function hold addresses of this process and "
                            "cannot be pickled; create them in each process")
        return super().__reduce_ex__(protocol)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        if self._callback is not None:
            return self  # immutable
        return replace(self, **{one.name: copy.deepcopy(getattr(self, one.name), memo)
                                for one in fields(self) if one.init})


@dataclass(frozen=True)
class Populations:
    """Arms with separate log factors, computed on demand.

    Parameters
    ----------
    function : callable
        ``function(indices, states)`` receives int64 arrays of n factor indices, below
        the arm's size, and of one arm. It returns a float64 array (n, 1). A race
        requests each factor at most once.
    sizes : array_like of int, shape (D,)
        N_i, at least 0.

    Raises
    ------
    TypeError, ValueError
        If `function` is not callable or `sizes` are not counts.

    Notes
    -----
    **Threads.** Immutable: threads may share it if several threads may call your function at
    once.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> words = [np.full(500, -1.0), np.full(40, -2.0)]
    >>> clusters = pb.racing.Populations(lambda n, i: words[i[0]][n, None], [500, 40])
    >>> pb.racing.race_populations(clusters, rng=0).best
    1
    """

    function: Callable
    sizes: np.ndarray

    def __post_init__(self):
        if not callable(self.function):
            raise TypeError(f"function must be callable; got {shown(self.function)}")
        sizes = check_in("sizes", self.sizes, "whole numbers of at least 0",
                         lambda n: (n >= 0) & (n == np.floor(n)) & (n <= MOST_PULLS))
        if sizes.ndim != 1 or not sizes.size:
            raise ValueError(f"sizes must have shape (D,), D >= 1; got {sizes.shape}")
        if sizes.sum() > MOST_PULLS:
            raise ValueError(f"sizes must sum to at most {MOST_PULLS}; got {sizes.sum():.17g}")
        object.__setattr__(self, "sizes", frozen(sizes.astype(np.int64)))


class BlockFactors(Factors):
    """Factors of `Blocks`, read in whole blocks of `run` rows."""

    run: int

    def __init__(self, blocks):
        refuse_unshuffled("factors", blocks)
        run = int(blocks.sizes[0])
        if (blocks.sizes[:-1] != run).any() or blocks.sizes[-1] > run:
            raise ValueError("factors must be in blocks of equal size, except a shorter last one; "
                             f"got sizes {shown(blocks.sizes)}")
        super().__init__(blocks.values, blocks.n_rows, blocks.n_columns)
        object.__setattr__(self, "run", run)


def as_factors(factors, kept=ONLY_DOUBLES):
    """Return `Factors`, or a C-contiguous (N, D) matrix with a dtype in `kept`.

    Arrays of these dtypes are not copied; others become float64. `Blocks`, and a memmap of
    another dtype, become `Factors` that read from the disk.
    """
    if isinstance(factors, Factors):
        return factors
    if isinstance(factors, Blocks):
        return BlockFactors(factors)
    if (isinstance(factors, np.memmap) and factors.ndim == 2 and factors.size
            and factors.dtype.kind in "biuf" and factors.dtype not in kept):
        return Factors(functools.partial(cells_of, factors), *factors.shape)
    if callable(factors):
        raise TypeError(f"factors must be a real array of shape (N, D) or pybandit.Factors; got "
                        f"{shown(factors)}: wrap it, Factors(function, n_factors, n_states)")
    try:
        matrix = _as_kept(factors, kept)
        if matrix is None:
            matrix = check_numeric("factors", factors, copy=False)
    except TypeError as error:
        raise TypeError(f"factors must be a real array of shape (N, D) or pybandit.Factors: "
                        f"{error}") from None
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"factors must have shape (N, D) with N >= 1 factors and D >= 1 "
                         f"states; got shape {matrix.shape}")
    return np.ascontiguousarray(matrix)


def _as_kept(values, kept):
    """Return an array that shares its memory with `values`; None if it must be converted."""
    if is_masked(values):
        return None
    try:
        array = np.asarray(values).view(np.ndarray)
    except Exception:  # check_numeric raises the error
        return None
    return array if array.dtype in kept and array.flags.aligned else None


def check_returned(values, shape, name="the function of Factors"):
    """Return the result of a user-defined function as C-contiguous float64 of this shape."""
    return np.ascontiguousarray(numbers_returned(
        f"the return value of {name}", values, shape, f"{name} must return shape (n, k)"))
