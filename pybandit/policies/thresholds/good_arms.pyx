# cython: auto_pickle=False
"""Policies that find all arms above a threshold.

Locatelli, Gutzeit and Carpentier, An optimal algorithm for the thresholding bandit problem, ICML
2016; Kano, Honda, Sakamaki, Matsuura, Nakamura and Sugiyama, Good arm identification via bandit
feedback, Machine Learning 2019.
"""

import numpy as np

from pybandit._shared.checks import check_choice, check_delta, check_scalar, nonnegative
from pybandit.policies.stopping._states import SEQUENTIAL
from pybandit.policies.thresholds._states import GOOD_ARMS
from pybandit.policies.stopping.glr import GLR

from libc.math cimport INFINITY, fabs, log, sqrt
from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport PB_GLR_UNKNOWN, pb_glr_arm, pb_glr_cost, pb_glr_single
from pybandit.policies.stopping._sequential cimport SequentialPolicy, find_largest, find_least

__all__ = ["APT", "GoodArms"]


cdef class _ThresholdPolicy(SequentialPolicy):
    """A policy whose answer is the set of arms above a threshold."""

    _answers_any_number = True

    cdef readonly double threshold, epsilon
    cdef double[::1] indices              # scratch

    def __init__(self, n_arms, threshold, epsilon, max_pulls, needed=1):
        super().__init__(n_arms, 1, None, max_pulls, needed, 1)
        self.threshold = check_scalar("threshold", threshold, "finite", np.isfinite)
        self.epsilon = check_scalar("epsilon", epsilon, "finite and at least 0", nonnegative)
        self.indices = np.zeros(self.n_arms)

    def _options(self):
        options = super()._options() | dict(threshold=self.threshold, epsilon=self.epsilon)
        del options["stopping"]
        return options

    cdef object _schema(self):
        return SEQUENTIAL


cdef class APT(_ThresholdPolicy):
    """Finds the arms with means of at least a threshold, within a budget.

    Locatelli et al. 2016, the anytime parameter-free thresholding algorithm: after one pull of
    each arm, each pull goes to the least ``sqrt(N_k) (|mean_k - threshold| + epsilon)``.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    threshold : float
        Finite.
    epsilon : float, default 0
        Arms within epsilon of the threshold may be in the answer or not. At 0 an arm at the
        threshold takes nearly all pulls.
    max_pulls : int, optional
        Total number of pulls, at least K. Without it the policy never ends; `recommend` may be
        called at any time.

    Attributes
    ----------
    done : bool
    n_pulls, n_batches : int
    pulls, means, variances : ndarray
        See `Policy`.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` if `max_pulls` is below K.

    See Also
    --------
    GoodArms : takes an error probability instead of a budget.

    Notes
    -----
    The probability of a wrong answer after T pulls of sub-Gaussian rewards is at most
    ``exp(-T / (64 noise_std^2 H) + 2 log((log T + 1) K))``, where H is the sum of
    ``1 / (|mean_k - threshold| + epsilon)^2``, and no rule has a better order (theorems 1 and 2
    of the paper). Ties go to the lowest index. A silent arm (see `Policy`) is not in the answer.
    O(K) per pull.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> policy = pb.policies.APT(4, max_pulls=400, threshold=0.5)
    >>> rng, means = np.random.default_rng(2), np.array([0.1, 0.9, 0.6, 0.2])
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, means[arms] + 0.3 * rng.standard_normal(arms.size))
    >>> policy.recommend()
    array([1, 2])
    """

    def __init__(self, n_arms, *, threshold, epsilon=0.0, max_pulls=None):
        super().__init__(n_arms, threshold, epsilon, max_pulls)
        self._made(APT)

    cdef void _choose(self) noexcept nogil:
        cdef int64_t arm
        cdef double gap
        for arm in range(self.n_arms):
            gap = fabs(self.centres[arm] - self.threshold) + self.epsilon
            self.indices[arm] = sqrt(<double>self._pulls[arm]) * gap
            if self.silence.has(arm):
                self.indices[arm] = INFINITY
        self.chosen[0] = find_least(&self.indices[0], self.n_arms)

    def recommend(self):
        """Return the arms with means of at least the threshold, best first; int64 of any size."""
        with self.guard.reading():
            arms = self._best(np.arange(self.n_arms), self.n_arms)
            with np.errstate(invalid="ignore"):
                means = np.asarray(self._sums)[arms] / np.asarray(self._pulls)[arms]
            return arms[(means >= self.threshold) & ~self._silent_flags()[arms]]


cdef enum:
    HDOC, LUCB_G, APT_RULE

SAMPLING = ("hdoc", "lucb-g", "apt")
GOOD_LAWS = ("gaussian", "bernoulli", "gaussian-unknown")


cdef class GoodArms(_ThresholdPolicy):
    """Finds the arms with means above a threshold; each is named once it is certain.

    Kano et al. 2019. Among the arms without a name, the one selected by `sampling` is pulled, until
    ``N_k d(mean_k, threshold)`` is large enough. It is then named good or bad and not pulled again.
    The policy ends when all arms have a name.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    threshold : float
        Finite; for law ``"bernoulli"``, ``threshold +- epsilon`` must be in (0, 1).
    delta : float, default 0.05
        Probability that any name is wrong, in (0, 1).
    law : {"gaussian", "bernoulli", "gaussian-unknown"}
        Distribution of the rewards, as in `pybandit.stopping.GLR`; ``"bernoulli"`` is valid for
        any rewards in [0, 1].
    noise_std : float, default 1
        Law ``"gaussian"``: the scale of sub-Gaussian rewards, in [1e-150, 1e150].
    sampling : {"hdoc", "lucb-g", "apt"}
        ``"hdoc"``: the arm of the largest upper bound with ``N_k d(mean_k, bound) = log t``, which
        finds good arms early. ``"lucb-g"``: that of the largest upper bound at the level that
        decides names (see Notes; ``excess`` is taken as 0). ``"apt"``: the
        arm of the least ``sqrt(N_k) (|mean_k - threshold| + epsilon)``.
    epsilon : float, default 0
        Arms within epsilon of the threshold may get either name. At 0 an arm at the threshold is
        pulled indefinitely.
    max_pulls : int, optional
        Pulls after which the policy is `done`, even if it is not `decided`; at least K.

    Attributes
    ----------
    done : bool
    decided : bool
        True once all arms have a name.
    good, bad : ndarray of int64
        Arms named good and bad.
    n_pulls, n_batches : int
    pulls, means, variances : ndarray
        See `Policy`.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` if `max_pulls` does not cover
        the first pulls. `tell` raises if a reward is outside the range of the law.

    See Also
    --------
    APT : takes a budget instead of an error probability.
    BettingThreshold : for scores on items shared by all arms.

    Notes
    -----
    **Proof.** An arm of mean m at least ``threshold + epsilon`` is called bad only if its sample
    mean is below ``threshold + epsilon`` and ``N d(mean, threshold + epsilon)``, which is at most
    ``N d(mean, m)``, is above the level. The martingales of `pybandit.stopping.GLR` for one arm
    bound the probability of this by ``delta / K``, over all N. For ``"gaussian"`` they are mixed by
    a normal distribution of standard deviation noise_std about the true mean. The levels of the
    three laws are ``(1 + 1 / N) (x + log(1 + N) / 2)``, ``x + log(4 N) / 2`` and
    ``x + log(1 + N) / 2 + excess``, with ``x = log(K / delta)``. Here ``excess`` is
    ``N log((N + exp(2 z / N)) / (N + 1)) / 2``, where z is the ``N d`` compared with the level.
    Arms below the threshold are treated in the same way, and an arm within epsilon of it cannot be
    named wrongly.

    A silent arm (see `Policy`) is neither good nor bad. The policy ends without a name for it, and
    the other names keep their confidence: an arm's name depends on its own rewards only.

    Ties go to the lowest index. O(K) per pull.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> policy = pb.policies.GoodArms(4, delta=0.05, threshold=0.5, law="bernoulli")
    >>> rng, means = np.random.default_rng(2), np.array([0.1, 0.9, 0.7, 0.2])
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, rng.random(arms.size) < means[arms])
    >>> policy.good, policy.bad
    (array([1, 2]), array([0, 3]))
    """

    cdef readonly double delta
    cdef readonly str sampling
    cdef int rule
    cdef int64_t[::1] names               # 1 good, -1 bad, 0 undecided

    def __init__(self, n_arms, *, threshold, delta=0.05, law="gaussian", noise_std=1.0,
                 sampling="hdoc", epsilon=0.0, max_pulls=None):
        law = check_choice("law", law, GOOD_LAWS)
        # a sample variance needs two rewards
        super().__init__(n_arms, threshold, epsilon, max_pulls, 1 + (law == "gaussian-unknown"))
        self.delta = check_delta(delta)
        self.sampling = check_choice("sampling", sampling, SAMPLING)
        self.rule = SAMPLING.index(self.sampling)
        self._take(GLR(delta=self.delta, law=law, noise_std=noise_std))
        self.glr.level = log(self.n_arms / self.delta)  # union bound over arms, not over pairs
        low, high = self.threshold - self.epsilon, self.threshold + self.epsilon
        if law == "bernoulli" and not 0 < low <= high < 1:
            raise ValueError("threshold - epsilon and threshold + epsilon must be in (0, 1) for "
                             f"law='bernoulli'; got {self.threshold!r}, epsilon={self.epsilon!r}")
        self.has_rule = True
        self.names = np.zeros(self.n_arms, dtype=np.int64)
        self._made(GoodArms)

    @property
    def good(self):
        """Arms named good; int64, increasing."""
        with self.guard.reading():
            return np.flatnonzero(np.asarray(self.names) > 0)

    @property
    def bad(self):
        """Arms named bad; int64, increasing."""
        with self.guard.reading():
            return np.flatnonzero(np.asarray(self.names) < 0)

    def recommend(self):
        """Return the arms named good so far, largest means first; int64 of any size."""
        with self.guard.reading():
            good = np.flatnonzero(np.asarray(self.names) > 0)
            return self._best(good, good.size)

    def _options(self):
        law, noise_std = self.law
        return super()._options() | dict(delta=self.delta, sampling=self.sampling, law=law,
                                         noise_std=noise_std)

    cdef void _decide(self) noexcept nogil:
        cdef int64_t arm
        self.stopped = True
        for arm in range(self.n_arms):
            if self.silence.has(arm):
                continue
            if not self.names[arm]:
                self.names[arm] = self._name(arm)
            self.stopped &= self.names[arm] != 0

    cdef int64_t _name(self, int64_t arm) noexcept nogil:
        cdef pb_glr_arm seen = self._arm(arm)
        # the likelier side if both are allowed
        cdef int64_t side = 1 if seen.mean >= self.threshold else -1
        cdef double z = pb_glr_cost(&self.glr, &seen, self.threshold - side * self.epsilon)
        # if all rewards of all arms are equal, an unknown variance cannot be estimated
        if self.glr.law == PB_GLR_UNKNOWN and seen.variance == 0.0:
            return 0
        if z <= pb_glr_single(&self.glr, seen.n, z):
            return 0
        return side

    cdef void _choose(self) noexcept nogil:
        cdef int64_t arm
        cdef double t = self.n_pulls, gap, level
        for arm in range(self.n_arms):
            if self.names[arm] or self.silence.has(arm):
                self.indices[arm] = -INFINITY
            elif self.rule == APT_RULE:
                gap = fabs(self.centres[arm] - self.threshold) + self.epsilon
                self.indices[arm] = -sqrt(<double>self._pulls[arm]) * gap
            else:
                level = log(t) if self.rule == HDOC else pb_glr_single(
                    &self.glr, <double>self._pulls[arm], 0.0)
                self.indices[arm] = self._upper_mean(arm, level)
        self.chosen[0] = find_largest(&self.indices[0], self.n_arms)
        if self.silence.has(self.chosen[0]):  # all arms that answer have a name
            self.chosen[0] = self._another(self.chosen[0])

    cdef object _schema(self):
        return GOOD_ARMS

    def _get_progress(self):
        return super()._get_progress() | {"names": np.array(self.names)}

    def _set_progress(self, progress):
        super()._set_progress(progress)
        np.asarray(self.names)[:] = progress["names"]
