# cython: auto_pickle=False
"""Policies that pull every arm first and then choose arms one by one.

A stopping rule or a number of pulls may end them.
"""

import numpy as np

from pybandit._shared.checks import MOST_PULLS, check_budget, check_integer, shown
from pybandit.policies.stopping._states import SEQUENTIAL

from libc.math cimport INFINITY, NAN, expm1, fabs, isnan, sqrt
from libc.stdint cimport INT64_MAX, int64_t

from pybandit.policies._csrc cimport (
    PB_GAINS, PB_GLR_BERNOULLI, PB_GLR_ROUNDING, PB_GLR_UNKNOWN, pb_batch, pb_glr,
    pb_glr_arm, pb_glr_arm_of, pb_glr_doubt, pb_glr_tell, pb_kl_upper, pb_scan_largest,
    pb_scan_least, pb_scan_position, pb_wagers_add, pb_wagers_doubt, pb_wagers_tell,
)
from pybandit.policies.protocol.base cimport NativePolicy, is_reward
from pybandit.policies.stopping.glr cimport GLR
from pybandit.policies.stopping.wagers cimport Betting


cdef enum:
    # after this many equal rewards of all arms, a rule for unknown variances gives up
    MOST_EQUAL = 1000


cdef class SequentialPolicy(NativePolicy):
    """A policy that pulls each arm `needed` times in a batch, then arms chosen by `_choose`."""

    def __init__(self, n_arms, k, stopping, max_pulls, needed, n_chosen, name="max_pulls"):
        super().__init__(n_arms, k)
        self.stopping, self.needed, self.n_chosen = as_rule(stopping), needed, n_chosen
        self.has_rule = self.stopping is not None
        self.bets = isinstance(self.stopping, Betting)
        self.gains = np.zeros(PB_GAINS * self.n_arms * self.bets)
        self.step, self.last = INFINITY, NAN
        self._take(GLR() if self.stopping is None else self.stopping)
        self._adapts = True
        self.doubt, self.most = -1, -1
        if max_pulls is not None:
            self.most = check_integer(name, max_pulls, 0, MOST_PULLS)
            check_budget(self.most, needed * self.n_arms, self.n_arms,
                         f"{needed} per arm before the first comparison", name)
        self.chosen = np.zeros(max(MOST_CHOSEN, n_chosen), dtype=np.int64)
        self.arms = np.arange(self.n_arms)
        self.counts = np.zeros(self.n_arms, dtype=np.int64)
        self.centres = np.zeros(self.n_arms)
        self._plan_first()

    cdef int _take_law(self, law, noise_std) except -1:
        """Set the law of the rewards, if no rule determines it."""
        if self.stopping is None:
            return self._take(GLR(law="gaussian" if law is None else law,
                                  noise_std=1.0 if noise_std is None else noise_std))
        for name, given in (("law", law), ("noise_std", noise_std)):
            if given is not None:
                raise ValueError(f"{name} must be None if stopping is given, because the rule "
                                 f"determines it; got {shown(given)}")
        return 0

    cdef int _take(self, rule) except -1:
        """Take the law of the rule as that of the rewards; a Betting uses the Bernoulli law."""
        # pairs of a wrong arm in the answer and a missing right one
        pairs = self.k * (self.n_arms - self.k)
        if self.bets:
            self.level = (<Betting>rule)._level(pairs)
            self.slack = rule.epsilon
            rule = GLR(delta=rule.delta, law="bernoulli")
        self.law = rule.law, rule.noise_std
        self.glr = (<GLR?>rule)._kernel(pairs)
        self._take_range(-INFINITY if rule.is_gaussian else 0.0,
                         1.0 if rule.law == "bernoulli" else INFINITY)
        self._wants_rewards = self._wants_rewards or self.glr.law == PB_GLR_UNKNOWN
        return 0

    cdef void _take_range(self, double lowest, double highest) noexcept:
        self.lowest, self.highest, self.refused = lowest, highest, NAN
        # take rewards one by one, so that each is checked
        self._wants_rewards = self._wants_rewards or lowest == 0.0

    def _check_rewards(self, arms, rewards, missing):
        rewards = super()._check_rewards(arms, rewards, missing)
        bad = (rewards < self.lowest) | (rewards > self.highest)
        if bad.any():
            at = int(bad.argmax())
            raise ValueError(f"rewards must be in [{self.lowest:g}, {self.highest:g}]; got "
                             f"{rewards[at]} at index {at}, arm {arms[at]}")
        return rewards

    cdef bint _accepts(self, double reward) noexcept nogil:
        return is_reward(reward) and self.lowest <= reward <= self.highest

    cdef void _absorb(self, const int64_t *arms, const double *rewards, int64_t n) noexcept nogil:
        cdef int64_t j
        for j in range(n):
            if rewards[j] < self.lowest or rewards[j] > self.highest:
                self.refused = rewards[j]
            elif self.bets and not isnan(rewards[j]):  # NaN is a lost pull
                pb_wagers_add(&self.gains[PB_GAINS * arms[j]], rewards[j])
        if self.glr.law == PB_GLR_UNKNOWN:
            self._find_step(rewards, n)
        NativePolicy._absorb(self, arms, rewards, n)

    cdef void _find_step(self, const double *rewards, int64_t n) noexcept nogil:
        cdef int64_t j
        cdef double gap
        for j in range(n):
            if isnan(rewards[j]):
                continue
            gap = fabs(rewards[j] - self.last)
            if gap > PB_GLR_ROUNDING * fabs(rewards[j]):
                self.step = min(self.step, gap)
            self.n_equal += self.step == INFINITY
            self.last = rewards[j]

    def _check_seen(self):
        if not isnan(self.refused):
            raise ValueError(f"rewards must be in [{self.lowest:g}, {self.highest:g}]; got "
                             f"{self.refused}")

    @property
    def max_pulls(self):
        """Number of pulls after which the policy is done in any case; None if unlimited."""
        return None if self.most < 0 else self.most

    @property
    def decided(self):
        """True once the stopping rule has stopped the policy; False without a rule."""
        with self.guard.reading():
            return bool(self.stopped)

    cdef bint _never_ends(self) noexcept:
        return self.most < 0 and not self.has_rule

    cdef bint _is_done(self) noexcept nogil:
        # Done as well after an invalid reward, which only the engine can deliver and which then
        # raises, and if all rewards are equal: a rule for unknown variances would never stop.
        return (self.stopped or not isnan(self.refused) or self._varies_not()
                or 0 <= self.most < self.n_pulls + (self.n_chosen if self.begun else 1))

    cdef bint _varies_not(self) noexcept nogil:
        """Return True if a rule for unknown variances can never stop: all rewards are equal."""
        return self.has_rule and self.most < 0 and self.n_equal >= MOST_EQUAL

    cdef pb_batch _next(self) noexcept nogil:
        cdef pb_batch batch
        batch.arms, batch.counts, batch.first = &self.chosen[0], NULL, 0
        batch.n_arms = batch.n_pulls = self.pending
        if not self.begun:
            batch.arms, batch.counts, batch.n_arms = &self.arms[0], &self.counts[0], self.n_arms
        return batch

    cdef void _advance(self) noexcept nogil:
        cdef int64_t arm
        if self.begun:
            self._follow()
        else:
            self._plan_first()
            if not self.begun:
                return
            for arm in range(self.n_arms):
                self._look(arm)
            self.best = find_largest(&self.centres[0], self.n_arms)
            self._begin()
        self._go_on()

    cdef void _go_on(self) noexcept nogil:
        self.settled = False
        self.pending = self.n_chosen
        if not self.silence.has_all():
            self._conclude()
            self._choose()

    cdef void _conclude(self) noexcept nogil:
        """Apply the rule to the arms that answer; stop once silent arms are given up."""
        self._decide()
        self.settled = self.stopped and self.silence.n_aside > 0
        if self.settled:
            self.stopped = self.answered and self.silence.gave_up()

    cdef void _retried(self) noexcept nogil:
        if not self.begun:
            self._advance()
        elif self.answered:
            self._rejoin()
            # a silent arm answered; whether the others still do is not known
            self.answered = False
            self._go_on()

    cdef void _rejoin(self) noexcept nogil:
        self.best = find_largest(&self.centres[0], self.n_arms)

    cdef void _set_aside(self, int64_t arm) noexcept nogil:
        self.centres[arm] = -INFINITY

    cdef void _take_back(self, int64_t arm) noexcept nogil:
        if self.begun:
            self._measure(arm)

    cdef void _look(self, int64_t arm) noexcept nogil:
        if not self.silence.has(arm):
            self._measure(arm)

    cdef int64_t _another(self, int64_t arm) noexcept nogil:
        cdef int64_t other
        for other in range(self.n_arms):
            if other != arm and not self.silence.has(other):
                return other
        return arm

    cdef int64_t _least_rewards(self) noexcept nogil:
        return self.needed

    cdef int64_t _pulls_left(self) noexcept nogil:
        return INT64_MAX if self.most < 0 else self.most - self.n_pulls

    cdef void _decide(self) noexcept nogil:
        """Apply the rule: set `doubt` and `stopped`."""
        if self.silence.n_aside or self.glr.law == PB_GLR_UNKNOWN:
            self.doubt = self._find_doubt() if self.has_rule else -1
        elif self.bets:
            self.doubt = pb_wagers_doubt(&self.gains[0], &self._pulls[0], &self._sums[0],
                                         self.n_arms, self.slack, self.level, self.best,
                                         self.doubt)
        elif self.has_rule:
            self.doubt = pb_glr_doubt(&self.glr, &self._pulls[0], &self._sums[0],
                                      &self._deviations[0], self.n_arms, self.best, self.doubt,
                                      self.n_pulls)
        self.stopped = self.has_rule and self.doubt < 0

    cdef int64_t _find_doubt(self) noexcept nogil:
        """Return an arm that answers and that `best` is not declared better than, or -1."""
        cdef int64_t arm
        if self.doubt >= 0 and self._is_doubtful(self.doubt):
            return self.doubt
        for arm in range(self.n_arms):
            if self._is_doubtful(arm):
                return arm
        return -1

    cdef bint _is_doubtful(self, int64_t arm) noexcept nogil:
        return (arm != self.best and not self.silence.has(arm)
                and not self._tells(self.best, arm, False))

    cdef bint _tells(self, int64_t better, int64_t arm, bint strictly) noexcept nogil:
        cdef pb_glr rule = self.glr
        cdef pb_glr_arm high = self._arm(better), low = self._arm(arm)
        if self.bets:
            return pb_wagers_tell(&self.gains[0], &self._pulls[0], &self._sums[0],
                                  0.0 if strictly else self.slack, self.level, better, arm)
        rule.epsilon = 0.0 if strictly else rule.epsilon
        return pb_glr_tell(&rule, &high, &low, self.n_pulls)

    cdef void _begin(self) noexcept nogil:
        pass

    cdef void _follow(self) noexcept nogil:
        cdef int64_t j
        for j in range(self.n_chosen):
            self._look(self.chosen[j])
        self.best = find_largest(&self.centres[0], self.n_arms)

    cdef void _choose(self) noexcept nogil:
        pass

    cdef void _settle(self, const int64_t *arms, int64_t n) noexcept nogil:
        cdef int64_t j
        if self.begun:
            for j in range(n):
                self._look(arms[j])
            self.best = find_largest(&self.centres[0], self.n_arms)

    cdef pb_glr_arm _arm(self, int64_t arm) noexcept nogil:
        cdef pb_glr_arm seen = pb_glr_arm_of(self._pulls[arm], self._sums[arm],
                                             self._deviations[arm])
        # equal rewards of an arm; one reward has no variance, and decides nothing
        if (seen.variance == 0.0 and self.glr.law == PB_GLR_UNKNOWN and self.step < INFINITY
                and self._pulls[arm] > 1):
            seen.variance = self.step * self.step / 8.0
        return seen

    cdef double _upper_mean(self, int64_t arm, double level) noexcept nogil:
        level /= self._pulls[arm]
        if self.glr.law == PB_GLR_BERNOULLI:
            return pb_kl_upper(min(self.centres[arm], 1.0), level)
        if self.glr.law == PB_GLR_UNKNOWN:
            return self.centres[arm] + sqrt(self._arm(arm).variance * expm1(2.0 * level))
        return self.centres[arm] + sqrt(level / self.glr.precision)

    cdef void _measure(self, int64_t arm) noexcept nogil:
        self.centres[arm] = self._sums[arm] / self._pulls[arm]

    cdef void _plan_first(self) noexcept nogil:
        """Plan the first pulls that arms lack, within `max_pulls`, or set `begun`."""
        cdef int64_t arm, left = self.most - self.n_pulls
        self.pending = 0
        for arm in range(self.n_arms):
            self.counts[arm] = max(self.needed - self._pulls[arm], 0)
            if self.silence.has(arm):
                self.counts[arm] = 0
            if self.most >= 0:
                self.counts[arm] = min(self.counts[arm], left - self.pending)
            self.pending += self.counts[arm]
        # at `max_pulls` the policy asks for nothing, even if arms still lack pulls
        self.begun = self.pending == 0 and not self._is_done() and not self.silence.has_all()

    cdef int64_t _answer(self, int64_t *arms) noexcept nogil:
        return self._best_of(&self.arms[0], self.n_arms, self.k, arms)

    _answers = True

    def recommend(self):
        """Return the k arms of largest mean, best first; int64. May be called at any time."""
        with self.guard.reading():
            return self._best(np.arange(self.n_arms), self.k)

    cdef bint _forget(self) except -1:
        self.refused = self.last = NAN
        self.step, self.n_equal = INFINITY, 0
        np.asarray(self.gains)[:] = 0.0
        return True

    cdef _silent_flags(self):
        if not self.silence.counts:
            return np.zeros(self.n_arms, dtype=bool)
        return np.array(self.silence.aside, dtype=bool)

    cdef _finite_centres(self):
        """Return the centres of all arms, with 0 for silent arms."""
        return np.where(self._silent_flags(), 0.0, self.centres)

    cdef object _schema(self):
        return SEQUENTIAL

    cdef dict _sizes(self):
        return NativePolicy._sizes(self) | {
            "needed": self.needed, "most": MOST_PULLS if self.most < 0 else self.most,
            "n_chosen": self.n_chosen, "aside": self._silent_flags(),
            "has_rule": bool(self.has_rule),
            "n_gains": self.gains.size,
            "last_doubt": -1 if self.stopping is None else self.n_arms - 1}

    def _options(self):
        self.guard.check()
        return dict(n_arms=self.n_arms, max_pulls=self.max_pulls,
                    stopping=None if self.stopping is None else self.stopping.options())

    def _law_options(self):
        """Return the options of a policy that needs the law."""
        law, noise_std = (None, None) if self.stopping is not None else self.law
        return dict(law=law, noise_std=noise_std if law == "gaussian" else None)

    def _get_progress(self):
        self.guard.check()
        return {"begun": bool(self.begun), "stopped": bool(self.stopped), "doubt": self.doubt,
                "leader": self.best, "chosen": np.array(self.chosen[:self.n_chosen]),
                "counts": np.array(self.counts), "centres": self._finite_centres(),
                "gains": np.array(self.gains), "step": self.step, "last": self.last,
                "n_equal": self.n_equal}

    def _set_progress(self, progress):
        super()._set_progress(progress)
        self.begun, self.stopped = progress["begun"], progress["stopped"]
        self.best, self.doubt = progress["leader"], progress["doubt"]
        np.asarray(self.chosen)[:self.n_chosen] = progress["chosen"]
        np.asarray(self.counts)[:] = progress["counts"]
        np.asarray(self.centres)[:] = np.where(self._silent_flags(), -np.inf, progress["centres"])
        np.asarray(self.gains)[:] = progress["gains"]
        self.step, self.last = progress["step"], progress["last"]
        self.n_equal = progress["n_equal"]
        self.pending = self.n_chosen if self.begun else np.sum(self.counts)


# names of a rule's options in a saved state
STATED = set(GLR().options())


def as_rule(stopping):
    """Return a GLR, a Betting or None, also from the dict in a saved state."""
    if stopping is None or isinstance(stopping, (GLR, Betting)):
        return stopping
    if isinstance(stopping, dict) and set(stopping) <= STATED:
        given = dict(stopping)
        if given.get("law") != "bounded":
            return GLR(**given)
        del given["law"]
        return Betting(**given)
    raise TypeError("stopping must be a pybandit.stopping.GLR, a pybandit.stopping.Betting or "
                    f"None; got {shown(stopping)}")


cdef int64_t find_largest(const double *values, int64_t n) noexcept nogil:
    return pb_scan_position(values, n, pb_scan_largest(values, n), -1)


cdef int64_t find_least(const double *values, int64_t n) noexcept nogil:
    return pb_scan_position(values, n, pb_scan_least(values, n), -1)
