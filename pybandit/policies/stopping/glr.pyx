# cython: auto_pickle=False
"""Stopping rules by generalised likelihood ratios: stop when the best arm is certain enough.

Garivier and Kaufmann, Optimal best arm identification with fixed confidence, COLT 2016;
Kaufmann and Koolen, Mixture martingales revisited with applications to sequential tests and
confidence intervals, JMLR 2021.
"""

import numpy as np

from pybandit._shared.checks import (
    MOST_PULLS, as_list, check_choice, check_delta, check_in, check_scalar, nonnegative, shown,
)
from pybandit.policies.protocol._deviations import check_deviation
from pybandit.policies.stopping._thresholds import family_level, independent_level

cimport cython
from libc.math cimport NAN, log
from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport (
    PB_GLR_BERNOULLI, PB_GLR_GAUSSIAN, PB_GLR_POISSON, PB_GLR_UNKNOWN, pb_glr, pb_glr_arm,
    pb_glr_arm_of, pb_glr_margin, pb_proportions,
)

__all__ = ["GLR", "lower_bound", "optimal_proportions"]

LAWS = {"gaussian": PB_GLR_GAUSSIAN, "bernoulli": PB_GLR_BERNOULLI, "poisson": PB_GLR_POISSON,
        "gaussian-unknown": PB_GLR_UNKNOWN}
KNOWN = tuple(LAWS)[:3]


@cython.final
cdef class GLR:
    """Stops a policy when the likelihood of "another arm is better" is small enough.

    Let a be the arm of the largest mean. ``Z(a, b)`` is the logarithm of the likelihood ratio of
    all rewards against the best explanation in which b is at least as good as a. The rule stops
    when ``Z(a, b) > threshold`` for all b. The arm of the largest mean is then the best with
    probability 1 - delta, whatever rule chose the pulls (Garivier and Kaufmann 2016).

    Parameters
    ----------
    delta : float, default 0.05
        Error probability, in (0, 1).
    law : {"gaussian", "bernoulli", "poisson", "gaussian-unknown"}
        Distribution of an arm's rewards, given its mean. ``"gaussian"``: standard deviation
        `noise_std`. ``"bernoulli"``: 0 and 1, or any values in [0, 1]. ``"gaussian-unknown"``: an
        unknown standard deviation per arm.
    noise_std : float, default 1
        Law ``"gaussian"``: standard deviation of a reward, in [1e-150, 1e150].
    guarantee : {"proven", "heuristic"}, default "proven"
        Threshold of the rule. ``"proven"``: see Notes. ``"heuristic"``:
        ``log((1 + log t) / delta)``, which papers use; it is lower and has no proof, but measured
        errors are far below delta.
    epsilon : float, default 0
        Gaussian laws: the answer may be worse than the best arm by epsilon. At 0 the rule
        correctly never stops if the two best arms are equal.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    Betting : for any rewards in [0, 1].
    TopTwo, TrackAndStop, EBTC : policies that use it.

    Notes
    -----
    The object does not change during a run: policies and threads may share it. Usually O(1) per
    pull, because the arm that was in doubt before is checked first.

    **Proof** for ``"proven"``. Let a* be the best arm. Naming a worse arm a requires
    ``Z(a, a*) > threshold``. Z(a, a*) is a minimum over means u of a and v of a* with ``u <= v``,
    which include the true means, so ``s_a + s_a*`` is above the threshold as well, with
    ``s = N d(mean, true mean)``. There are K - 1 such arms a; each may have probability
    ``delta / (K - 1) = exp(-x)``. The likelihood of an arm's rewards, mixed over other means, over
    that of its true mean is a martingale of mean 1. So is the product of those of two arms,
    whatever rule pulls them: it ever exceeds ``exp(x)`` with probability at most exp(-x).

    - ``"gaussian"``: a is named for being above a*, so its likelihood is mixed over means above
      the true one, and that of a* over means below. The mixtures consist of half-normal
      distributions of standard deviations ``noise_std (2, 1/2, 1/8, 1/32, 1/128)`` and weights
      ``(2, 2, 2, 1, 1) / 8``. With d the distance of its mean from the true one, an arm's ratio is

          ``sum w 2 Phi(y) exp(y^2 / 2) / sqrt(1 + s^2 N)``, ``y = N s d / sqrt(1 + s^2 N)``,

      s and d in units of noise_std. Its logarithm g increases with d and is convex. Instead of Z,
      the least ``g(mean_a - u) + g(v - mean_b)`` over u <= v, attained at u = v, is compared with
      x. For sub-Gaussian rewards of scale noise_std the ratio is a supermartingale, so the
      guarantee holds for them too.
    - ``"bernoulli"``: mixed by Beta(1/2, 1/2), the ratio is at least ``exp(s) / sqrt(4 N)``
      (Krichevsky and Trofimov 1981), so the threshold is ``x + log(4 N_a) / 2 + log(4 N_b) / 2``.
      For other rewards in [0, 1], the moment-generating function is at most that of the Bernoulli
      distribution of the same mean, and the ratio is a supermartingale.
    - ``"poisson"``: ``2 T(x / 2) + 3 log(1 + log N_a) + 3 log(1 + log N_b)``, with the function T
      and theorem 7 of Kaufmann and Koolen 2021.

    - ``"gaussian-unknown"``: ``N d`` is ``N log(1 + (mean - u)^2 / v) / 2``, with v the mean
      squared deviation of the arm's rewards. Mixed over all scales, and over means by a normal
      distribution of one such scale about the true mean, the likelihood is ``exp(g(s))`` times
      that of the scales alone,
      ``g(s) = s - log(1 + N) / 2 - N log((N + exp(2 s / N)) / (N + 1)) / 2``. Along one arm's
      rewards this is a martingale of mean 1 from the first reward on (Lai 1976), so its largest
      logarithm is at most a standard exponential variable. It is a martingale only with respect
      to these rewards up to scale, so it is not multiplied with that of another arm. The rewards
      of two arms are independent, whatever rule asks for them: the sum of the two largest
      logarithms exceeds x with probability at most ``(1 + x) exp(-x)``, and x makes this
      ``delta / (K - 1)``. As g increases and is concave, g(s_a) + g(s_b) is least, for a given
      sum, if one of them is 0: the threshold for that sum is the larger of the two.

      A normal distribution has no ties, so equal rewards result from rounding. The rewards of all
      arms are assumed to be rounded to multiples of one step. For an arm whose rewards are all
      equal, policies use ``v = r^2 / 8``, where r is the least nonzero difference between a
      reward and the one reported before it; r is at least the step. Let the true mean be at
      distance d < r from the arm's value x. If rewards are x or its neighbour, each is x with
      probability p at most ``1 - d / r``. As ``(1 - y)^2 (1 + 8 y^2) <= 1`` for y in [0, 1],
      ``log(1 + d^2 / v) / 2`` is at most ``-log p``. All N rewards equal the first with
      probability ``p^(N - 1)``, and the arm's evidence, ``g(s)``, is at most ``(N - 1) / N`` of s,
      so it is again at most a standard exponential variable. For d >= r this is a heuristic.
      If the first 1,000 rewards of all arms are equal, no step can be estimated: a policy without
      a budget is then done, but not decided. `margins` does not know the step and returns minus
      infinity.

    With epsilon, naming an arm worse than the best by more than epsilon requires the same for
    means with ``u + epsilon <= v``.

    References
    ----------
    A. Garivier and E. Kaufmann, COLT 2016; E. Kaufmann and W. M. Koolen, JMLR 22, 2021;
    R. Krichevsky and V. Trofimov, The performance of universal encoding, 1981; T. L. Lai, On
    confidence sequences, 1976; H. Robbins, Statistical methods related to the law of the iterated
    logarithm, 1970.

    Examples
    --------
    >>> import pybandit as pb
    >>> rule = pb.stopping.GLR(delta=0.05, law="bernoulli")
    >>> rule.is_sure(pulls=[200, 200], means=[0.9, 0.5])
    True
    >>> rule.is_sure(pulls=[200, 200], means=[0.6, 0.5])
    False
    """

    def __init__(self, *, delta=0.05, law="gaussian", noise_std=1.0, guarantee="proven",
                 epsilon=0.0):
        delta = check_delta(delta)
        law = check_choice("law", law, tuple(LAWS))
        noise_std = check_deviation("noise_std", noise_std)
        guarantee = check_choice("guarantee", guarantee, ("proven", "heuristic"))
        epsilon = check_scalar("epsilon", epsilon, "finite and at least 0", nonnegative)
        if law != "gaussian" and noise_std != 1.0:
            raise ValueError(f"noise_std must be 1 unless law='gaussian'; got {noise_std!r} with "
                             f"law={law!r}")
        self.is_gaussian = law in ("gaussian", "gaussian-unknown")
        if not self.is_gaussian and epsilon:
            raise ValueError(f"epsilon must be 0 unless the law is Gaussian; got {epsilon!r} with "
                             f"law={law!r}")
        self.delta, self.law, self.noise_std = delta, law, noise_std
        self.guarantee, self.epsilon = guarantee, epsilon

    def options(self):
        """Return the arguments that recreate the rule, as a dict of numbers and strings."""
        return dict(delta=self.delta, law=self.law, noise_std=self.noise_std,
                    guarantee=self.guarantee, epsilon=self.epsilon)

    cdef pb_glr _kernel(self, n_pairs):
        cdef pb_glr kernel
        kernel.law, kernel.epsilon = LAWS[self.law], self.epsilon
        kernel.precision = 0.5 / (self.noise_std * self.noise_std)
        kernel.is_proven = self.guarantee == "proven"
        if not kernel.is_proven:
            kernel.level = -log(self.delta)
            return kernel
        kernel.level = log(max(n_pairs, 1) / self.delta)
        if self.law == "poisson":
            kernel.level = family_level(0.5 * kernel.level)
        elif self.law == "gaussian-unknown":
            kernel.level = independent_level(kernel.level)
        return kernel

    def margins(self, rewards=None, *, pulls=None, means=None, variances=None):
        """Return Z minus the threshold for the best arm against each other arm.

        With ``law="gaussian", guarantee="proven"``, Z is replaced as described in the Notes.

        Parameters
        ----------
        rewards : sequence of array_like of float, optional
            All rewards of each arm, finite; may be empty. Pass them instead of `pulls`, `means`
            and `variances`.
        pulls : array_like of int, shape (n_arms,)
            Number of rewards of each arm.
        means : array_like of float, shape (n_arms,)
            Their means; any number for arms without rewards.
        variances : array_like of float, shape (n_arms,), optional
            Only for law ``"gaussian-unknown"``, and required for it: sample variances, such as a
            policy's `variances`; any number for arms with fewer than two rewards.

        Returns
        -------
        ndarray of float64, shape (n_arms,)
            NaN for the arm of the largest mean itself; minus infinity for arms without rewards.
            The rule stops if all others are above 0.
        """
        cdef pb_glr kernel
        cdef pb_glr_arm leader, rival
        cdef int64_t best, arm
        cdef double t
        if rewards is not None:
            for name, value in dict(pulls=pulls, means=means, variances=variances).items():
                if value is not None:
                    raise ValueError(f"{name} must be None if rewards are given; got "
                                     f"{shown(value)}")
            pulls, means, variances = moments_of(rewards)
            variances = variances if self.law == "gaussian-unknown" else None
        pulls, means = checked_arms(self.law, pulls, means)
        deviations = self._deviations(pulls, variances)
        seen = pulls > 0
        margins = np.full(pulls.size, -np.inf)
        best = int(np.argmax(np.where(seen, means, -np.inf)))
        if seen[best]:
            kernel, t = self._kernel(pulls.size - 1), pulls.sum()
            leader = pb_glr_arm_of(pulls[best], pulls[best] * means[best], deviations[best])
            for arm in np.flatnonzero(seen):
                rival = pb_glr_arm_of(pulls[arm], pulls[arm] * means[arm], deviations[arm])
                margins[arm] = pb_glr_margin(&kernel, &leader, &rival, t)
        margins[best] = NAN
        return margins

    def _deviations(self, pulls, variances):
        """Return sums of squared deviations; 0 if the law does not need them."""
        if self.law != "gaussian-unknown":
            if variances is not None:
                raise ValueError("variances must be None unless law='gaussian-unknown'; got values "
                                 f"with law={self.law!r}")
            return np.zeros(pulls.size)
        if variances is None:
            raise ValueError("variances must be given for law='gaussian-unknown'; got None")
        variances = check_in("variances", variances, "real numbers",
                             lambda x: np.ones(x.shape, dtype=bool))
        if variances.shape != pulls.shape:
            raise ValueError(f"variances must have shape {pulls.shape}; got {variances.shape}")
        bad = (pulls > 1) & ~((variances >= 0) & np.isfinite(variances))
        if bad.any():
            raise ValueError("variances must be finite and at least 0 for arms with two or more "
                             f"rewards; got {variances[bad][0]}")
        return np.where(pulls > 1, variances * (pulls - 1), 0.0)

    def is_sure(self, rewards=None, *, pulls=None, means=None, variances=None):
        """Return True if the rule stops here; the arguments are those of `margins`."""
        margins = self.margins(rewards, pulls=pulls, means=means, variances=variances)
        others = margins[~np.isnan(margins)]
        seen = np.sum(pulls) if rewards is None else sum(np.size(part) for part in rewards)
        return bool((others > 0).all()) and int(seen) > 0

    def __eq__(self, other):
        return isinstance(other, GLR) and self.options() == other.options()

    def __hash__(self):
        return hash(tuple(self.options().values()))

    def __reduce__(self):
        return again, (self.options(),)

    def __repr__(self):
        parts = [f"delta={self.delta!r}", f"law={self.law!r}"]
        if self.law == "gaussian":
            parts += [f"noise_std={self.noise_std!r}"]
        if self.is_gaussian:
            parts += [f"epsilon={self.epsilon!r}"]
        return f"GLR({', '.join(parts)}, guarantee={self.guarantee!r})"


def again(options):
    return GLR(**options)


def moments_of(rewards):
    """Return the number, the mean and the sample variance of each arm's rewards."""
    arms = [check_in(f"rewards[{arm}]", part, "finite", np.isfinite)
            for arm, part in enumerate(as_list("rewards", rewards, "the rewards of each arm"))]
    for arm, part in enumerate(arms):
        if part.ndim != 1:
            raise ValueError(f"rewards[{arm}] must have shape (n_rewards,); got {part.shape}")
    return ([part.size for part in arms], [part.mean() if part.size else 0.0 for part in arms],
            [part.var(ddof=1) if part.size > 1 else 0.0 for part in arms])


def checked_arms(law, pulls, means):
    """Return pulls as int64 and means as float64, of the same shape."""
    pulls = check_in("pulls", pulls, "whole numbers of at least 0",
                     lambda n: (n >= 0) & (n <= MOST_PULLS) & (n == np.floor(n)))
    means = check_in("means", means, "real numbers", lambda x: np.ones(x.shape, dtype=bool))
    if pulls.ndim != 1 or not pulls.size or means.shape != pulls.shape:
        raise ValueError(f"pulls and means must have the same shape, (n_arms,); got {pulls.shape} "
                         f"and {means.shape}")
    check_means(law, means[pulls > 0])
    return pulls.astype(np.int64), means


def check_means(law, means):
    high = 1.0 if law == "bernoulli" else np.inf
    low = 0.0 if law in ("bernoulli", "poisson") else -np.inf
    bad = ~(np.isfinite(means) & (means >= low) & (means <= high))
    if bad.any():
        raise ValueError(f"means must be finite and in [{low:g}, {high:g}] for law={law!r}; got "
                         f"{means[bad][0]}")


def optimal_proportions(means, *, law="gaussian", noise_std=1.0):
    """Return the shares of pulls with which the best arm is identified soonest.

    Parameters
    ----------
    means : array_like of float, shape (n_arms,)
    law : {"gaussian", "bernoulli", "poisson"}
    noise_std : float, default 1
        Law ``"gaussian"``: standard deviation of a reward, in [1e-150, 1e150].

    Returns
    -------
    ndarray of float64, shape (n_arms,)
        They sum to 1; if several means are the largest, these arms get equal shares.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    Theorem 5 of Garivier and Kaufmann 2016, with an error of about 1e-12; O(n_arms).

    Examples
    --------
    >>> import pybandit as pb
    >>> pb.stopping.optimal_proportions([1.0, 0.5, 0.5, 0.0]).round(3)
    array([0.397, 0.279, 0.279, 0.046])
    """
    return solved(means, law, noise_std)[0]


def lower_bound(means, *, delta=0.05, law="gaussian", noise_std=1.0):
    """Return a lower bound on the mean number of pulls of any rule of error probability delta.

    ``T kl(delta, 1 - delta)``, with T the reciprocal of the least Z for the optimal shares
    (Garivier and Kaufmann 2016, theorem 1).

    Parameters
    ----------
    means : array_like of float, shape (n_arms,)
    delta : float, default 0.05
        Error probability, in (0, 1); for 1/2 and above the bound is 0.
    law : {"gaussian", "bernoulli", "poisson"}
    noise_std : float, default 1

    Returns
    -------
    float
        Infinite if several arms have the largest mean.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Examples
    --------
    >>> import pybandit as pb
    >>> round(pb.stopping.lower_bound([0.5, 0.45, 0.43, 0.4], delta=0.1, law="bernoulli"))
    1740
    """
    delta = check_delta(delta)
    shares, least = solved(means, law, noise_std)
    needed = (2 * delta - 1) * np.log(delta / (1 - delta)) if delta < 0.5 else 0.0
    if shares.size == 1 or needed == 0.0:
        return 0.0
    return float(needed / least) if least > 0 else np.inf


def solved(means, law, noise_std):
    cdef pb_glr kernel
    cdef double[::1] shares
    cdef const double[::1] values
    rule = GLR(law=check_choice("law", law, KNOWN), noise_std=noise_std)
    means = check_in("means", means, "finite", np.isfinite)
    if means.ndim != 1 or not means.size:
        raise ValueError(f"means must have shape (n_arms,); got {means.shape}")
    check_means(law, means)
    kernel = (<GLR>rule)._kernel(means.size - 1)
    values, shares = means, np.empty(means.size)
    least = pb_proportions(&kernel, &values[0], values.size, &shares[0])
    return np.asarray(shares), least
