# cython: auto_pickle=False
"""Base class of all environments, and checks that environments share."""

import numpy as np

from pybandit._shared.checks import check_in, check_integer, owned, refuse_masks
from pybandit._shared.generators import as_generator

from libc.math cimport isfinite
from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport pb_bitgen
from pybandit._shared.bits cimport bitgen_of
from pybandit._shared.guard cimport Guard
from pybandit.policies.protocol._statistics cimport last_compiled

WIDEST = 1e150  # largest standard deviation: its square is finite


cdef class Environment:
    """Arms that give random rewards; the base class of environments.

    A user-defined subclass calls ``super().__init__(means, noise_std)`` and defines
    ``pull(arms, rng)``. `simulate` accepts it like the environments of this module, but runs it
    more slowly.

    Parameters
    ----------
    means : array_like of float, shape (n_arms,)
        Mean reward of each arm; finite.
    noise_std : array_like of float, shape (n_arms,), or float
        Standard deviation of each arm's rewards, one for all or one per arm; in [0, 1e150].

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    simulate, compare : run policies on environments.

    Notes
    -----
    Means are constant, because errors and regrets are defined by them. `simulate` raises if
    `means` change in a run or if ``stationary = False``, unless there is ``means_at(t)``.

    **Threads.** Threads can share an environment that keeps no state between draws. One that
    counts, such as `TableBandit`, can be used in one thread at a time; a concurrent call
    raises RuntimeError.

    Examples
    --------
    Arms that wait a random time, with the negative waiting time as reward:

    >>> import numpy as np, pybandit as pb
    >>> class Waiting(pb.environments.Environment):
    ...     def __init__(self, waits):
    ...         self.waits = np.asarray(waits, dtype=float)
    ...         super().__init__(-self.waits, self.waits)
    ...     def pull(self, arms, rng=None):
    ...         return -np.random.default_rng(rng).exponential(self.waits[arms])
    >>> bandit = Waiting([3.0, 1.0, 2.0])
    >>> bandit.best(2)
    array([1, 2])
    >>> pb.simulate(pb.policies.SequentialHalving(3, budget=300), bandit, 50,
    ...             rng=1).error_probability
    0.0
    """

    stationary = True

    def __cinit__(self):
        self.guard = Guard(type(self))
        self.guard.shut()

    def __init__(self, means, noise_std):
        self.guard.begin()
        self._means = arm_values("means", means, "finite", np.isfinite)
        self.n_arms = self._means.shape[0]
        noise_std = check_in("noise_std", noise_std, f"in [0, {WIDEST:g}]",
                             lambda s: (s >= 0) & (s <= WIDEST))
        if noise_std.ndim and noise_std.shape != (self.n_arms,):
            raise ValueError(f"noise_std must be a number or have one value for each of the "
                             f"{self.n_arms} means; got shape {noise_std.shape}")
        self._noise_std = np.array(np.broadcast_to(noise_std, (self.n_arms,)))
        self._variances = np.square(self._noise_std)
        self._costs = np.ones(self.n_arms)
        self._made(Environment, dict(means=np.array(self._means),
                                     noise_std=np.array(self._noise_std)))

    cdef int _take_variances(self, variances) except -1:
        """Set variances that are more exact than the squares of `noise_std`."""
        np.asarray(self._variances)[:] = variances
        return 0

    cdef int _made(self, cls, dict given) except -1:
        """Open the guard if `cls` is the last compiled class."""
        last = last_compiled(type(self))
        if last is cls or cls is Environment and not last.__module__.startswith("pybandit."):
            self.given = given
            self.guard.open()
        return 0

    def __reduce__(self):
        self.guard.check()
        compiled = last_compiled(type(self))
        if not compiled.__module__.startswith("pybandit."):
            raise TypeError(f"{compiled.__name__} must define __reduce__ to be pickled: the "
                            "arguments of its __init__ are not known here")
        return remade, (type(self), compiled, self.given, getattr(self, "__dict__", None))

    @property
    def means(self):
        """Mean reward of each arm; float64, shape (n_arms,), a copy."""
        self.guard.check()
        return np.array(self._means)

    @property
    def noise_std(self):
        """Standard deviation of each arm's rewards; float64, shape (n_arms,), a copy."""
        self.guard.check()
        return np.array(self._noise_std)

    @property
    def variances(self):
        """Variance of each arm's rewards; float64, shape (n_arms,), a copy."""
        self.guard.check()
        return np.array(self._variances)

    @property
    def costs(self):
        """Mean cost of a pull of each arm; float64, shape (n_arms,), a copy. Ones,
        unless the environment has other costs."""
        self.guard.check()
        return np.array(self._costs)

    def best(self, k=1):
        """Return the k arms with the largest means, best first, ties to the lower index; int64."""
        self.guard.check()
        k = check_integer("k", k, 0)
        if k > self.n_arms:
            raise ValueError(f"k must be at most the number of arms, {self.n_arms}; got {k}")
        return np.argsort(-np.asarray(self._means), kind="stable")[:k]

    cdef bint _is_native(self) noexcept:
        return type(self).pull is Environment.pull

    cdef bint _has_plain_costs(self) noexcept:
        """Return True if no Python method overrides the costs."""
        return (type(self).costs is Environment.costs
                and type(self).pull_with_costs is Environment.pull_with_costs)

    cdef double _draw(self, int64_t arm, int64_t seen, pb_bitgen *bitgen) noexcept nogil:
        return 0.0

    cdef double _draw_with_cost(self, int64_t arm, int64_t seen, pb_bitgen *bitgen,
                                double *cost) noexcept nogil:
        cost[0] = self._costs[arm]
        return self._draw(arm, seen, bitgen)

    cdef double _draw_sum(self, int64_t arm, int64_t seen, int64_t n,
                          pb_bitgen *bitgen) noexcept nogil:
        cdef double total = 0.0
        cdef int64_t j
        for j in range(n):
            total += self._draw(arm, seen + j, bitgen)
        return total

    def pull(self, arms, rng=None):
        """Draw a reward for each of these arms.

        Parameters
        ----------
        arms : array_like of int, shape (n,)
            In [0, n_arms), repeats allowed.
        rng : None, int, SeedSequence or Generator

        Returns
        -------
        ndarray of float64, shape (n,)

        Examples
        --------
        >>> import pybandit as pb
        >>> bandit = pb.environments.GaussianBandit([0.0, 10.0], noise_std=[1.0, 0.0])
        >>> bandit.pull([0, 1, 1], rng=1)
        array([ 0.34558419, 10.        , 10.        ])
        """
        return self._draw_all(arms, rng)[0]

    def pull_with_costs(self, arms, rng=None):
        """Draw a reward and its cost for each of these arms.

        Parameters
        ----------
        arms, rng
            As for `pull`.

        Returns
        -------
        rewards, costs : ndarray of float64, shape (n,)
        """
        self.guard.check()
        if type(self).pull is Environment.pull and type(self).costs is Environment.costs:
            return self._draw_all(arms, rng)
        arms = self._check_arms(arms)
        return self.pull(arms.copy(), rng), costs_of(self)[arms]

    def _draw_all(self, arms, rng):
        self.guard.check()
        cdef const int64_t[::1] chosen = self._check_arms(arms)
        cdef double[::1] view, paid
        cdef int64_t[::1] seen = np.zeros(self.n_arms, dtype=np.int64)
        cdef int64_t j, arm, bad = -1
        rng = as_generator(rng)
        rewards, costs = np.empty(chosen.shape[0]), np.empty(chosen.shape[0])
        view, paid = rewards, costs
        cdef pb_bitgen *bitgen = bitgen_of(rng)
        with rng.bit_generator.lock, nogil:
            for j in range(chosen.shape[0]):
                arm = chosen[j]
                view[j] = self._draw_with_cost(arm, seen[arm], bitgen, &paid[j])
                seen[arm] += 1
                if not isfinite(view[j]):
                    bad = j
                    break
        if bad >= 0:
            raise odd(self, chosen[bad], view[bad])
        return rewards, costs

    def _check_arms(self, arms):
        refuse_masks("arms", arms)
        arms = owned("arms", arms)
        if arms.dtype.kind not in "iu" or arms.ndim != 1:
            raise TypeError(f"arms must be a flat array of integers; got dtype {arms.dtype}, "
                            f"{arms.ndim} dimensions")
        bad = (arms < 0) | (arms >= self.n_arms)
        if bad.any():
            raise ValueError(f"arms must be in [0, {self.n_arms}); got {arms[bad][0]} at index "
                             f"{int(bad.argmax())}")
        return arms.astype(np.int64, copy=False)

    def __repr__(self):
        if self.guard.reason() is not None:
            return f"<{type(self).__name__}: {self.guard.reason()}>"
        return f"<{type(self).__name__} of {self.n_arms} arms>"


cdef object odd(Environment environment, int64_t arm, double reward):
    """Return the error for a reward that is not finite."""
    rules = getattr(type(environment), "rules", None)
    explained = " (a numba function that raises gives nan)" if rules is not None else ""
    return ValueError(f"rewards of {type(environment).__name__} must be finite; got {reward} of "
                      f"arm {arm}{explained}")


def arm_values(name, values, expected, holds):
    """Return values as a flat, non-empty float64 array; raise unless `holds` is true of all."""
    array = check_in(name, values, expected, holds)
    if array.ndim != 1 or not array.size:
        raise ValueError(f"{name} must be flat and not empty; got shape {array.shape}")
    return array


def costs_of(environment):
    """Return an environment's costs; raise if a Python override returns invalid ones."""
    costs = environment.costs
    if type(environment).costs is Environment.costs:
        return costs
    name = f"costs of {type(environment).__name__}"
    costs = check_in(name, costs, "finite and at least 0", lambda c: np.isfinite(c) & (c >= 0))
    if costs.shape != (environment.n_arms,):
        raise ValueError(f"{name} must have shape ({environment.n_arms},); got shape "
                         f"{costs.shape}")
    return costs


def remade(cls, compiled, given, attributes):
    """Return an unpickled environment: made with the same arguments and attributes."""
    environment = cls.__new__(cls)
    compiled.__init__(environment, **given)
    if attributes:
        environment.__dict__.update(attributes)
    return environment
