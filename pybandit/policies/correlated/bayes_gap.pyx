# cython: auto_pickle=False
"""The best of correlated arms, which may be more numerous than pulls.

Hoffman, Shahriari and de Freitas, On correlation and budget constraints in model-based
bandit optimization with application to automatic machine learning, AISTATS 2014; equations as
in its longer version, arXiv:1303.6746.
"""

import numpy as np

from pybandit._shared.checks import check_choice, check_scalar, nonnegative
from pybandit.policies.correlated._states import BAYES_GAPS

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport pb_gaussian_gap, pb_gaussian_gap_round, pb_gaussian_gap_size
from pybandit.policies.correlated._gaussian cimport _GaussianPolicy

__all__ = ["BayesGap"]


cdef class BayesGap(_GaussianPolicy):
    """Pulls the likely best arm or its strongest rival, whichever is less certain.

    Hoffman, Shahriari and de Freitas 2014, Algorithm 1. The means of all arms have a joint
    Gaussian prior, so a pull of one arm is informative about others, and T may be below K. Let
    ``U, L = mean_k +- beta std_k`` of the posterior and ``B_k = max_{i != k} U_i - L_k``. Arm J has
    the least B, and j is the other arm of the largest U. The one of the two with the larger std is
    pulled. Here ``beta^2 = (n_beta / sigma^2 + kappa / eta^2) / (4 H)``, where
    ``kappa = sum 1 / G_kk`` over the arms of positive G_kk,
    ``H = sum_k max((D_k + epsilon) / 2, epsilon)^-2``, and D_k is the largest gap of arm k, on
    either side, that ``mean +- 3 std`` allows. Ties go to the lowest index.

    Parameters
    ----------
    n_arms : int
        K, at least 1: the number of rows of `kernel` or `features`.
    budget : int
        T, number of pulls, at least 1; all are spent.
    noise_std : float or None
        sigma, the standard deviation of a reward about its arm's mean, above 0. None: unknown
        and estimated from the rewards, see Notes.
    kernel : array_like of float, shape (K, K), or callable
        G: the prior covariance of the arms' means is ``prior_std^2 G``. Symmetric and positive
        semi-definite up to rounding: the least eigenvalue at least -1e-8 times the largest; no
        entry larger than 1e300 in size. Or a function of points, such as scikit-learn's kernels
        (`pybandit.kernels`), with the points passed as `features`.
    features : array_like of float, shape (K, d)
        Row k is x_k: the means are ``x_k . w`` with ``w ~ N(0, prior_std^2 I)``, so ``G = X X'``.
        Entries of size at most 1e150; equal rows are allowed. Without `kernel` and `features` the
        arms are independent: G is the identity matrix.
    prior_std : float, default 1
        eta, above 0; in units of the noise if `noise_std` is None.
    epsilon : float, default 0
        Tolerated difference from the best mean, at least 0.
    n_beta : {"T", "T-K"}
        Value of n_beta in the formula of beta: T, or ``max(T - K, 0)``. The paper prints T - K,
        which is negative in its own experiments.
    recommendation : {"pulled", "posterior-mean", "bound"}
        ``"pulled"``: the arm of the largest posterior mean among those with a reward.
        ``"posterior-mean"``: the same among all arms. ``"bound"``: J of the round of least B_J,
        the paper's Eq. 8, of equal ones the earliest; before the first pull, arm 0. Below K
        pulls Eq. 8 may prefer an arm that was never pulled and whose prior variance is tiny,
        however low its mean: see Notes.
    noise_prior : (float, float), default (1, 1)
        Used if `noise_std` is None: a and b, above 0, of the inverse-gamma prior of sigma^2.
    refit_every : int, optional
        Number of pulls after which the kernel's parameters, `prior_std` and `noise_std` are set
        again to maximise the marginal likelihood of all rewards, and the posterior is recomputed.
        Requires scikit-learn, one of its kernels with points, and an initial `noise_std`.

    Attributes
    ----------
    done, n_pulls, n_batches, pulls, means, variances
        See `Policy`.
    posterior_means, posterior_std : ndarray of float64, shape (K,)
    noise_estimate : float

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range. If a kernel is not positive semi-definite, the message
        gives its least eigenvalue; see Notes for more than 256 arms.

    See Also
    --------
    GPUCB, BayesUCB, GaussianThompson, ExpectedImprovement, ProbabilityOfImprovement : other rules.
    kernels : kernels of the arms' features.

    Notes
    -----
    With a kernel, the t-th pull takes O(K t) for up to K / 2 pulls and O(K^2) after that; with
    d < K features, O(K d + d^2). Lost pulls count against the budget and do not change the
    posterior.

    Whether a kernel is positive semi-definite is checked for up to 256 arms, evenly spaced if there
    are more. After that, `tell` raises ValueError and changes nothing if a reward would leave a
    variance below 0. It checks this unless the noise is so small that rounding errors of the kernel
    could cause it.

    If `noise_std` is None, ``means | sigma^2 ~ N(0, sigma^2 prior_std^2 G)`` and sigma^2 is
    inverse gamma of (a, b), a conjugate prior. The rule then uses sigma^2 = b / a of the
    posterior. On functions drawn from the prior, `GPUCB` errs less than this rule.

    Mean simple regret of 100 runs by ``"bound"``, ``"pulled"`` and ``"posterior-mean"``: 15.98, .16
    and .28 for the highest of the 61 pixels of scikit-learn's digits at T = 25; 1.34, 1.34 and 2.37
    for the fastest of 207 traffic sensors at T = 50; hardly different with more pulls than arms
    (`python examples/papers/hoffman2014/recommendations.py`).

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> x = np.linspace(0.0, 10.0, 100)
    >>> G = np.exp(-((x[:, None] - x) ** 2))
    >>> means, rng = np.sin(x), np.random.default_rng(1)
    >>> policy = pb.policies.BayesGap(len(G), budget=60, kernel=G, noise_std=0.1)
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, rng.normal(means[arms], 0.1))
    >>> bool(means.max() - means[policy.recommend()[0]] < 0.01)
    True
    """

    cdef readonly double epsilon
    cdef readonly str n_beta, recommendation
    cdef double kappa, budget_term        # n_beta as a number
    cdef double least_bound
    cdef int64_t found                    # J of the round with the least bound
    cdef pb_gaussian_gap round
    cdef double[::1] deviations           # square roots of arm_variances
    cdef double[::1] blocks               # scratch

    def __init__(self, n_arms, *, budget, noise_std, kernel=None, features=None, prior_std=1.0,
                 epsilon=0.0, n_beta="T", recommendation="pulled", noise_prior=(1.0, 1.0),
                 refit_every=None):
        super().__init__(n_arms, budget, kernel, features, noise_std, prior_std, noise_prior,
                         refit_every)
        self.epsilon = check_scalar("epsilon", epsilon, "finite and at least 0", nonnegative)
        self.n_beta = check_choice("n_beta", n_beta, ("T", "T-K"))
        check_choice("recommendation", recommendation, ("pulled", "posterior-mean", "bound"))
        self.recommendation = recommendation
        self.budget_term = self.budget if n_beta == "T" else max(self.budget - self.n_arms, 0)
        self.least_bound, self.found = INFINITY, 0
        self._advance()
        self._made(BayesGap)

    cdef _prior_changed(self):
        cdef int64_t arm
        self.kappa = 0.0
        for arm in range(self.n_arms):
            if self.norms[arm] > 0.0:
                self.kappa += 1.0 / self.norms[arm]
        self.deviations = np.sqrt(self.arm_variances)
        self.posterior.deviations = &self.deviations[0]
        self.blocks = np.empty(pb_gaussian_gap_size(self.n_arms))

    cdef int _resume(self) except -1:
        np.sqrt(self.arm_variances, out=np.asarray(self.deviations))
        return 0

    def _options(self):
        return dict(super()._options(), epsilon=self.epsilon, n_beta=self.n_beta,
                    recommendation=self.recommendation)

    cdef int64_t _choose(self) noexcept nogil:
        cdef double eta = self.prior_std * self._scale(), numerator
        self._gather(&self.arm_means[0], &self.deviations[0])
        if self.n_of == 1:
            self.found = self._gathered(0)
            return self.found
        numerator = self.budget_term / self._noise() + self.kappa / (eta * eta)
        self.round = pb_gaussian_gap_round(
            self.means_of, self.spreads_of, self.n_of, numerator, self.epsilon,
            self._scale(), &self.blocks[0])
        if self.round.bound < self.least_bound:
            self.least_bound, self.found = self.round.bound, self._gathered(self.round.best)
        return self._gathered(self.round.chosen)

    cdef void _set_aside(self, int64_t arm) noexcept nogil:
        if arm == self.found:  # the next round chooses another arm
            self.least_bound = INFINITY

    def _last_round(self):
        """Return J, j, beta and B_J of the last round, for tests."""
        return self.round.best, self.round.rival, self.round.beta, self.round.bound

    def recommend(self):
        """Return the best arm by the rule `recommendation`, int64 of shape (1,)."""
        with self.guard.reading():
            if self.recommendation == "bound":
                if self.n_pulls and not self.silence.has(self.found):
                    return np.array([self.found], dtype=np.int64)
            elif self.recommendation == "pulled":
                pulled = [arm for arm in np.flatnonzero(self._pulls) if not self.silence.has(arm)]
                if pulled:
                    best = np.argmax(np.asarray(self.arm_means)[pulled])
                    return np.array([pulled[best]], dtype=np.int64)
            return super().recommend()

    cdef object _schema(self):
        return BAYES_GAPS[bool(self.pulls_between)]

    def _get_progress(self):
        return dict(super()._get_progress(), least_bound=self.least_bound, found=self.found)

    def _set_progress(self, progress):
        super()._set_progress(progress)
        self.least_bound, self.found = progress["least_bound"], progress["found"]
