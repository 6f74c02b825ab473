# cython: auto_pickle=False
"""Thompson sampling: pulls each arm as often as it is likely to be the best.

Thompson, On the likelihood that one unknown probability exceeds another in view of the
evidence of two samples, Biometrika 1933; Agrawal and Goyal, Analysis of Thompson
sampling for the multi-armed bandit problem, COLT 2012.
"""

import numpy as np

from pybandit._shared.checks import (
    MOST_HELD, check_choice, check_in, check_integer, check_positive, shown,
)
from pybandit._shared.generators import private_generator, restore_stream, stream_state
from pybandit.policies.regret._states import THOMPSON, THOMPSON_BATCHES

from libc.math cimport isnan
from libc.stdint cimport int64_t
from numpy.random cimport bitgen_t
from numpy.random.c_distributions cimport random_standard_normal_fill

from pybandit._shared._csrc cimport pb_bitgen
from pybandit._shared.bits cimport bitgen_of
from pybandit.policies._csrc cimport (
    PB_THOMPSON_BETA, PB_THOMPSON_FEW, PB_THOMPSON_GAUSSIAN, pb_batch, pb_batch_one,
    pb_thompson, pb_thompson_add, pb_thompson_arm, pb_thompson_begin, pb_thompson_chances,
    pb_thompson_choose, pb_thompson_choose_drawn, pb_thompson_look, pb_thompson_place,
    pb_thompson_resume,
)
from pybandit.policies.regret._counted cimport CountedPolicy
from pybandit.policies.protocol.base cimport NativePolicy, is_reward
from pybandit.policies.protocol.policy cimport Policy

__all__ = ["ThompsonSampling"]


cdef class ThompsonSampling(CountedPolicy):
    """Pulls the arm whose mean, drawn from its posterior, is the largest.

    Thompson 1933; Agrawal and Goyal 2012: before each pull ``theta_k`` is drawn from the
    posterior of arm k's mean, independently, and ``argmax theta_k`` is pulled. The choice has the
    exact distribution, although thetas that cannot be the largest are not drawn.

    It has no horizon: `done` stays False, and the caller decides when to stop.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    law : {"bernoulli", "gaussian"}
        ``"bernoulli"``: rewards in [0, 1], ``theta_k ~ Beta(alpha + S_k, beta + F_k)`` with S_k
        successes and F_k failures; a reward r counts as a success with probability r, otherwise
        as a failure. ``"gaussian"``: ``theta_k ~ N(mean_k, noise_std^2 / T_k)`` with T_k rewards;
        arms without a reward are pulled first, in one batch.
    noise_std : float
        Law ``"gaussian"``: standard deviation of a reward, finite and above 0.
    prior : (float, float)
        alpha and beta, each in [0.1, 1e9].
    fractional : bool
        Law ``"bernoulli"``: if True, S_k grows by r and F_k by 1 - r, without a random draw.
    batch_size : int
        Number of pulls asked together: independent choices from one posterior. Use it with
        `shares` and `tell_counts` for traffic that is split and counted per day.
    rng : None, int, SeedSequence or Generator
        Seeds the policy's own stream.

    Attributes
    ----------
    done : bool
        False.
    n_pulls, n_batches : int
    pulls, means, variances : ndarray
        Per arm.
    posteriors : ndarray of float64, shape (n_arms, 2)
    shares : ndarray of int64, shape (n_arms,)
        Number of times that `ask` names each arm.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range. For law ``"bernoulli"``, `tell` raises `ValueError` if
        a reward is outside [0, 1]; `simulate` replaces such a reward by the nearer end.

    See Also
    --------
    UCB1, KLUCB, UCBV : bounds instead of draws.
    TopTwo : finds the best arm with a stopping rule.
    GaussianThompson : for correlated arms.

    Notes
    -----
    O(K / 16) per pull, plus a draw for each of a few thetas. At K = 10, `simulate` takes 130 to
    670 ns per pull in runs of 2,000 pulls, and 40 to 120 ns in runs of 200,000: few thetas are
    drawn once the best arm is known. At K = 1,000 it takes about 1 us, while drawing all thetas
    takes 70 ns per arm. The distribution of the choice has an error of about 1e-12, or 1e-17 n if
    an arm has n > 1e5 rewards.

    An arm that lost all its first pulls has no Gaussian posterior. It is asked again together with
    other such arms, but at most n_pulls // K times while other arms have rewards.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> rng, means = np.random.default_rng(1), np.array([0.2, 0.5, 0.8])
    >>> policy = pb.policies.ThompsonSampling(3, rng=2)
    >>> for _ in range(500):
    ...     arms = policy.ask()
    ...     policy.tell(arms, rng.random(arms.size) < means[arms])
    >>> policy.recommend()
    array([2])
    >>> bool(policy.pulls[2] > 400)
    True
    """

    cdef readonly str law
    cdef readonly tuple prior
    cdef readonly bint fractional
    cdef readonly double noise_std
    cdef readonly int64_t batch_size
    cdef pb_thompson kernel
    cdef double[:, ::1] arms              # gained, lost, below, density
    cdef double[::1] chances
    cdef double[:, ::1] direct            # few Gaussian arms: means, deviations, scratch
    cdef object generator                 # private: no other code can hold its lock
    cdef pb_bitgen *bitgen
    cdef bint is_new                      # just reset: `_set_progress` has nothing more to restore
    cdef bint rng_given
    cdef int64_t chosen                   # -1: not drawn yet
    cdef int64_t[::1] lacking             # arms without a reward: the first n_lacking entries
    cdef int64_t n_lacking, n_tries       # n_tries: batches in which they were asked
    cdef int64_t[:, ::1] drawn            # rows: all arms, and their pulls in the batch

    def __init__(self, n_arms, *, law="bernoulli", noise_std=1.0, prior=(1.0, 1.0),
                 fractional=False, batch_size=1, rng=None):
        super().__init__(n_arms, 1)
        self.batch_size = check_integer("batch_size", batch_size, 1, MOST_HELD)
        self.law = check_choice("law", law, ("bernoulli", "gaussian"))
        prior = check_in("prior", prior, "in [0.1, 1e9]", lambda x: (x >= 0.1) & (x <= 1e9))
        if prior.shape != (2,):
            raise ValueError(f"prior must be two numbers, (alpha, beta); got shape {prior.shape}")
        noise_std = check_positive("noise_std", noise_std)
        if not isinstance(fractional, (bool, np.bool_)):
            raise TypeError(f"fractional must be True or False; got {shown(fractional)}")
        self.prior = float(prior[0]), float(prior[1])
        self.fractional, self.noise_std = fractional, noise_std
        self._wants_rewards = self._adapts = True
        self.rng_given = rng is not None
        self._begin()
        self._start_stream(rng)
        self._made(ThompsonSampling)

    cdef _begin(self):
        self.arms = np.empty((self.n_arms, sizeof(pb_thompson_arm) // sizeof(double)))
        self.chances = np.empty(pb_thompson_chances(self.n_arms))
        self.lacking, self.n_lacking = np.arange(self.n_arms), 0
        self.drawn = np.stack([np.arange(self.n_arms), np.zeros(self.n_arms, dtype=np.int64)])
        self.kernel.law = PB_THOMPSON_BETA
        self.kernel.alpha, self.kernel.beta = self.prior
        if self.law == "gaussian":
            self.kernel.law = PB_THOMPSON_GAUSSIAN
            self.kernel.alpha, self.n_lacking = self.noise_std, self.n_arms
        self.kernel.n_arms = self.n_arms
        self.kernel.arms = <pb_thompson_arm *>&self.arms[0, 0]
        self.kernel.chances = &self.chances[0]
        if self.law == "gaussian" and self.n_arms <= PB_THOMPSON_FEW:
            self.direct = np.zeros((3, self.n_arms))
            self.kernel.direct = &self.direct[0, 0]
        pb_thompson_begin(&self.kernel)

    cdef _start_stream(self, rng):
        self.generator = private_generator(rng)
        self.bitgen = bitgen_of(self.generator)
        self.chosen = -1

    def seed(self, rng):
        """Replace the policy's stream, unless `rng` was given or pulls were made."""
        with self.guard:
            if not self.rng_given and not self.n_pulls:
                self._begin()
                self._start_stream(rng)

    cdef bint _takes_stream(self) noexcept:
        return not self.rng_given

    cdef int _take_stream(self, state) except -1:
        self.generator.bit_generator.state = state
        if self.chosen >= 0:  # drawn from the stream that is replaced
            self.chosen = -1
            pb_thompson_begin(&self.kernel)
        return 0

    cdef bint _forget(self) except -1:
        cdef int64_t arm
        for arm in range(self.n_arms):
            self.lacking[arm] = arm
        self.n_lacking = self.n_arms if self.kernel.law == PB_THOMPSON_GAUSSIAN else 0
        pb_thompson_begin(&self.kernel)
        self.chosen, self.n_tries = -1, 0
        # without the user's stream, which a state contains, the run supplies one: nothing is
        # restored
        self.is_new = not self.rng_given
        return True

    def _options(self):
        return dict(n_arms=self.n_arms, law=self.law, prior=self.prior, fractional=self.fractional,
                    noise_std=self.noise_std, batch_size=self.batch_size)

    @property
    def posteriors(self):
        """Each arm's posterior; float64, shape (n_arms, 2), a copy.

        Law ``"bernoulli"``: its two parameters. Law ``"gaussian"``: mean and standard deviation,
        NaN and infinity for arms without rewards.
        """
        with self.guard.reading(), np.errstate(divide="ignore"):
            if self.law == "bernoulli":
                return np.asarray(self.arms)[:, :2] + self.prior
            return np.stack([self.means, self.noise_std / np.sqrt(self._pulls)], axis=1)

    cdef bint _never_ends(self) noexcept:
        return True

    cdef bint _is_done(self) noexcept nogil:
        return False

    cdef pb_batch _next(self) noexcept nogil:
        cdef pb_batch batch = pb_batch_one(&self.chosen)
        if self._asks_lacking():
            batch.arms, batch.n_arms = &self.lacking[0], self.n_lacking
            batch.n_pulls = self.n_lacking
        elif self.batch_size > 1:
            self._draw_batch()
            batch.arms, batch.counts = &self.drawn[0, 0], &self.drawn[1, 0]
            batch.n_arms, batch.n_pulls = self.n_arms, self.batch_size
        elif self.chosen < 0:
            self.chosen = self._choose()
        return batch

    cdef int64_t _single(self) noexcept nogil:
        if self.n_lacking or self.batch_size > 1 or self.silence.n_asked:
            return -1
        if self.chosen < 0:
            self.chosen = ThompsonSampling._choose(self)
        return self.chosen

    cdef int64_t _choose(self) noexcept nogil:
        if self.kernel.direct:
            random_standard_normal_fill(<bitgen_t *>self.bitgen, self.n_arms, &self.direct[2, 0])
            return pb_thompson_choose_drawn(&self.kernel, &self.direct[2, 0])
        return pb_thompson_choose(&self.kernel, self.bitgen)

    cdef void _draw_batch(self) noexcept nogil:
        cdef int64_t _i
        if self.chosen >= 0:
            return
        self.drawn[1, :] = 0
        for _i in range(self.batch_size):
            self.chosen = self._choose()
            self.drawn[1, self.chosen] += 1

    @property
    def shares(self):
        """Number of requested pulls of each arm; int64, shape (n_arms,)."""
        return np.bincount(self.ask(), minlength=self.n_arms)

    cdef bint _asks_lacking(self) noexcept nogil:
        if not self.n_lacking:
            return False
        return (self.n_lacking == self.n_arms - self.silence.n_aside
                or self.n_tries * self.n_arms <= self.n_pulls)

    cdef int _make_silence(self) except -1:
        CountedPolicy._make_silence(self)
        self.kernel.aside = &self.silence.aside[0]
        return 0

    cdef void _set_aside(self, int64_t arm) noexcept nogil:
        pb_thompson_look(&self.kernel, arm)

    cdef void _take_back(self, int64_t arm) noexcept nogil:
        pb_thompson_look(&self.kernel, arm)

    cdef int64_t _batch_pulls(self) noexcept nogil:
        return self.batch_size

    cdef void _absorb(self, const int64_t *arms, const double *rewards, int64_t n) noexcept nogil:
        cdef int64_t j
        Policy._absorb(self, arms, rewards, n)
        for j in range(n):
            if not isnan(rewards[j]):
                ThompsonSampling._add(self, arms[j], rewards[j])

    cdef void _add(self, int64_t arm, double reward) noexcept nogil:
        cdef double share
        if self.kernel.law == PB_THOMPSON_GAUSSIAN:
            pb_thompson_add(&self.kernel, arm, reward, 1.0)
            return
        share = min(max(reward, 0.0), 1.0)
        if not self.fractional and 0.0 < share < 1.0:
            share = 1.0 if self.bitgen.next_double(self.bitgen.state) < share else 0.0
        pb_thompson_add(&self.kernel, arm, share, 1.0 - share)

    cdef void _advance(self) noexcept nogil:
        cdef int64_t i, n = 0
        # do not call _asks_lacking here: n_pulls has changed
        if self.chosen < 0:
            self.n_tries += 1
        self.chosen = -1
        for i in range(self.n_lacking):
            if not self._pulls[self.lacking[i]] and not self.silence.has(self.lacking[i]):
                self.lacking[n] = self.lacking[i]
                n += 1
        self.n_lacking = n

    cdef void _add_counts(self, int64_t arm, int64_t n, double total) noexcept nogil:
        if self.kernel.law == PB_THOMPSON_GAUSSIAN:
            pb_thompson_add(&self.kernel, arm, total, n)
        else:
            pb_thompson_add(&self.kernel, arm, total, n - total)

    cdef bint _accepts(self, double reward) noexcept nogil:
        if self.kernel.law == PB_THOMPSON_BETA:
            return 0.0 <= reward <= 1.0
        return is_reward(reward)

    cdef int64_t _answer(self, int64_t *arms) noexcept nogil:
        cdef int64_t arm
        cdef double a, b, mean, best = -1.0
        if self.silence.n_aside:
            return -1
        if self.kernel.law == PB_THOMPSON_GAUSSIAN:
            return self._best_of(&self.drawn[0, 0], self.n_arms, 1, arms)
        for arm in range(self.n_arms):
            a, b = self.arms[arm, 0] + self.kernel.alpha, self.arms[arm, 1] + self.kernel.beta
            mean = a / (a + b)
            if mean > best:
                best, arms[0] = mean, arm
        return 1

    _answers = True

    def recommend(self):
        """Return the arm of the best posterior mean, int64 of shape (1,).

        A Gaussian arm without a reward ranks after all that have one.
        """
        with self.guard.reading():
            if self.law == "gaussian":
                return self._best(np.arange(self.n_arms), 1)
            a, b = self.posteriors.T
            means = a / (a + b)
            if 0 < self.silence.n_aside < self.n_arms:
                means[np.asarray(self.silence.aside, dtype=bool)] = -1.0
        return np.array([np.argmax(means)], dtype=np.int64)

    def _choices(self, n, counts, threshold=None):
        """Return n independent choices given `counts`, for tests of their distribution.

        `counts` holds successes and failures per arm, or sums and counts. A `threshold` is set
        before each choice.
        """
        cdef double place = 0.0 if threshold is None else threshold
        cdef bint moves = threshold is not None
        cdef int64_t[::1] arms = np.empty(n, dtype=np.int64)
        cdef const double[:, ::1] seen = np.array(counts, dtype=np.float64)
        cdef int64_t i
        self.guard.check()
        pb_thompson_begin(&self.kernel)
        for i in range(self.n_arms):
            pb_thompson_add(&self.kernel, i, seen[i, 0], seen[i, 1])
        for i in range(n):
            if moves:
                pb_thompson_place(&self.kernel, place)
            arms[i] = self._choose()
        return np.asarray(arms)

    cdef object _schema(self):
        return THOMPSON if self.batch_size == 1 else THOMPSON_BATCHES

    cdef dict _sizes(self):
        return NativePolicy._sizes(self) | {
            "n_chances": pb_thompson_chances(self.n_arms), "law": self.law,
            "batch_size": self.batch_size}

    def _get_progress(self):
        self.guard.check()
        return {
            "arms": np.array(self.arms), "chances": np.array(self.chances),
            "threshold": np.array([self.kernel.threshold.at, self.kernel.spent,
                                   self.kernel.limit, self.kernel.all_spent]),
            "age": self.kernel.age, "chosen": self.chosen, "n_tries": self.n_tries,
            "lacking": np.isin(np.arange(self.n_arms), self.lacking[:self.n_lacking]),
            "rng_given": bool(self.rng_given), "stream": stream_state(self.generator),
        } | ({} if self.batch_size == 1 else {
            "shares": np.array(self.drawn[1]) if self.chosen >= 0
            else np.zeros(self.n_arms, dtype=np.int64)})

    def _set_progress(self, progress):
        cdef double threshold
        super()._set_progress(progress)
        if self.is_new:
            self.is_new = False
            return
        np.asarray(self.arms)[:] = progress["arms"]
        np.asarray(self.chances)[:] = progress["chances"]
        threshold, self.kernel.spent, self.kernel.limit, self.kernel.all_spent = (
            progress["threshold"])
        if not pb_thompson_resume(&self.kernel, threshold):
            raise ValueError("state must hold the posteriors' probabilities at its threshold; got "
                             "other values in arms or chances")
        self.kernel.age, self.chosen = progress["age"], progress["chosen"]
        self.n_tries, self.rng_given = progress["n_tries"], progress["rng_given"]
        if self.batch_size > 1:
            np.asarray(self.drawn)[1] = progress["shares"]
        if self.law == "gaussian":
            # arms with late rewards are still asked if they were already in the request
            lacking = progress["lacking"] | (progress["pulls"] == 0)
            if self.silence.n_aside:
                lacking &= np.asarray(self.silence.aside) == 0
            lacking = np.flatnonzero(lacking)
            np.asarray(self.lacking)[:lacking.size] = lacking
            self.n_lacking = lacking.size
        restore_stream(self.generator, progress["stream"])
