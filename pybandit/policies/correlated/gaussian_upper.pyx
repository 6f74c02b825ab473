# cython: auto_pickle=False
"""Policies that pull the correlated arm of the largest upper bound, updating few other arms.

In weight form the mean and variance of an arm are computed only if its bound may be the largest,
or if they are read. This does not affect which arms are pulled.
"""

import numpy as np

from pybandit._shared.checks import check_delta

from libc.math cimport M_PI, log, sqrt
from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport pb_bounds_normal_tail_inverse
from pybandit.policies._csrc cimport (
    pb_gaussian_lazy_begin, pb_gaussian_lazy_largest, pb_gaussian_lazy_refresh,
    pb_gaussian_lazy_refresh_all, pb_gaussian_lazy_size, pb_gaussian_lazy_update,
    pb_gaussian_scores_upper,
)
from pybandit.policies.correlated._gaussian cimport _GaussianPolicy

__all__ = ["BayesUCB", "GPUCB"]


cdef class _UpperPolicy(_GaussianPolicy):

    cdef _prior_changed(self):
        cdef int64_t n = self.n_arms, d = self.posterior.n_features
        self.is_lazy = self.posterior.features != NULL
        if not self.is_lazy:
            return
        self.lines = np.empty(pb_gaussian_lazy_size(n, d))
        self.made = np.empty(n, dtype=np.int64)
        self.lazy.gaussian, self.lazy.norms = &self.posterior, &self.norms[0]
        self.lazy.prior_variance = self.prior_std**2
        self.lazy.memory, self.lazy.made = &self.lines[0], &self.made[0]
        pb_gaussian_lazy_begin(&self.lazy, 0)

    cdef int _resume(self) except -1:
        if self.is_lazy:
            pb_gaussian_lazy_begin(&self.lazy, np.sum(self._pulls))
        return 0

    cdef void _meet_all(self) noexcept nogil:
        if self.is_lazy:
            pb_gaussian_lazy_refresh_all(&self.lazy)

    cdef void _meet(self, int64_t arm) noexcept nogil:
        if self.is_lazy:
            pb_gaussian_lazy_refresh(&self.lazy, arm)

    cdef void _update(self, int64_t arm, double reward) noexcept nogil:
        if self.is_lazy:
            pb_gaussian_lazy_update(&self.lazy, arm, reward, self.noise_variance)
        else:
            _GaussianPolicy._update(self, arm, reward)

    cdef int64_t _largest(self, double factor) noexcept nogil:
        if self.is_lazy and not self.silence.n_aside:
            return pb_gaussian_lazy_largest(&self.lazy, factor)
        self._meet_all()
        self._gather(&self.arm_means[0], &self.arm_variances[0])
        return self._gathered(pb_gaussian_scores_upper(self.means_of, self.spreads_of, self.n_of,
                                                       factor, &self.scratch[0]))

    def recommend(self):
        """Return the arm of the largest posterior mean, int64 of shape (1,)."""
        with self.guard.reading():
            return np.array([self._largest(0.0)], dtype=np.int64)


cdef class GPUCB(_UpperPolicy):
    """Pulls the arm of the largest upper bound of the posterior.

    Srinivas, Krause, Kakade and Seeger 2010, in the form of Hoffman et al. 2014:
    ``mean_k + sqrt(2 log(K t^2 pi^2 / (6 delta))) std_k`` in round t. The arm of the largest
    posterior mean is recommended. Ties go to the lowest index.

    Parameters
    ----------
    n_arms, budget, noise_std, kernel, features, prior_std, noise_prior, refit_every
        As in `BayesGap`.
    delta : float, default 0.05
        delta in the formula above, in (0, 1). Smaller values explore more.

    Raises
    ------
    ValueError, TypeError
        As in `BayesGap`.

    See Also
    --------
    BayesGap : a rule for finding the best arm.
    BayesUCB, GaussianThompson : other rules.

    Notes
    -----
    As in `BayesGap`. Among these rules it errs least on functions drawn from the prior.

    With features, an arm is updated only if its bound may be the largest. Since its last update its
    variance has not grown, and its mean has moved by at most its std at that time, times the sum
    of ``std_a |r - mean_a| / (std_a^2 + sigma^2)`` over the rewards r of the pulled arms a. This
    does not affect which arm is pulled. Reading the posterior updates all arms, in O(K d^2) at
    most.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> policy = pb.policies.GPUCB(6, budget=20, features=np.eye(6)[:, :5] + 0.1, noise_std=0.1)
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, np.array([0.1, 0.9, 0.8, 0.2, 0.1, 0.1])[arms])
    >>> policy.recommend()
    array([1])
    """

    cdef readonly double delta

    def __init__(self, n_arms, *, budget, noise_std, kernel=None, features=None, prior_std=1.0,
                 delta=0.05, noise_prior=(1.0, 1.0), refit_every=None):
        super().__init__(n_arms, budget, kernel, features, noise_std, prior_std, noise_prior,
                         refit_every)
        self.delta = check_delta(delta)
        self._advance()
        self._made(GPUCB)

    def _options(self):
        return dict(super()._options(), delta=self.delta)

    cdef int64_t _choose(self) noexcept nogil:
        cdef double t = self.n_pulls + 1
        cdef double level = log(self.n_arms * t * t * M_PI * M_PI / (6.0 * self.delta))
        return self._largest(self._scale() * sqrt(2.0 * level))


cdef class BayesUCB(_UpperPolicy):
    """Pulls the arm of the largest quantile of its posterior.

    Kaufmann, Cappe and Garivier 2012: the quantile 1 - 1 / (t + 1) in round t, of the normal
    distribution with the posterior mean and std, even if the noise is unknown. The arm of the
    largest posterior mean is recommended. Ties go to the lowest index.

    Parameters
    ----------
    n_arms, budget, noise_std, kernel, features, prior_std, noise_prior, refit_every
        As in `BayesGap`.

    Raises
    ------
    ValueError, TypeError
        As in `BayesGap`.

    See Also
    --------
    BayesGap : a rule for finding the best arm.
    GPUCB, GaussianThompson : other rules.

    Notes
    -----
    With features, arms are updated as in `GPUCB`.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> x = np.linspace(0.0, 10.0, 100)
    >>> means, rng = np.sin(x), np.random.default_rng(1)
    >>> policy = pb.policies.BayesUCB(100, budget=40, kernel=np.exp(-((x[:, None] - x) ** 2)),
    ...                               noise_std=0.1)
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, rng.normal(means[arms], 0.1))
    >>> x[policy.recommend()].round(2)
    array([7.88])
    """

    def __init__(self, n_arms, *, budget, noise_std, kernel=None, features=None, prior_std=1.0,
                 noise_prior=(1.0, 1.0), refit_every=None):
        super().__init__(n_arms, budget, kernel, features, noise_std, prior_std, noise_prior,
                         refit_every)
        self._advance()
        self._made(BayesUCB)

    cdef int64_t _choose(self) noexcept nogil:
        cdef double quantile = pb_bounds_normal_tail_inverse(1.0 / (self.n_pulls + 2.0))
        return self._largest(self._scale() * quantile)
