# cython: auto_pickle=False
"""Environments made from observed rewards."""

from math import fsum

import numpy as np

from pybandit._shared.checks import MOST_PULLS, as_list, check_in, owned
from pybandit.simulation.base import arm_values

from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport pb_bitgen
from pybandit.simulation.base cimport Environment

__all__ = ["EmpiricalBandit", "TableBandit"]

# expected type of samples and tables, for messages
REWARDS = "a sequence of the rewards of each arm"


def mean_of(values, weights=None):
    """Return a mean that does not depend on the order of values, and is exact if all are equal,
    so that arms with equal samples have equal means."""
    weights = np.ones(values.size) if weights is None else weights
    # scaled exactly, by a power of two, so that products are not larger than the values
    weights = np.ldexp(weights, -np.frexp(weights.max())[1])
    try:
        total = fsum(weights)
        mean = fsum(weights * values) / total
        mean += fsum(weights * (values - mean)) / total  # correct the rounding error
    except (OverflowError, ValueError):  # for values near the largest double the order may matter
        mean = weights / weights.sum() @ values
    return min(max(mean, values.min()), values.max())


cdef class EmpiricalBandit(Environment):
    """Arms whose rewards are drawn from observed ones.

    Parameters
    ----------
    samples : sequence of array_like of float, optional
        Observed rewards of each arm, at least one; all equally likely.
    values : array_like of float, shape (m,), optional
        With `counts`: the possible values of rewards.
    counts : array_like of float, shape (n_arms, m), optional
        Number of times that each arm took each value, at least 0, and not all 0 in a row.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    TableBandit : returns the rewards in their order.

    Notes
    -----
    **Threads.** Pulls do not change it: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> bandit = pb.environments.EmpiricalBandit([[3.1, 2.9, 4.0], [5.0, 0.0]])
    >>> bandit.means, bandit.pull([0, 0, 1], rng=1)
    (array([3.33333333, 2.5       ]), array([2.9, 4. , 5. ]))

    Stars from 1 to 5, as in a shop:

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
            raise ValueError("pass either samples, or values and counts, not both; got "
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
    """Arms with a fixed reward for each pull, for tests and common random numbers.

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
    EmpiricalBandit : draws observed rewards at random.

    Notes
    -----
    `pull` counts the pulls of each arm, and `reset` restarts the counts. In `simulate`
    every run starts at the first reward.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

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
        # counts near 2^63 would overflow after a few pulls
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
        """Return the next rewards of these arms; float64, shape (n,). `rng` is not used."""
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
