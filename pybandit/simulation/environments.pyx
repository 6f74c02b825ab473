# cython: auto_pickle=False
"""Environments: arms with known means, for policies to pull.

Examples
--------
>>> import pybandit as pb
>>> bandit = pb.environments.GaussianBandit([0.0, 0.5, 1.0], noise_std=0.5)
>>> bandit.best(), pb.simulate(pb.policies.Uniform(3, budget=60), bandit, 200,
...                            rng=1).error_probability
(array([2]), 0.0)
"""

import numpy as np

from pybandit._shared.checks import check_in, check_integer
from pybandit.simulation._truncated_normal import TruncatedNormalBandit
from pybandit.simulation.base import arm_values

from libc.math cimport sqrt
from libc.stdint cimport INT64_MAX, int64_t
from numpy.random cimport bitgen_t
from numpy.random.c_distributions cimport random_binomial, random_standard_normal, s_binomial_t

from pybandit._shared._csrc cimport pb_bitgen
from pybandit.simulation.base cimport Environment

__all__ = ["BernoulliBandit", "BinomialBandit", "Environment", "GaussianBandit",
           "ScaledBernoulliBandit", "TruncatedNormalBandit", "UniformBandit"]

WIDEST = 1e150  # largest distance of two rewards whose variance does not overflow

# a class that is only cimported is not an attribute of the module
globals()["Environment"] = Environment

cdef enum:
    # up to this many expected successes, inversion is faster than rejection
    FEW_SUCCESSES = 10


cdef class GaussianBandit(Environment):
    """Arms with normal rewards.

    Parameters
    ----------
    means : array_like of float, shape (n_arms,)
        Mean reward of each arm; finite.
    noise_std : array_like of float, shape (n_arms,), or float, default 1
        Standard deviation of each arm's rewards, one for all or one per arm; in [0, 1e150].

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    TruncatedNormalBandit : normal rewards on an interval.

    Notes
    -----
    **Threads.** Pulls do not change it: threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> bandit = pb.environments.GaussianBandit([1.0, 2.0, 3.0], noise_std=0.5)
    >>> bandit.pull([0, 1, 2, 2], rng=1).round(2)
    array([1.17, 2.41, 3.17, 2.35])
    >>> bandit.best(2), bandit.noise_std
    (array([2, 1]), array([0.5, 0.5, 0.5]))
    """

    def __init__(self, means, noise_std=1.0):
        super().__init__(means, noise_std)
        self._made(GaussianBandit, dict(means=np.array(self._means),
                                        noise_std=np.array(self._noise_std)))

    cdef double _draw(self, int64_t arm, int64_t seen, pb_bitgen *bitgen) noexcept nogil:
        return (self._means[arm]
                + self._noise_std[arm] * random_standard_normal(<bitgen_t *>bitgen))

    cdef double _draw_sum(self, int64_t arm, int64_t seen, int64_t n,
                          pb_bitgen *bitgen) noexcept nogil:
        if n == 1:
            return GaussianBandit._draw(self, arm, seen, bitgen)
        return (n * self._means[arm] + sqrt(<double>n) * self._noise_std[arm]
                * random_standard_normal(<bitgen_t *>bitgen))


cdef class UniformBandit(Environment):
    """Arms with uniform rewards around their mean.

    Parameters
    ----------
    means : array_like of float, shape (n_arms,)
        Mean reward of each arm; finite.
    noise_std : array_like of float, shape (n_arms,), or float
        Standard deviation of each arm's rewards, one for all or one per arm; in [0, 1e150]. For
        rewards from a to b it is (b - a) / sqrt(12).

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    **Threads.** Pulls do not change it: threads may share it.

    Examples
    --------
    Rewards from 0 to 1, and from 1 to 4:

    >>> import numpy as np, pybandit as pb
    >>> bandit = pb.environments.UniformBandit([0.5, 2.5], noise_std=np.array([1, 3]) / np.sqrt(12))
    >>> bandit.pull([0, 0, 1, 1], rng=1).round(2)
    array([0.51, 0.95, 1.43, 3.85])
    """

    cdef double[::1] low, width

    def __init__(self, means, noise_std):
        super().__init__(means, noise_std)
        width = np.sqrt(12.0 * np.asarray(self._variances))
        self.low, self.width = np.asarray(self._means) - width / 2.0, width
        self._draws_each = True
        self._made(UniformBandit, dict(means=np.array(self._means),
                                       noise_std=np.array(self._noise_std)))

    cdef double _draw(self, int64_t arm, int64_t seen, pb_bitgen *bitgen) noexcept nogil:
        return self.low[arm] + self.width[arm] * bitgen.next_double(bitgen.state)


cdef class BinomialBandit(Environment):
    """Arms whose rewards are shares of successes: Binomial(trials, mean) / trials.

    Parameters
    ----------
    means : array_like of float, shape (n_arms,)
        Mean reward of each arm, in [0, 1].
    trials : int
        Trials per pull, at least 1.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    BernoulliBandit : a single trial.

    Notes
    -----
    **Threads.** Pulls do not change it: threads may share it.

    Examples
    --------
    The share of 50 cells that responded, for three treatments:

    >>> import pybandit as pb
    >>> bandit = pb.environments.BinomialBandit([0.1, 0.5, 0.9], trials=50)
    >>> bandit.pull([0, 1, 2], rng=1)
    array([0.1 , 0.62, 0.94])
    """

    cdef readonly int64_t trials
    cdef double[::1] none  # probability that the rarer outcome does not occur in a reward

    def __init__(self, means, *, trials):
        # limited because the trials of a batch are counted together
        trials = check_integer("trials", trials, 1, 2**31)
        means = arm_values("means", means, "in [0, 1]", lambda p: (p >= 0) & (p <= 1))
        variances = means * (1.0 - means) / trials
        super().__init__(means, np.sqrt(variances))
        self._take_variances(variances)
        self.trials = trials
        rarer = np.minimum(means, 1.0 - means)
        self.none = np.exp(trials * np.log1p(-rarer))
        self._made(BinomialBandit, dict(trials=trials, means=means))

    cdef double _draw(self, int64_t arm, int64_t seen, pb_bitgen *bitgen) noexcept nogil:
        cdef double p = self._means[arm], rarer = min(p, 1.0 - p)
        cdef int64_t rare
        cdef s_binomial_t setup
        if self.trials * rarer > FEW_SUCCESSES:
            setup.has_binomial = 0
            return random_binomial(<bitgen_t *>bitgen, p, self.trials, &setup) / <double>self.trials
        rare = count_up(self.trials, rarer, self.none[arm], bitgen)
        return (rare if p <= 0.5 else self.trials - rare) / <double>self.trials

    cdef double _draw_sum(self, int64_t arm, int64_t seen, int64_t n,
                          pb_bitgen *bitgen) noexcept nogil:
        cdef s_binomial_t setup
        cdef int64_t part
        cdef double total = 0.0
        if n == 1:
            return self._draw(arm, seen, bitgen)
        while n > 0:  # one pass, unless there are more trials than half the range of int64
            part = min(n, INT64_MAX // 2 // self.trials)
            setup.has_binomial = 0
            total += random_binomial(<bitgen_t *>bitgen, self._means[arm], part * self.trials,
                                     &setup) / <double>self.trials
            n -= part
        return total


cdef int64_t count_up(int64_t trials, double p, double none, pb_bitgen *bitgen) noexcept nogil:
    """Draw a binomial number by inversion, counting up from 0; about trials * p steps."""
    cdef double u, term
    cdef int64_t count
    while True:
        u, term, count = bitgen.next_double(bitgen.state), none, 0
        while u >= term:
            u -= term
            count += 1
            if count > trials:  # because of rounding, once in 1e15
                break
            term *= (trials - count + 1) * p / (count * (1.0 - p))
        if count <= trials:
            return count


cdef class BernoulliBandit(BinomialBandit):
    """Arms with rewards 0 and 1.

    Parameters
    ----------
    means : array_like of float, shape (n_arms,)
        Mean reward of each arm, in [0, 1].

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    BinomialBandit : shares of several trials.
    ScaledBernoulliBandit : other values than 0 and 1.

    Notes
    -----
    **Threads.** Pulls do not change it: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> bandit = pb.environments.BernoulliBandit([0.04, 0.05, 0.07])
    >>> bandit.best(), bandit.variances
    (array([2]), array([0.0384, 0.0475, 0.0651]))
    >>> bandit.pull([2] * 1000, rng=1).mean()
    np.float64(0.064)
    """

    def __init__(self, means):
        super().__init__(means, trials=1)
        self._made(BernoulliBandit, dict(means=np.array(self._means)))

    cdef double _draw(self, int64_t arm, int64_t seen, pb_bitgen *bitgen) noexcept nogil:
        return bitgen.next_double(bitgen.state) < self._means[arm]


cdef class ScaledBernoulliBandit(Environment):
    """Arms with two possible rewards: ``midpoint + scale (Z - 1/2)`` with Z Bernoulli.

    Parameters
    ----------
    midpoints, scales : array_like of float, shape (n_arms,), or float
        Center and distance of the two rewards; scales are at least 0.
    probabilities : array_like of float, shape (n_arms,), or float
        P(Z = 1), in [0, 1].

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    **Threads.** Pulls do not change it: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> bandit = pb.environments.ScaledBernoulliBandit([0.0, 0.0], [1.0, 2.0], [0.5, 0.75])
    >>> bandit.means
    array([0. , 0.5])
    >>> bandit.pull([0, 0, 1, 1], rng=1)
    array([-0.5, -0.5,  1. , -1. ])
    """

    cdef double[::1] low, scales, probabilities

    def __init__(self, midpoints, scales, probabilities):
        p = check_in("probabilities", probabilities, "in [0, 1]", lambda x: (x >= 0) & (x <= 1))
        scales = check_in("scales", scales, f"between 0 and {WIDEST:g}",
                          lambda x: (x >= 0) & (x <= WIDEST))
        midpoints = check_in("midpoints", midpoints, "finite", np.isfinite)
        shapes = [x.shape for x in (midpoints, scales, p)]
        if len(set(shapes) - {(), (1,)}) > 1 or max(map(len, shapes)) > 1:
            raise ValueError(f"midpoints, scales and probabilities must be flat, of equal length; "
                             f"got shapes {', '.join(map(str, shapes))}")
        midpoints, scales, p = np.broadcast_arrays(np.atleast_1d(midpoints), scales, p)
        variances = scales**2 * p * (1 - p)
        super().__init__(midpoints + scales * (p - 0.5), np.sqrt(variances))
        self._take_variances(variances)
        self.low, self.scales, self.probabilities = midpoints - scales / 2, scales + 0.0, p + 0.0
        self._made(ScaledBernoulliBandit, dict(midpoints=midpoints + 0.0, scales=scales + 0.0,
                                               probabilities=p + 0.0))

    cdef double _draw(self, int64_t arm, int64_t seen, pb_bitgen *bitgen) noexcept nogil:
        return self.low[arm] + self.scales[arm] * (
            bitgen.next_double(bitgen.state) < self.probabilities[arm])

    cdef double _draw_sum(self, int64_t arm, int64_t seen, int64_t n,
                          pb_bitgen *bitgen) noexcept nogil:
        cdef s_binomial_t setup
        if n == 1:
            return self._draw(arm, seen, bitgen)
        setup.has_binomial = 0
        return n * self.low[arm] + self.scales[arm] * random_binomial(
            <bitgen_t *>bitgen, self.probabilities[arm], n, &setup)
