# cython: auto_pickle=False
"""The k best arms on few plates: every arm once, then the least certain ones."""

import numpy as np

from pybandit._shared.checks import MOST_PULLS, check_flag, check_in, check_positive
from pybandit._shared.errors import InfeasibleBudgetError
from pybandit.policies.batch._states import BATCH_SCREENING
from pybandit.policies.batch.batch import check_batches

cimport numpy as cnp
from libc.stdint cimport int64_t

from pybandit.policies.batch._batch cimport _BatchPolicy
from pybandit.policies._csrc cimport (
    pb_batch, pb_normal_means, pb_normal_means_fit, pb_ranked, pb_screening, pb_screening_choose,
    pb_screening_levels, pb_screening_list, pb_screening_near, pb_seen,
)

cnp.import_array()

__all__ = ["BatchScreening"]


cdef class BatchScreening(_BatchPolicy):
    """Measures every arm once, then those whose place in the best k is least clear; for few plates.

    Each batch first takes the arms without a result. The remaining wells go to the arms for which
    it is least clear whether they are among the k best. Means are modelled as normal, with normal
    noise; both spreads are estimated from quartiles and replicates after every batch. All wells to
    come are planned at once, each for the arm with the largest expected gain. The batch is its
    share of that plan: many arms if noise is large or many batches are left, few arms otherwise.
    Two precautions keep outliers from deciding: until an arm has five results it is not taken to be
    clearly among the best, and no batch except the last uses more wells on an arm than it has
    results.

    A heuristic without a guarantee; docs/batches.md compares it with other policies.

    Parameters
    ----------
    n_arms, k, batch_size, max_batches, max_repeats
        As in `RoundRobin`.
    prior_means : array_like of float, shape (n_arms,), optional
        Prior scores of the arms, on any scale: only their ranks count. Arms are first measured in
        decreasing order of score, and scores influence the estimates as far as results support
        them. By default arms are measured in index order.
    noise_std : float, optional
        Standard deviation of a reward, for example from controls; it has the weight of eight
        replicates. By default the noise is assumed as large as the differences between arms until
        there are replicates.
    allow_unmeasured : bool, default False
        If True, `max_batches` may be too small to measure every arm once.

    Attributes
    ----------
    done, n_pulls, n_batches, pulls, means, variances, survivors
        As in `RoundRobin`; no arm is eliminated.
    unmeasured : ndarray of int64

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` if `max_batches`
        is below ``ceil(n_arms / batch_size)``, unless `allow_unmeasured` is True.

    See Also
    --------
    BatchSAR : more batches, with a bound on the error.
    BatchHalving, RoundRobin : simpler rules that find fewer of the best.

    Notes
    -----
    O(n) per batch, plus O(log(r B)) for each of ``max(b, min(4 b, 16384))`` arms. An arm whose
    well was lost is measured in the next batch, if there is one. If k is 0 or n_arms, no
    pulls are requested.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> rng = np.random.default_rng(1)
    >>> means = rng.normal(size=2000)
    >>> policy = pb.policies.BatchScreening(2000, 20, batch_size=384, max_batches=12)
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, rng.normal(means[arms], 0.3))
    >>> int(np.isin(policy.recommend(), np.argsort(-means)[:20]).sum())
    20
    """

    cdef readonly int64_t max_batches
    cdef readonly object noise_std
    cdef readonly bint allow_unmeasured
    cdef object _prior_means
    cdef pb_screening screen
    cdef pb_seen seen

    def __cinit__(self):
        self._wants_rewards = True

    def __init__(self, n_arms, k=1, *, batch_size, max_batches, max_repeats=None,
                 prior_means=None, noise_std=None, allow_unmeasured=False):
        super().__init__(n_arms, k, batch_size, max_repeats)
        self.max_batches = check_batches(max_batches, self.batch_size, MOST_PULLS)
        self.allow_unmeasured = check_flag("allow_unmeasured", allow_unmeasured)
        if noise_std is not None:
            self.noise_std = check_positive("noise_std", noise_std)
        if prior_means is not None:
            self._prior_means = self._checked_prior(prior_means)
        least = -(-<object>self.n_arms // self.batch_size)
        if self.max_batches < least and not self.allow_unmeasured:
            raise InfeasibleBudgetError(
                f"max_batches must be at least {least} to measure each of {self.n_arms} arms once "
                f"in batches of {self.batch_size}; got {self.max_batches}. Use more batches, or "
                "pass allow_unmeasured=True")
        self._make_room()
        if 0 < self.k < self.n_arms:
            pb_screening_choose(&self.screen, &self.seen, self.max_batches)
        self._made(BatchScreening)

    def _checked_prior(self, prior_means):
        prior = check_in("prior_means", prior_means, "finite", np.isfinite)
        if prior.shape != (self.n_arms,):
            raise ValueError(f"prior_means must have shape ({self.n_arms},); got {prior.shape}")
        return prior

    cdef int _make_room(self) except -1:
        cdef int64_t n = self.n_arms, size
        cdef pb_screening *screen = &self.screen
        screen.k, screen.size, screen.repeats = self.k, self.batch_size, self.max_repeats
        screen.belief.n = n
        screen.belief.noise = 0.0 if self.noise_std is None else self.noise_std
        screen.belief.means = <double *>self._scratch(n * sizeof(double))
        screen.belief.variances = <double *>self._scratch(n * sizeof(double))
        screen.belief.keys = <double *>self._scratch(n * sizeof(double))
        screen.belief.line = <int64_t *>self._scratch(n * sizeof(int64_t))
        screen.belief.ranked = <pb_ranked *>self._scratch(2 * n * sizeof(pb_ranked))
        screen.planned = <int64_t *>self._scratch(n * sizeof(int64_t))
        screen.limits = <int64_t *>self._scratch(n * sizeof(int64_t))
        screen.chosen = <int64_t *>self._scratch(n * sizeof(int64_t))
        screen.wells = <int64_t *>self._scratch(n * sizeof(int64_t))
        screen.counts = <int64_t *>self._allocate("counts", n, np.int64)
        size = pb_screening_near(n, self.batch_size) * pb_screening_levels(
            self.max_repeats * self.max_batches)
        screen.slopes = <double *>self._scratch(size * sizeof(double))
        screen.ends = <double *>self._scratch(size * sizeof(double))
        screen.order = <const int64_t *>self._kept(np.arange(n, dtype=np.int64))
        if self._prior_means is not None:
            screen.order = <const int64_t *>self._kept(
                np.argsort(-self._prior_means, kind="stable").astype(np.int64))
            screen.belief.prior = <const double *>self._kept(normal_scores(self._prior_means))
        self.seen.pulls, self.seen.sums = &self._pulls[0], &self._sums[0]
        self.seen.deviations = &self._deviations[0]
        return 0

    cdef void *_kept(self, cnp.ndarray array):
        self.scratch.append(array)
        return cnp.PyArray_DATA(array)

    def _options(self):
        prior = None if self._prior_means is None else self._prior_means.copy()
        return dict(n_arms=self.n_arms, k=self.k, batch_size=self.batch_size,
                    max_batches=self.max_batches, max_repeats=self.max_repeats, prior_means=prior,
                    noise_std=self.noise_std, allow_unmeasured=self.allow_unmeasured)

    @property
    def prior_means(self):
        """Prior scores of the arms; float64, a copy, or None."""
        self.guard.check()
        return None if self._prior_means is None else self._prior_means.copy()

    @property
    def unmeasured(self):
        """Arms without a result so far, increasing; int64."""
        with self.guard.reading():
            return np.flatnonzero(np.asarray(self._pulls) == 0)

    cdef bint _is_done(self) noexcept nogil:
        return not 0 < self.k < self.n_arms or self.n_batches >= self.max_batches

    cdef pb_batch _next(self) noexcept nogil:
        cdef pb_batch batch
        batch.arms, batch.n_arms, batch.first = self.screen.chosen, self.screen.n_chosen, 0
        batch.n_pulls, batch.counts = self.batch_size, self.screen.wells
        return batch

    cdef void _advance(self) noexcept nogil:
        if not self._is_done():
            pb_screening_choose(&self.screen, &self.seen, self.max_batches - self.n_batches)

    cdef object _schema(self):
        return BATCH_SCREENING

    cdef dict _sizes(self):
        return _BatchPolicy._sizes(self) | {"max_batches": self.max_batches,
                                            "max_repeats": self.max_repeats}

    cdef int _resume(self) except -1:
        pb_screening_list(&self.screen)
        return 0

    def recommend(self):
        """Return the k arms of largest estimated mean, best first; int64.

        An estimate from few results is shrunk towards the others, so that one high result does
        not outrank many that are nearly as high. Arms without a result are included only if fewer
        than k arms have one, and come last.
        """
        cdef pb_normal_means fit = self.screen.belief
        with self.guard.reading():
            pulls = np.asarray(self._pulls)
            means, variances, keys = np.zeros((3, self.n_arms))
            line, ranked = np.zeros((2, 4 * self.n_arms), dtype=np.int64)
            fit.means = <double *>cnp.PyArray_DATA(means)
            fit.variances = <double *>cnp.PyArray_DATA(variances)
            fit.keys = <double *>cnp.PyArray_DATA(keys)
            fit.line = <int64_t *>cnp.PyArray_DATA(line)
            fit.ranked = <pb_ranked *>cnp.PyArray_DATA(ranked)
            pb_normal_means_fit(&fit, &self.seen)
            order = np.lexsort((np.arange(self.n_arms), -means, pulls == 0))
            return order[:self.k].astype(np.int64)


def normal_scores(values):
    """Return standard normal quantiles at the ranks of values; ties get their mean rank."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    return ndtri((rankdata(values) - 0.5) / values.size)
