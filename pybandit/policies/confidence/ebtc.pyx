# cython: auto_pickle=False
"""The best arm by a leader and its challenger in equal shares.

Jourdan, Degenne and Kaufmann, An epsilon-best-arm identification algorithm for
fixed-confidence and beyond, NeurIPS 2023.
"""

import numpy as np

from pybandit._shared.checks import check_scalar, nonnegative, shown
from pybandit.policies.confidence._states import EBTC_STATE
from pybandit.policies.protocol._deviations import check_deviations, variances_of

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from pybandit.policies.stopping._sequential cimport SequentialPolicy, find_largest, find_least

__all__ = ["EBTC"]


cdef class EBTC(SequentialPolicy):
    """Pulls the arm of the best mean and the arm hardest to distinguish from it, in equal shares.

    EB-TC_eps of Jourdan et al. 2023 with a fixed share of 1/2. After one pull of each arm, the
    leader B is the arm of the largest mean and the challenger the arm k of the least
    ``(m_B - m_k + epsilon) / sqrt(1 / N_B + 1 / N_k)``. Let L_B be the number of pulls, this one
    included, during which B led. If at most L_B / 2 of the earlier pulls led by B went to B, B is
    pulled, otherwise the challenger. The policy has no horizon, and `recommend` may be called at
    any time.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    stopping : GLR or Betting, optional
        Rule of `pybandit.stopping`: the policy is `done` and `decided` when the rule stops it. The
        law and noise_std of the rule do not affect which arms are pulled.
    noise_std : array_like of float, shape (n_arms,), "estimated" or None, default None
        Standard deviation s of each arm's rewards, if known; in [1e-150, 1e150]. The square
        root in the index is then that of ``s_B^2 / N_B + s_k^2 / N_k``. ``"estimated"``: the same
        with the unbiased variances of the rewards, after two pulls of each arm. None: equal for all
        arms, as above.
    epsilon : float, default 0.1
        Slack of the challenger's index, in the units of the rewards; finite, at least 0. At 0 two
        arms with similar rewards can take nearly all pulls for long.
    max_pulls : int, optional
        Pulls after which the policy is `done`; at least K, or 2 K if `noise_std` is
        ``"estimated"``. With neither `max_pulls` nor `stopping` it never ends: `simulate` then
        needs `max_pulls`.

    Attributes
    ----------
    done : bool
    decided : bool
        True once the stopping rule has stopped the policy.
    n_pulls, n_batches : int
    pulls, means, variances : ndarray
        See `Policy`.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` if `max_pulls`
        does not cover the first pulls.

    See Also
    --------
    TopTwo : the same idea with other leaders and challengers.

    Notes
    -----
    Ties go to the lowest index. With ``noise_std="estimated"``, if neither the leader nor any other
    arm has a positive sample variance, the challenger is the arm with the fewest pulls. Arms that
    lost their first pulls are asked again before any other. O(K) per pull.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> policy = pb.policies.EBTC(4, max_pulls=80)
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, np.array([0.1, 0.9, 0.3, 0.2])[arms])
    >>> policy.recommend(), policy.pulls
    (array([1]), array([ 9, 40, 18, 13]))
    """

    cdef readonly double epsilon
    cdef bint variance_aware
    # per arm: pulls during which it led, and how many of them pulled it
    cdef int64_t[::1] led, own
    # per arm: squared standard error of its mean, known variance; and scratch
    cdef double[::1] squares, known, indices
    cdef bint has_known
    cdef object _noise_std

    def __init__(self, n_arms, *, stopping=None, noise_std=None, epsilon=0.1, max_pulls=None):
        self.variance_aware = isinstance(noise_std, str)
        if self.variance_aware and noise_std != "estimated":
            raise ValueError("noise_std must be an array, 'estimated' or None; got "
                             f"{shown(noise_std)}")
        super().__init__(n_arms, 1, stopping, max_pulls, 2 if self.variance_aware else 1, 1)
        self.epsilon = check_scalar("epsilon", epsilon, "finite and at least 0", nonnegative)
        self.has_known = noise_std is not None and not self.variance_aware
        self._noise_std = np.ones(self.n_arms)
        if self.has_known:
            self._noise_std = check_deviations(noise_std, self.n_arms)
        self.known = variances_of(self._noise_std)
        self._wants_rewards = self._wants_rewards or self.variance_aware
        self.led, self.own = np.zeros((2, self.n_arms), dtype=np.int64)
        self.squares, self.indices = np.zeros((2, self.n_arms))
        self._made(EBTC)

    def _options(self):
        return super()._options() | dict(epsilon=self.epsilon, noise_std=self.noise_std)

    @property
    def noise_std(self):
        """Standard deviation of each arm's rewards, a copy; or "estimated" or None."""
        if self.variance_aware:
            return "estimated"
        return np.array(self._noise_std) if self.has_known else None

    cdef void _choose(self) noexcept nogil:
        self.chosen[0] = self.best
        # in integers: own > led / 2, with this pull included in led
        if 2 * self.own[self.best] > self.led[self.best] + 1:
            self.chosen[0] = self._find_challenger()

    cdef void _settle(self, const int64_t *arms, int64_t n) noexcept nogil:
        """Do nothing: a pull is attributed to its leader when it is reported."""

    cdef void _measure(self, int64_t arm) noexcept nogil:
        cdef double n = self._pulls[arm]
        self.centres[arm] = self._sums[arm] / n
        if self.variance_aware:
            self.squares[arm] = self._deviations[arm] / ((n - 1.0) * n)
        else:
            self.squares[arm] = self.known[arm] / n

    cdef void _follow(self) noexcept nogil:
        """Update the pulled arm's mean and the leader, without a scan if possible."""
        cdef int64_t arm = self.chosen[0]
        cdef double before = self.centres[arm], now, best
        # the centres of silent arms are already -INFINITY; the leader may be one of them
        if self.silence.n_aside:
            before = INFINITY
        self.led[self.best] += 1
        self.own[self.best] += arm == self.best
        self._look(arm)
        now, best = self.centres[arm], self.centres[self.best]
        if arm != self.best:
            if now > best or (now == best and arm < self.best):
                self.best = arm
        elif now < before:
            self.best = find_largest(&self.centres[0], self.n_arms)

    cdef int64_t _find_challenger(self) noexcept nogil:
        """Return the arm of the least index; squared indices are compared, to avoid roots."""
        cdef const double *centres = &self.centres[0]
        cdef const double *squares = &self.squares[0]
        cdef double *indices = &self.indices[0]
        cdef double best = centres[self.best], own = squares[self.best]
        cdef double slack = self.epsilon, gap
        cdef int64_t arm, n = self.n_arms
        for arm in range(n):
            gap = best - centres[arm] + slack
            indices[arm] = gap * gap / (squares[arm] + own)
        if self.variance_aware and own == 0.0:
            for arm in range(n):
                # two arms without variance differ with certainty, or are equal
                if squares[arm] == 0.0:
                    indices[arm] = INFINITY if best - centres[arm] + slack > 0.0 else 0.0
        # the leader is not a challenger unless it is alone
        indices[self.best] = INFINITY
        arm = find_least(indices, n)
        return self._least_pulled() if indices[arm] == INFINITY else arm

    cdef int64_t _least_pulled(self) noexcept nogil:
        """Return the arm with fewest pulls, without silent arms; the leader only if alone."""
        cdef int64_t arm, found = self.best
        for arm in range(self.n_arms):
            if arm != self.best and not self.silence.has(arm) and (
                    found == self.best or self._pulls[arm] < self._pulls[found]):
                found = arm
        return found

    cdef object _schema(self):
        return EBTC_STATE

    def _get_progress(self):
        return super()._get_progress() | {
            "led": np.array(self.led), "own": np.array(self.own),
            "squares": np.array(self.squares)}

    def _set_progress(self, progress):
        super()._set_progress(progress)
        for array, name in ((self.led, "led"), (self.own, "own"), (self.squares, "squares")):
            np.asarray(array)[:] = progress[name]
