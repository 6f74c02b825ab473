# cython: auto_pickle=False
"""Expected and probable improvement over the best of correlated arms; compare `BayesGap`."""

from pybandit._shared.checks import check_scalar, nonnegative

from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport pb_gaussian_scores_expected, pb_gaussian_scores_probable
from pybandit.policies.correlated._gaussian cimport _GaussianPolicy

__all__ = ["ExpectedImprovement", "ProbabilityOfImprovement"]


cdef class _Improvement(_GaussianPolicy):
    """A policy that compares arms with the largest posterior mean plus xi."""

    cdef readonly double xi

    def __init__(self, n_arms, budget, kernel, features, noise_std, prior_std, noise_prior,
                 refit_every, xi):
        super().__init__(n_arms, budget, kernel, features, noise_std, prior_std, noise_prior,
                         refit_every)
        self.xi = check_scalar("xi", xi, "finite and at least 0", nonnegative)
        self._advance()

    def _options(self):
        return dict(super()._options(), xi=self.xi)


cdef class ExpectedImprovement(_Improvement):
    """Pulls the arm of the largest expected improvement over the largest posterior mean.

    The improvement is ``E max(f_k - max_i mean_i - xi, 0)`` over the posterior of f_k; the arm of
    the largest posterior mean is recommended. Ties go to the lowest index. The policy may get
    stuck: it does not pull arms that it considers known.

    Parameters
    ----------
    n_arms, budget, noise_std, kernel, features, prior_std, noise_prior, refit_every
        As in `BayesGap`.
    xi : float, default 0
        Margin above the largest posterior mean, at least 0.

    Raises
    ------
    ValueError, TypeError
        As in `BayesGap`.

    See Also
    --------
    BayesGap : does not get stuck.
    ProbabilityOfImprovement : uses the probability of an improvement instead of its size.

    Notes
    -----
    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> x = np.linspace(0.0, 10.0, 100)
    >>> means, rng = np.sin(x), np.random.default_rng(1)
    >>> policy = pb.policies.ExpectedImprovement(100, budget=30, noise_std=0.1,
    ...                                          kernel=np.exp(-((x[:, None] - x) ** 2)))
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, rng.normal(means[arms], 0.1))
    >>> x[policy.recommend()].round(2)
    array([1.72])
    """

    def __init__(self, n_arms, *, budget, noise_std, kernel=None, features=None, prior_std=1.0,
                 xi=0.0, noise_prior=(1.0, 1.0), refit_every=None):
        super().__init__(n_arms, budget, kernel, features, noise_std, prior_std, noise_prior,
                         refit_every, xi)
        self._made(ExpectedImprovement)

    cdef int64_t _choose(self) noexcept nogil:
        self._gather(&self.arm_means[0], &self.arm_variances[0])
        return self._gathered(pb_gaussian_scores_expected(
            self.means_of, self.spreads_of, self.n_of, self.xi, self._scale(), &self.scratch[0]))


cdef class ProbabilityOfImprovement(_Improvement):
    """Pulls the arm most likely to exceed the largest posterior mean plus xi.

    The arm of the largest posterior mean is recommended. Ties go to the lowest index. It often
    gets stuck: of the rules here it errs most.

    Parameters
    ----------
    n_arms, budget, noise_std, kernel, features, prior_std, noise_prior, refit_every
        As in `BayesGap`.
    xi : float, default 0.01
        Margin above the largest posterior mean, at least 0.

    Raises
    ------
    ValueError, TypeError
        As in `BayesGap`.

    See Also
    --------
    ExpectedImprovement : uses the expected size of an improvement.
    BayesGap : does not get stuck.

    Notes
    -----
    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> x = np.linspace(0.0, 10.0, 100)
    >>> means, rng = np.sin(x), np.random.default_rng(1)
    >>> policy = pb.policies.ProbabilityOfImprovement(100, budget=30, noise_std=0.1, xi=0.1,
    ...                                               kernel=np.exp(-((x[:, None] - x) ** 2)))
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, rng.normal(means[arms], 0.1))
    >>> x[policy.recommend()].round(2)
    array([1.52])
    """

    def __init__(self, n_arms, *, budget, noise_std, kernel=None, features=None, prior_std=1.0,
                 xi=0.01, noise_prior=(1.0, 1.0), refit_every=None):
        super().__init__(n_arms, budget, kernel, features, noise_std, prior_std, noise_prior,
                         refit_every, xi)
        self._made(ProbabilityOfImprovement)

    cdef int64_t _choose(self) noexcept nogil:
        self._gather(&self.arm_means[0], &self.arm_variances[0])
        return self._gathered(pb_gaussian_scores_probable(
            self.means_of, self.spreads_of, self.n_of, self.xi, self._scale(), &self.scratch[0]))
