# cython: auto_pickle=False
"""Environments: what policies pull, with means that are known.

Examples
--------
>>> import pybandit as pb
>>> bandit = pb.environments.GaussianBandit([0.0, 0.5, 1.0], noise_std=0.5)
>>> bandit.best(), pb.simulate(pb.policies.Uniform(3, budget=60), bandit, 200,
...                            rng=1).error_probability
(array([2]), 0.0)
"""

from math import fsum

import numpy as np

from pybandit._shared.checks import (MOST_PULLS, as_list, check_in, check_integer, check_positive,
                                     owned, shown)
from pybandit.simulation._truncated_normal import TruncatedNormalBandit
from pybandit.simulation.base import arm_values

from libc.math cimport sqrt
from libc.stdint cimport INT64_MAX, int64_t
from numpy.random cimport bitgen_t
from numpy.random.c_distributions cimport (random_binomial, random_standard_gamma,
                                           random_standard_normal, s_binomial_t)

from pybandit._shared._csrc cimport pb_bitgen
from pybandit.simulation.base cimport Environment

__all__ = ["BernoulliBandit", "BinomialBandit", "CostlyBandit", "EmpiricalBandit", "Environment",
           "GaussianBandit", "ScaledBernoulliBandit", "TableBandit", "TruncatedNormalBandit",
           "UniformBandit"]

WIDEST = 1e150  # distance of two rewards whose variance is a number
# what samples and tables hold, for messages
REWARDS = "a sequence of the rewards of each arm"

# what is cimported alone is not an attribute of the module
globals()["Environment"] = Environment

cdef enum:
    # up to so many expected successes counting up from none is faster than rejection
    FEW_SUCCESSES = 10


cdef class GaussianBandit(Environment):
    """Normal rewards.

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
    TruncatedNormalBandit : on an interval.

    Notes
    -----
    **Threads.** Nothing of it changes in a pull: threads may share it.

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
        return (n * self._means[arm] + sqrt(<double>n) * self._noise_std[arm]
                * random_standard_normal(<bitgen_t *>bitgen))


cdef class UniformBandit(Environment):
    """Rewards uniform around their mean.

    Parameters
    ----------
    means : array_like of float, shape (n_arms,)
        Mean reward of each arm; finite.
    noise_std : array_like of float, shape (n_arms,), or float
        Standard deviation of each arm's rewards, one for all or one per arm; in [0, 1e150]. Of
        rewards from a to b it is (b - a) / sqrt(12).

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    **Threads.** Nothing of it changes in a pull: threads may share it.

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
    """Rewards are shares of successes: Binomial(trials, mean) / trials.

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
    BernoulliBandit : one trial.

    Notes
    -----
    **Threads.** Nothing of it changes in a pull: threads may share it.

    Examples
    --------
    The share of 50 cells that answered, of three treatments:

    >>> import pybandit as pb
    >>> bandit = pb.environments.BinomialBandit([0.1, 0.5, 0.9], trials=50)
    >>> bandit.pull([0, 1, 2], rng=1)
    array([0.1 , 0.62, 0.94])
    """

    cdef readonly int64_t trials
    cdef double[::1] none  # the chance of no success in one reward, of the rarer outcome

    def __init__(self, means, *, trials):
        # a batch's trials are counted together
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
        while n > 0:  # once, unless the trials are more than half of an int64
            part = min(n, INT64_MAX // 2 // self.trials)
            setup.has_binomial = 0
            total += random_binomial(<bitgen_t *>bitgen, self._means[arm], part * self.trials,
                                     &setup) / <double>self.trials
            n -= part
        return total


cdef int64_t count_up(int64_t trials, double p, double none, pb_bitgen *bitgen) noexcept nogil:
    """A binomial by inversion: from the chance of no success up, trials p steps."""
    cdef double u, term
    cdef int64_t count
    while True:
        u, term, count = bitgen.next_double(bitgen.state), none, 0
        while u >= term:
            u -= term
            count += 1
            if count > trials:  # rounding: once in 1e15
                break
            term *= (trials - count + 1) * p / (count * (1.0 - p))
        if count <= trials:
            return count


cdef class BernoulliBandit(BinomialBandit):
    """Rewards 0 and 1.

    Parameters
    ----------
    means : array_like of float, shape (n_arms,)
        In [0, 1].

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
    **Threads.** Nothing of it changes in a pull: threads may share it.

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
    """Two rewards an arm: ``midpoint + scale (Z - 1/2)`` with Z Bernoulli.

    Parameters
    ----------
    midpoints, scales : array_like of float, shape (n_arms,), or float
        Scales at least 0: the distance of the two rewards.
    probabilities : array_like of float, shape (n_arms,), or float
        P(Z = 1), in [0, 1].

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    **Threads.** Nothing of it changes in a pull: threads may share it.

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
            raise ValueError(f"midpoints, scales and probabilities must be flat and of one length; "
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


def mean_of(values, weights=None):
    """A mean that the order of the values does not change, and the value where all are equal:
    equal samples are equal arms."""
    weights = np.ones(values.size) if weights is None else weights
    # by a power of two, exactly: products no larger than the values
    weights = np.ldexp(weights, -np.frexp(weights.max())[1])
    try:
        total = fsum(weights)
        mean = fsum(weights * values) / total
        mean += fsum(weights * (values - mean)) / total  # what rounding left
    except (OverflowError, ValueError):  # of values near the largest; in any order, then
        mean = weights / weights.sum() @ values
    return min(max(mean, values.min()), values.max())


cdef class EmpiricalBandit(Environment):
    """Rewards drawn from observed ones.

    Parameters
    ----------
    samples : sequence of array_like of float, optional
        The observed rewards of each arm, at least one; each equally likely.
    values : array_like of float, shape (m,), optional
        With `counts`: the values that rewards take.
    counts : array_like of float, shape (n_arms, m), optional
        How often each arm took each value; rows at least 0, not all 0.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    TableBandit : the rewards in their order.

    Notes
    -----
    **Threads.** Nothing of it changes in a pull: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> bandit = pb.environments.EmpiricalBandit([[3.1, 2.9, 4.0], [5.0, 0.0]])
    >>> bandit.means, bandit.pull([0, 0, 1], rng=1)
    (array([3.33333333, 2.5       ]), array([2.9, 4. , 5. ]))

    Stars from 1 to 5, as a shop shows them:

    >>> stars = pb.environments.EmpiricalBandit(values=[1, 2, 3, 4, 5],
    ...                                         counts=[[10, 2, 5, 20, 80], [1, 0, 0, 3, 9]])
    >>> stars.means.round(2)
    array([4.35, 4.46])
    """

    cdef double[::1] flat, cumulative
    cdef int64_t[::1] starts

    def __init__(self, samples=None, *, values=None, counts=None):
        given = [name for name, one in (("samples", samples), ("values", values),
                                        ("counts", counts)) if one is not None]
        if given not in (["samples"], ["values", "counts"]):
            raise ValueError("samples, or values and counts, must be given, and not both; got "
                             f"{' and '.join(given) or 'none'}")
        if samples is not None:
            arms = [arm_values(f"samples[{i}]", arm, "finite", np.isfinite)
                    for i, arm in enumerate(as_list("samples", samples, REWARDS))]
            weights = [np.ones(arm.size) for arm in arms]
        else:
            values = arm_values("values", values, "finite", np.isfinite)
            counts = check_in("counts", counts, "finite and at least 0",
                              lambda c: np.isfinite(c) & (c >= 0))
            if counts.ndim != 2 or counts.shape[1] != values.size or not counts.any(axis=1).all():
                raise ValueError(f"counts must have shape (n_arms, {values.size}) and no row of "
                                 f"zeros; got shape {counts.shape}")
            arms = [values[row > 0] for row in counts]
            weights = [row[row > 0] for row in counts]
        shares = [weight / weight.sum() for weight in weights]
        means = [mean_of(arm, weight) for arm, weight in zip(arms, weights, strict=True)]
        variances = [mean_of((arm - mean) ** 2, weight)
                     for arm, mean, weight in zip(arms, means, weights, strict=True)]
        super().__init__(means, np.sqrt(variances))
        self._take_variances(variances)
        self.flat = np.concatenate(arms)
        self.cumulative = np.concatenate([np.cumsum(share) for share in shares])
        self.starts = np.concatenate([[0], np.cumsum([arm.size for arm in arms])])
        self._draws_each = True
        self._made(EmpiricalBandit, dict(samples=arms) if samples is not None else dict(
            values=values, counts=counts))

    cdef double _draw(self, int64_t arm, int64_t seen, pb_bitgen *bitgen) noexcept nogil:
        cdef int64_t low = self.starts[arm], high = self.starts[arm + 1] - 1, middle
        cdef double u = bitgen.next_double(bitgen.state)
        while low < high:
            middle = (low + high) // 2
            if u < self.cumulative[middle]:
                high = middle
            else:
                low = middle + 1
        return self.flat[low]


cdef class TableBandit(Environment):
    """A fixed reward for the j-th pull of every arm: for tests and common random numbers.

    Parameters
    ----------
    rewards : array_like of float, shape (n_arms, m), or sequence of array_like
        ``rewards[i][j % m_i]`` is the j-th reward of arm i, counted from 0 over a run.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    EmpiricalBandit : drawn at random from what was observed.

    Notes
    -----
    `pull` counts the pulls of each arm itself, `reset` starts over; in `simulate`
    every run starts at the first reward.

    **Threads.** One at a time; a second gets a RuntimeError.

    Examples
    --------
    >>> import pybandit as pb
    >>> bandit = pb.environments.TableBandit([[0.1, 0.2, 0.3], [0.9, 0.7]])
    >>> bandit.pull([0, 0, 1, 1, 1])
    array([0.1, 0.2, 0.9, 0.7, 0.9])
    >>> bandit.pull([0])
    array([0.3])
    >>> bandit.reset()
    >>> bandit.pull([0])
    array([0.1])
    """

    cdef double[::1] flat
    cdef int64_t[::1] starts, seen

    def __init__(self, rewards):
        arms = [arm_values(f"rewards[{i}]", arm, "finite", np.isfinite)
                for i, arm in enumerate(as_list("rewards", rewards, REWARDS))]
        means = [mean_of(arm) for arm in arms]
        variances = [mean_of((arm - mean) ** 2) for arm, mean in zip(arms, means, strict=True)]
        super().__init__(means, np.sqrt(variances))
        self._take_variances(variances)
        self.flat = np.concatenate(arms)
        self.starts = np.concatenate([[0], np.cumsum([arm.size for arm in arms])])
        self.seen = np.zeros(self.n_arms, dtype=np.int64)
        self._draws_each = True
        self._made(TableBandit, dict(rewards=arms))

    cdef bint _is_native(self) noexcept:
        return type(self).pull is TableBandit.pull

    def reset(self):
        """Start over at the first reward of every arm."""
        self.guard.enter()
        try:
            np.asarray(self.seen)[:] = 0
        finally:
            self.guard.leave()

    def __reduce__(self):
        with self.guard.reading():
            return (*super().__reduce__(), np.array(self.seen))

    def __setstate__(self, seen):
        counts = owned("state", seen)
        # nearer to 2^63 they would be negative after a few pulls
        if counts.shape != (self.n_arms,) or counts.dtype.kind not in "iu" or (
                (counts < 0) | (counts > MOST_PULLS)).any():
            raise ValueError(f"state must hold a count of at least 0 for each of {self.n_arms} "
                             f"arms, at most {MOST_PULLS}; got {seen!r}")
        self.guard.enter()
        try:
            np.asarray(self.seen)[:] = counts
        finally:
            self.guard.leave()

    def pull(self, arms, rng=None):
        """The next rewards of these arms; float64, shape (n,). `rng` is not used."""
        cdef const int64_t[::1] chosen
        cdef double[::1] view
        cdef int64_t j
        self.guard.enter()
        try:
            chosen = self._check_arms(arms)
            rewards = np.empty(chosen.shape[0])
            view = rewards
            for j in range(chosen.shape[0]):
                view[j] = self._draw(chosen[j], self.seen[chosen[j]], NULL)
                self.seen[chosen[j]] += 1
            return rewards
        finally:
            self.guard.leave()

    cdef double _draw(self, int64_t arm, int64_t seen, pb_bitgen *bitgen) noexcept nogil:
        cdef int64_t start = self.starts[arm]
        return self.flat[start + seen % (self.starts[arm + 1] - start)]


cdef class CostlyBandit(Environment):
    """The rewards of another environment, at costs.

    Parameters
    ----------
    environment : Environment
        Of this package; not a subclass with a `pull` of its own.
    costs : array_like of float, shape (n_arms,), or float
        The mean cost of a pull of each arm, above 0.
    cost_shape : float, optional
        Above 0: a pull costs the mean times an independent Gamma(cost_shape) of mean 1,
        whose variance is 1 / cost_shape. Without it a pull of an arm always costs the same.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    The cost is drawn after the reward, and by policies that ask for it alone: to the
    others the rewards are those of the environment itself, from the same seed. Every call of
    `pull` starts a `TableBandit` over; a run of `simulate` goes on in it.

    **Threads.** Nothing of it changes in a pull: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> bandit = pb.environments.CostlyBandit(pb.environments.GaussianBandit([0.0, 0.0]), [1, 9])
    >>> bandit.pull_with_costs([0, 1, 1], rng=1)[1].tolist()
    [1.0, 9.0, 9.0]
    """

    cdef readonly Environment environment
    cdef readonly object cost_shape
    cdef double shape  # 0: the costs are fixed

    def __init__(self, environment, costs, *, cost_shape=None):
        if not isinstance(environment, Environment) or not (<Environment>environment)._is_native():
            raise TypeError(f"environment must be one of this package's; got "
                            f"{shown(environment)}")
        (<Environment>environment).guard.check()
        super().__init__(environment.means, environment.noise_std)
        self._take_variances(environment.variances)
        costs = check_in("costs", costs, "finite and above 0", lambda c: np.isfinite(c) & (c > 0))
        if costs.ndim and costs.shape != (self.n_arms,):
            raise ValueError(f"costs must be one, or one for each of the {self.n_arms} arms; got "
                             f"shape {costs.shape}")
        np.asarray(self._costs)[:] = costs
        self.shape = 0.0
        if cost_shape is not None:
            self.shape = check_positive("cost_shape", cost_shape)
        self.environment, self.cost_shape = environment, cost_shape
        self._draws_each = (<Environment>environment)._draws_each
        self._made(CostlyBandit, dict(environment=environment, costs=np.array(self._costs),
                                      cost_shape=cost_shape))

    cdef double _draw(self, int64_t arm, int64_t seen, pb_bitgen *bitgen) noexcept nogil:
        return self.environment._draw(arm, seen, bitgen)

    cdef double _draw_sum(self, int64_t arm, int64_t seen, int64_t n,
                          pb_bitgen *bitgen) noexcept nogil:
        return self.environment._draw_sum(arm, seen, n, bitgen)

    cdef double _draw_with_cost(self, int64_t arm, int64_t seen, pb_bitgen *bitgen,
                                double *cost) noexcept nogil:
        cdef double reward = self.environment._draw(arm, seen, bitgen)
        cost[0] = self._costs[arm]
        if self.shape > 0.0:
            cost[0] *= random_standard_gamma(<bitgen_t *>bitgen, self.shape) / self.shape
        return reward
