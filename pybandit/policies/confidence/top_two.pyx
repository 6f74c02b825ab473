# cython: auto_pickle=False
"""The best arm by pulling either a leader or a challenger.

Russo, Simple Bayesian algorithms for best-arm identification, Operations Research 2020; Shang et
al., Fixed-confidence guarantees for Bayesian best-arm identification, AISTATS 2020; Jourdan et
al., Top two algorithms revisited, NeurIPS 2022; Jourdan and Degenne, Non-asymptotic analysis of
a UCB-based top two algorithm, NeurIPS 2023; You, Qin, Wang and Yang, Information-directed
selection for top-two algorithms, COLT 2023.
"""

import numpy as np

from pybandit._shared.checks import check_choice, check_scalar
from pybandit._shared.generators import private_generator, restore_stream, stream_state
from pybandit.policies.confidence._states import TOP_TWO, TOP_TWO_DRAWN
from pybandit.policies.stopping._sequential import as_rule

from libc.math cimport INFINITY, log, sqrt
from libc.stdint cimport int64_t
from numpy.random cimport bitgen_t
from numpy.random.c_distributions cimport (
    random_beta, random_standard_gamma, random_standard_normal, random_standard_t,
    random_standard_uniform,
)

from pybandit._shared.bits cimport bitgen_of
from pybandit.policies._csrc cimport (
    PB_GLR_BERNOULLI, PB_GLR_GAUSSIAN, PB_GLR_POISSON, PB_GLR_UNKNOWN, PB_THOMPSON_FEW,
    pb_glr_arm, pb_glr_cost, pb_glr_meeting, pb_glr_rival, pb_glr_rivals, pb_glr_statistic,
    pb_kl_bounds, pb_kl_bounds_choose, pb_kl_bounds_set, pb_scan_index, pb_thompson_chances,
)
from pybandit.policies.confidence._posterior cimport Posterior
from pybandit.policies.stopping._sequential cimport SequentialPolicy, find_largest, find_least

__all__ = ["TopTwo"]

cdef enum:
    THOMPSON, EMPIRICAL, UCB

cdef enum:
    BY_COST, IMPROVED, BY_DRAWS
    MOST_DRAWS = 1000

LEADERS = ("thompson", "empirical", "ucb")
CHALLENGERS = ("cost", "cost-improved", "thompson")


cdef class TopTwo(SequentialPolicy):
    """Pulls the likely best arm, or the arm that is hardest to distinguish from it.

    First each arm is pulled once (twice for unknown variances). Then, before each pull, a leader
    B and a challenger C are chosen; B is pulled with probability beta, otherwise C. Names in the
    literature:

    ========= ============== ================ ================================
    name      leader         challenger       paper
    ========= ============== ================ ================================
    TTTS      thompson       thompson         Russo 2020
    T3C       thompson       cost             Shang et al. 2020
    EB-TC     empirical      cost             Jourdan et al. 2022
    EB-TCI    empirical      cost-improved    Jourdan et al. 2022
    TTUCB     ucb            cost             Jourdan and Degenne 2023
    ========= ============== ================ ================================

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    stopping : GLR or Betting, optional
        Rule of `pybandit.stopping`, whose law is that of the rewards. With `Betting`, pulls are
        chosen as if rewards were 0 or 1; if they vary less, ``leader="ucb"`` needs fewer
        pulls.
    law : {"gaussian", "bernoulli", "poisson", "gaussian-unknown"}, optional
        Distribution of the rewards, only without `stopping`; ``"gaussian"`` by default.
    noise_std : float, optional
        Standard deviation of Gaussian rewards, only without `stopping`; 1 by default.
    leader : {"thompson", "empirical", "ucb"}
        The leader is the arm of the largest value. ``"thompson"``: a mean drawn from the arm's
        posterior. The prior is flat for a Gaussian mean and for the logarithm of an unknown
        variance (the mean then has a Student's t posterior), ``Beta(1, 1)`` for law
        ``"bernoulli"`` and ``Gamma(1/2, 0)`` for ``"poisson"``. ``"empirical"``: the mean so far.
        ``"ucb"``: the upper bound with ``N_k d(mean_k, bound_k) = 2 log t``, not for law
        ``"poisson"``.
    challenger : {"cost", "cost-improved", "thompson"}
        ``"cost"``: the arm of the least Z(B, k), see `pybandit.stopping.GLR`.
        ``"cost-improved"``: the arm of the least ``Z(B, k) + log N_k``. ``"thompson"``: repeated
        draws from the posteriors until the best arm is not B, or after 1,000 draws the arm of the
        least Z; slow late in a run.
    beta : float or "ids"
        In (0, 1). ``"ids"``: ``N_B d(mean_B, m) / Z(B, C)``, where m is the common mean in Z. For
        law ``"gaussian"`` this is ``N_C / (N_B + N_C)`` (You et al. 2023). It adapts to the
        optimal share, without a share chosen beforehand.
    max_pulls : int, optional
        Pulls after which the policy is `done`; at least K (2 K for unknown variances). With neither
        `max_pulls` nor `stopping` it never ends.
    rng : None, int, SeedSequence or Generator
        Seeds the policy's own stream.

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
        If an argument is outside its range; `InfeasibleBudgetError` if `max_pulls` does not cover
        the first pulls. `tell` raises if a reward is outside the range of the law.

    See Also
    --------
    EBTC, TrackAndStop : other policies whose shares of pulls become optimal.
    stopping.GLR : the stopping rule.

    Notes
    -----
    The guarantee is that of the stopping rule, whichever arms are pulled. As delta goes to 0, the
    mean number of pulls is asymptotically optimal with ``beta="ids"`` and Gaussian rewards, and at
    most twice the optimum with beta = 1/2 (these papers). Ties go to the lowest index. Arms that
    lost their first pulls are asked again before any other. O(K) per pull.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> policy = pb.policies.TopTwo(4, stopping=pb.stopping.GLR(delta=0.05, noise_std=0.5), rng=1)
    >>> rng, means = np.random.default_rng(2), np.array([0.1, 0.9, 0.4, 0.2])
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, means[arms] + 0.5 * rng.standard_normal(arms.size))
    >>> policy.recommend(), policy.decided
    (array([1]), True)
    """

    cdef object names                     # of leader and challenger
    cdef int leads, challenges            # their positions in LEADERS and CHALLENGERS
    cdef double share                     # beta; -1 for "ids"
    cdef double[::1] indices              # scratch
    # numbers of rewards, and their logarithms; Gaussian rewards: 1 / std of the posterior mean,
    # 1 / roots of the numbers, and zeros
    cdef double[::1] weights, logs, widths, roots, slopes
    cdef Posterior posterior              # of many Gaussian or Bernoulli means; None: of few
    cdef pb_glr_rivals rivals
    cdef pb_kl_bounds uppers              # for Bernoulli rewards and leader "ucb"
    cdef double[:, ::1] memory            # of uppers
    cdef unsigned char[::1] skipped       # silent arms
    cdef object generator                 # private: no other code can hold its lock
    cdef bitgen_t *bitgen
    cdef bint rng_given

    def __init__(self, n_arms, *, stopping=None, law=None, noise_std=None, leader="thompson",
                 challenger="cost", beta=0.5, max_pulls=None, rng=None):
        stopping = as_rule(stopping)
        known = stopping.law if stopping else law
        # Student's t has n - 1 degrees of freedom
        needed = 1 + (isinstance(known, str) and known == "gaussian-unknown")
        super().__init__(n_arms, 1, stopping, max_pulls, needed, 1)
        self._take_law(law, noise_std)
        self.names = (check_choice("leader", leader, LEADERS),
                      check_choice("challenger", challenger, CHALLENGERS))
        self.leads, self.challenges = LEADERS.index(leader), CHALLENGERS.index(challenger)
        if self.leads == UCB and self.glr.law == PB_GLR_POISSON:
            raise ValueError("leader must be 'thompson' or 'empirical' for law='poisson'; got "
                             "'ucb'")
        self.share = -1.0
        if not (isinstance(beta, str) and beta == "ids"):
            self.share = check_scalar("beta", beta, "in (0, 1), or 'ids'",
                                      lambda x: (x > 0) & (x < 1))
        self.indices = np.zeros(self.n_arms)
        self.weights, self.logs, self.widths, self.roots = np.ones((4, self.n_arms))
        self.slopes = np.zeros(self.n_arms)
        self._lay_out()
        if (self.leads == THOMPSON or self.challenges == BY_DRAWS) and (
                self.n_arms > PB_THOMPSON_FEW):
            if self.glr.law == PB_GLR_GAUSSIAN:
                self.posterior = Posterior(self.n_arms, sqrt(0.5 / self.glr.precision))
            elif self.glr.law == PB_GLR_BERNOULLI:
                self.posterior = Posterior(self.n_arms)
        self.rng_given = rng is not None
        self._start_stream(rng)
        self._made(TopTwo)

    @property
    def leader(self):
        """The rule that chooses the leader."""
        return self.names[0]

    @property
    def challenger(self):
        """The rule that chooses the challenger."""
        return self.names[1]

    @property
    def beta(self):
        """The leader's share of pulls, or "ids"."""
        return "ids" if self.share < 0.0 else self.share

    cdef _lay_out(self):
        """Set the structures of the kernels."""
        self.rivals.n, self.rivals.means = self.n_arms, &self.centres[0]
        self.rivals.counts, self.rivals.memory = &self.weights[0], &self.indices[0]
        self.rivals.extra = &self.logs[0] if self.challenges == IMPROVED else NULL
        self.memory = np.zeros((5, self.n_arms))
        self.skipped = np.zeros(self.n_arms, dtype=np.uint8)
        self.uppers.n, self.uppers.means = self.n_arms, &self.memory[0, 0]
        self.uppers.pulls, self.uppers.bases = &self.memory[1, 0], &self.memory[2, 0]
        self.uppers.slopes, self.uppers.tangents = &self.memory[3, 0], &self.memory[4, 0]

    cdef void _measure(self, int64_t arm) noexcept nogil:
        cdef double n = self._pulls[arm]
        SequentialPolicy._measure(self, arm)
        self.weights[arm] = n
        if self.challenges == IMPROVED:
            self.logs[arm] = log(n)
        if self.posterior is not None:
            self.posterior.count(arm, n, self._sums[arm])
        if self.glr.law == PB_GLR_GAUSSIAN:
            self.widths[arm] = sqrt(2.0 * self.glr.precision * n)
            self.roots[arm] = 1.0 / sqrt(n)
        elif self.leads == UCB and self.glr.law == PB_GLR_BERNOULLI:
            # the engine may have received a reward outside [0, 1]; it reports it at the end
            pb_kl_bounds_set(&self.uppers, arm, min(max(self.centres[arm], 0.0), 1.0), n)

    cdef int _make_silence(self) except -1:
        SequentialPolicy._make_silence(self)
        if self.posterior is not None:
            self.posterior.set_aside_flags(&self.silence.aside[0])
        return 0

    cdef void _set_aside(self, int64_t arm) noexcept nogil:
        SequentialPolicy._set_aside(self, arm)
        if self.posterior is not None:
            self.posterior.look(arm)

    cdef void _take_back(self, int64_t arm) noexcept nogil:
        SequentialPolicy._take_back(self, arm)
        if self.posterior is not None:
            self.posterior.look(arm)

    cdef int _resume(self) except -1:
        cdef int64_t arm
        if self.begun:
            for arm in range(self.n_arms):
                self._look(arm)
        return 0

    cdef _start_stream(self, rng):
        self.generator = private_generator(rng)
        self.bitgen = <bitgen_t *>bitgen_of(self.generator)

    def seed(self, rng):
        """Replace the policy's stream, unless `rng` was given or pulls were made."""
        with self.guard:
            if not self.rng_given and not self.n_pulls:
                self._start_stream(rng)

    cdef bint _takes_stream(self) noexcept:
        return not self.rng_given

    cdef int _take_stream(self, state) except -1:
        self.generator.bit_generator.state = state
        return 0

    def _options(self):
        return super()._options() | self._law_options() | dict(
            leader=self.leader, challenger=self.challenger, beta=self.beta)

    cdef void _choose(self) noexcept nogil:
        cdef int64_t best, other
        cdef double share = self.share
        if self._another(self.best) == self.best:
            self.chosen[0] = self.best
            return
        best = self._find_leader()
        other = self._find_challenger(best)
        if share < 0.0:
            share = self._split(best, other)
        self.chosen[0] = best if random_standard_uniform(self.bitgen) < share else other

    cdef int64_t _find_leader(self) noexcept nogil:
        if self.leads == THOMPSON:
            return self._draw_best()
        if self.leads == EMPIRICAL:
            return self.best
        return self._find_upper(2.0 * log(<double>self.n_pulls))

    cdef int64_t _find_upper(self, double level) noexcept nogil:
        """Return the arm of the largest upper bound."""
        cdef double *indices = &self.indices[0]
        cdef double bound
        cdef int64_t arm
        if self.glr.law == PB_GLR_BERNOULLI and level > 0.0:
            for arm in range(self.n_arms):
                self.skipped[arm] = self.silence.n_aside and self.silence.has(arm)
            return pb_kl_bounds_choose(&self.uppers, level, &self.skipped[0], &bound)
        if self.glr.law == PB_GLR_GAUSSIAN:
            # the centre of a silent arm is -infinity
            return pb_scan_index(&self.centres[0], &self.roots[0], &self.slopes[0],
                                 level / self.glr.precision, 0.0, self.n_arms, indices)
        else:
            for arm in range(self.n_arms):
                indices[arm] = -INFINITY
                if not self.silence.has(arm):
                    indices[arm] = self._upper_mean(arm, level)
        return find_largest(indices, self.n_arms)

    cdef int64_t _draw_best(self) noexcept nogil:
        """Return the arm of the largest mean drawn from its posterior."""
        cdef int64_t arm
        if self.posterior is not None:
            return self.posterior.choose(self.bitgen)
        if self.glr.law == PB_GLR_GAUSSIAN:
            return self._draw_best_gaussian()
        for arm in range(self.n_arms):
            self.indices[arm] = -INFINITY if self.silence.has(arm) else self._draw(arm)
        return find_largest(&self.indices[0], self.n_arms)

    cdef int64_t _draw_best_gaussian(self) noexcept nogil:
        """Draw the normals first, so that the rest is a loop without calls."""
        cdef double *draws = &self.indices[0]
        cdef const double *centres = &self.centres[0]
        cdef const double *widths = &self.widths[0]
        cdef int64_t arm
        for arm in range(self.n_arms):
            draws[arm] = 0.0
            if not (self.silence.n_aside and self.silence.has(arm)):
                draws[arm] = random_standard_normal(self.bitgen)
        # the centre of a silent arm is -infinity
        for arm in range(self.n_arms):
            draws[arm] = centres[arm] + draws[arm] / widths[arm]
        return find_largest(draws, self.n_arms)

    cdef double _draw(self, int64_t arm) noexcept nogil:
        cdef double n = self._pulls[arm], gained = self._sums[arm]
        if self.glr.law == PB_GLR_UNKNOWN:
            return self.centres[arm] + random_standard_t(self.bitgen, n - 1.0) * sqrt(
                self._arm(arm).variance / (n - 1.0))
        if self.glr.law == PB_GLR_BERNOULLI:
            # the sum may exceed n by rounding: keep the parameter at least 1
            return random_beta(self.bitgen, 1.0 + gained, max(1.0 + n - gained, 1.0))
        return random_standard_gamma(self.bitgen, 0.5 + gained) / n

    cdef int64_t _find_challenger(self, int64_t best) noexcept nogil:
        cdef int64_t arm, _
        cdef pb_glr_arm leader = self._arm(best), rival
        if self.challenges == BY_DRAWS:
            for _ in range(MOST_DRAWS):
                arm = self._draw_best()
                if arm != best:
                    return arm
        if self.glr.law == PB_GLR_GAUSSIAN or self.glr.law == PB_GLR_BERNOULLI:
            arm = pb_glr_rival(&self.glr, &self.rivals, best)
            return self._another(best) if arm == best else arm
        for arm in range(self.n_arms):
            if self.silence.has(arm):
                self.indices[arm] = INFINITY
                continue
            rival = self._arm(arm)
            self.indices[arm] = pb_glr_statistic(&self.glr, &leader, &rival)
            if self.challenges == IMPROVED:
                self.indices[arm] += log(rival.n)
        self.indices[best] = INFINITY
        arm = find_least(&self.indices[0], self.n_arms)
        # if all Z are infinite, take any other arm
        return self._another(best) if arm == best or self.silence.has(arm) else arm

    cdef double _split(self, int64_t best, int64_t other) noexcept nogil:
        """Return the leader's fraction of Z, the probability of pulling it if beta is "ids"."""
        cdef pb_glr_arm leader = self._arm(best), rival = self._arm(other)
        cdef double both, own, others
        if leader.mean <= rival.mean:
            return 0.5
        both = pb_glr_meeting(&self.glr, &leader, &rival)
        own = pb_glr_cost(&self.glr, &leader, both)
        others = pb_glr_cost(&self.glr, &rival, both + self.glr.epsilon)
        return own / (own + others) if 0.0 < own + others < INFINITY else 0.5

    cdef object _schema(self):
        return TOP_TWO if self.posterior is None else TOP_TWO_DRAWN

    cdef dict _sizes(self):
        return SequentialPolicy._sizes(self) | {
            "is_gaussian": self.glr.law == PB_GLR_GAUSSIAN,
            "n_chances": pb_thompson_chances(self.n_arms)}

    def _get_progress(self):
        drawn = {} if self.posterior is None else self.posterior.get_progress()
        return super()._get_progress() | drawn | {
            "rng_given": bool(self.rng_given), "stream": stream_state(self.generator)}

    def _set_progress(self, progress):
        super()._set_progress(progress)
        if self.posterior is not None:
            self.posterior.set_progress(progress)
        self.rng_given = progress["rng_given"]
        restore_stream(self.generator, progress["stream"])
