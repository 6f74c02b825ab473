# cython: auto_pickle=False
"""An environment that draws by a compiled function; see `pybandit.numba.environment`."""

import numpy as np

from libc.stdint cimport int64_t, uintptr_t

from pybandit._shared._csrc cimport pb_bitgen
from pybandit.simulation.base cimport Environment

__all__ = ["FunctionEnvironment"]

# The compiled function: returns a reward, or NaN if it raised.
ctypedef double (*draw_function)(int64_t arm, int64_t seen, int64_t n_arms, const double *means,
                                 const double *noise_std, pb_bitgen *bits,
                                 const int64_t *data) noexcept nogil


cdef class FunctionEnvironment(Environment):
    """Environment with a compiled function, the base of classes by `pybandit.numba.environment`.

    Parameters
    ----------
    means : array_like of float, shape (n_arms,)
        Means of the rewards that the function draws, for errors and regrets.
    noise_std : array_like of float, shape (n_arms,), or float
        Standard deviation of each arm's rewards, one for all or one per arm; in [0, 1e150].
    **options : ndarray, float, int or bool
        Other arguments of the function. Arrays are copied. The function must not write to
        them: one that does is not compiled.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, or an option is unknown or missing.
    numba.core.errors.NumbaError
        If numba cannot compile the function for these types.

    Notes
    -----
    **Threads.** Pulls do not change it: threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb, pybandit.numba
    >>> @pybandit.numba.environment
    ... def dice(arm, rng, sides):
    ...     return rng.integers(1, sides[arm] + 1)
    >>> sides = np.array([6, 20])
    >>> bandit = dice((sides + 1) / 2, np.sqrt((sides**2 - 1) / 12), sides=sides)
    >>> isinstance(bandit, pybandit.numba.FunctionEnvironment), bandit.pull([0, 1, 1], rng=1)
    (True, array([ 3., 11., 16.]))
    """

    rules = None
    functions = None

    cdef draw_function function
    cdef object memory
    cdef int64_t[::1] words

    def __init__(self, means, noise_std, **options):
        rules = type(self).rules
        if rules is None:
            raise TypeError("FunctionEnvironment must be made from a function by "
                            "pybandit.numba.environment; got none")
        super().__init__(means, noise_std)
        given = rules.checked(options)
        bound = rules.bound(given)
        self.memory, self.words = bound.memory, bound.words
        self.function = <draw_function><uintptr_t>bound.addresses["draw"]
        self._draws_each = True
        self._made(FunctionEnvironment, dict(means=np.array(self._means),
                                             noise_std=np.array(self._noise_std), **given))

    cdef double _draw(self, int64_t arm, int64_t seen, pb_bitgen *bitgen) noexcept nogil:
        return self.function(arm, seen, self.n_arms, &self._means[0], &self._noise_std[0], bitgen,
                             &self.words[0])
