# cython: auto_pickle=False
"""Environments whose arms are Monte Carlo estimators of one number.

Examples
--------
>>> import pybandit as pb
>>> caplet = pb.environments.CIRCaplet(0.07)
>>> caplet                    # each arm is a drift of the paths
<CIRCaplet of 16 arms>
>>> rewards, costs = caplet.pull_with_costs([0, 5, 5], rng=1)
>>> rewards.round(1), caplet.means[0].round(2)
(array([ 5.6, 10.2,  8.2]), np.float64(9.26))
"""

import math

import numpy as np

from pybandit._shared.checks import (
    MOST_HELD, check_in, check_integer, check_numeric, check_positive, check_scalar,
)
from pybandit._shared.generators import as_generator
from pybandit.montecarlo._caplet_moments import caplet_moments
from pybandit.montecarlo._laplace import laplace_log_evidence
from pybandit.simulation.base import arm_values

from libc.math cimport NAN, exp, sqrt
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from pybandit._shared._csrc cimport pb_bitgen
from pybandit._shared.bits cimport bitgen_of, next_normal
from pybandit.montecarlo._csrc cimport (
    pb_annealing, pb_annealing_log_likelihood, pb_annealing_margins, pb_annealing_run, pb_cir,
    pb_cir_path, pb_cir_weighted,
)
from pybandit.simulation.base cimport Environment

__all__ = ["CIRCaplet", "LogisticEvidence"]

cdef enum:
    LANES = 4  # rows of a likelihood that C reads at a time


MOST_MONEY = 1e100  # its square does not overflow
# Smallest width of a first slice, in standard deviations of the prior.
NARROWEST = 1e-3


cdef class CIRCaplet(Environment):
    """Estimators of the price of a caplet on a Cox-Ingersoll-Ross rate, by exponential twisting.

    Arm k draws a path of ``dr = (eta - kappa r) dt + sigma sqrt(r) dW`` whose Brownian
    motion has drift ``thetas[k]``. Its reward is the discounted payoff times the weight
    ``exp(-theta W_T + theta^2 T / 2)``. The mean of every arm is the price; their
    variances differ.

    Parameters
    ----------
    strike : float
        Annual rate, at least 0.
    thetas : array_like of float, shape (n_arms,), optional
        Drifts of the Brownian motion; 0, 0.1, ..., 1.5 by default.
    eta, sigma, r0, maturity, notional : float
        Above 0; `maturity` in years.
    kappa : float
        At least 0, and below ``n_steps / maturity``.
    n_steps : int
        Steps of Euler's scheme, at least 1.

    Raises
    ------
    ValueError
        If an argument is outside its range, the rate can come near 0, or a variance is below a
        millionth of the squared price, as with a very small `sigma`, so that it could not be
        computed accurately.

    Notes
    -----
    `means` and `variances` are those of the discretised problem. They are computed by a
    backward recursion instead of sampling, to about ten digits; a variance of a millionth of
    the squared price has seven. ``exp(-integral of r)`` is computed by the trapezoidal rule. A
    reward costs O(n_steps), about a microsecond for 100 steps.

    **Threads.** Pulls do not change it: threads may share it.

    References
    ----------
    Neufeld et al. 2014, Appendix F. As printed there, the drift is per step, the weight lacks
    it, and the trapezoidal rule counts both ends twice.

    Examples
    --------
    >>> import pybandit as pb
    >>> caplet = pb.environments.CIRCaplet(0.07)
    >>> caplet.means[0].round(6), caplet.variances.argmin(), caplet.variances.min().round(4)
    (np.float64(9.256747), np.int64(5), np.float64(2.3316))
    """

    cdef pb_cir cir
    cdef double[::1] drifts
    cdef readonly double maturity

    def __init__(self, strike, *, thetas=None, eta=0.016, kappa=0.2, sigma=0.02, r0=0.08,
                 maturity=1.0, notional=1000.0, n_steps=100):
        thetas = arm_values("thetas", np.arange(16) / 10 if thetas is None else thetas,
                            "finite", np.isfinite)
        eta, sigma, r0 = (check_positive(name, value) for name, value in
                          (("eta", eta), ("sigma", sigma), ("r0", r0)))
        maturity = check_positive("maturity", maturity)
        notional = check_scalar("notional", notional,
                                f"finite and above 0, at most {MOST_MONEY:g}",
                                lambda x: (x > 0) & (x <= MOST_MONEY))
        strike = check_scalar("strike", strike, f"finite and at least 0, at most {MOST_MONEY:g}",
                              lambda x: (x >= 0) & (x <= MOST_MONEY))
        n_steps = check_integer("n_steps", n_steps, 1, MOST_HELD)
        kappa = check_scalar(
            "kappa", kappa, f"at least 0 and below n_steps / maturity, {n_steps / maturity}",
            lambda x: (x >= 0) & (x * maturity < n_steps))
        price, variances = caplet_moments(thetas, eta, kappa, sigma, r0, maturity, notional,
                                          n_steps, strike)
        super().__init__(np.full(thetas.size, price), np.sqrt(variances))
        self._take_variances(variances)
        self.cir = pb_cir(eta, kappa, sigma, r0, maturity / n_steps, n_steps, strike, notional)
        self.drifts, self.maturity = thetas, maturity
        self._draws_each = True
        self._made(CIRCaplet, dict(
            strike=strike, thetas=thetas, eta=eta, kappa=kappa, sigma=sigma, r0=r0,
            maturity=maturity, notional=notional, n_steps=n_steps))

    @property
    def strike(self):
        """Strike rate; float."""
        return self.cir.strike

    @property
    def thetas(self):
        """Drift of each arm; float64, shape (n_arms,), a copy."""
        self.guard.check()
        return np.array(self.drifts)

    cdef double _draw(self, int64_t arm, int64_t seen, pb_bitgen *bitgen) noexcept nogil:
        return pb_cir_weighted(&self.cir, self.drifts[arm], next_normal, bitgen)

    def paths(self, arms, rng=None):
        """Draw a path under each of these arms, without its weight.

        Parameters
        ----------
        arms : array_like of int, shape (n,)
            In [0, n_arms), repeats allowed.
        rng : None, int, SeedSequence or Generator

        Returns
        -------
        payoffs : ndarray of float64, shape (n,)
            Discounted payoffs.
        brownian : ndarray of float64, shape (n,)
            W_T: the path's weight under arm k is ``exp(-theta_k W_T + theta_k^2 T / 2)``.
        """
        cdef const int64_t[::1] chosen = self._check_arms(arms)
        cdef double[::1] payoff, end
        cdef int64_t j
        rng = as_generator(rng)
        payoffs, brownian = np.empty(chosen.shape[0]), np.empty(chosen.shape[0])
        payoff, end = payoffs, brownian
        cdef pb_bitgen *bitgen = bitgen_of(rng)
        with rng.bit_generator.lock, nogil:
            for j in range(chosen.shape[0]):
                payoff[j] = pb_cir_path(&self.cir, self.drifts[chosen[j]], next_normal, bitgen,
                                        &end[j])
        return payoffs, brownian


cdef class LogisticEvidence(Environment):
    """Estimators of the evidence of a Bayesian logistic regression, by annealing.

    The evidence Z is the mean over theta ~ N(0, prior_variance I) of the likelihood,
    ``prod_i 1 / (1 + exp(-s_i x_i . theta))``, where s_i = 1 if label i is 1, else -1. Arm k
    runs annealed importance sampling from the prior to the posterior through ``n_anneals[k]``
    temperatures (i / n)^4, with one sweep of univariate slice sampling at each but the last. Its
    reward is an unbiased estimate of ``Z / exp(log_scale)``, and its cost the number of
    evaluations of the likelihood of all rows.

    Parameters
    ----------
    features : array_like of float, shape (n_rows, n_features)
    labels : array_like of int or bool, shape (n_rows,)
        0 or 1.
    n_anneals : array_like of int, shape (n_arms,)
        At least 1. With 1, a reward is the likelihood at a draw from the prior.
    prior_variance : float
        Prior variance of each coefficient, above 0.
    width : float
        Width of the first slice, at least a thousandth of the prior's standard deviation;
        slices grow in steps of it.
    log_scale : float, optional
        Rewards are divided by exp(log_scale). Laplace's approximation of log Z by default,
        so that rewards are of order 1.
    log_evidence : float, optional
        log Z, if it is known.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    `means` are ``exp(log_evidence - log_scale)`` if `log_evidence` was given, else NaN.
    `noise_std`, `variances` and `costs` are always NaN: they are unknown. A reward is NaN if
    memory runs out. A sweep takes about 6 evaluations per feature, O(n_rows) each.

    **Threads.** Pulls do not change it: threads may share it.

    References
    ----------
    Neal 2001, Annealed importance sampling; Neal 2003, Slice sampling; Neufeld et al.
    2014, Sec. 6.3 and Appendix G.

    Examples
    --------
    >>> import pybandit as pb
    >>> evidence = pb.environments.LogisticEvidence([[0.5], [-1.0]], labels=[1, 0],
    ...                                             n_anneals=[1, 10])
    >>> rewards, costs = evidence.pull_with_costs([0, 1], rng=1)
    >>> costs[0], bool(costs[1] > 9)
    (np.float64(1.0), True)
    """

    cdef pb_annealing annealing
    cdef double[:, ::1] columns
    cdef int64_t[::1] lengths
    cdef readonly int64_t n_rows
    cdef readonly double log_scale

    def __init__(self, features, *, labels, n_anneals=(400, 2000, 8000), prior_variance=0.05,
                 width=0.5, log_scale=None, log_evidence=None):
        features, labels = _checked_rows(features, labels)
        signed = features * (2.0 * labels - 1.0)[:, None]
        lengths = check_numeric("n_anneals", n_anneals)
        if lengths.ndim != 1 or not lengths.size:
            raise ValueError(f"n_anneals must be flat and not empty; got shape {lengths.shape}")
        lengths = [check_integer("n_anneals", n, 1) for n in lengths]
        # Laplace's approximation divides by prior_variance
        prior_variance = check_scalar("prior_variance", prior_variance, "between 1e-300 and 1e300",
                                      lambda x: (x >= 1e-300) & (x <= 1e300))
        width = check_positive("width", width)
        if width < NARROWEST * math.sqrt(prior_variance):
            raise ValueError(f"width must be at least {NARROWEST:g} times sqrt(prior_variance), "
                             f"{math.sqrt(prior_variance):g}: slices grow in steps of it; got "
                             f"{width!r}")
        if log_scale is None:
            log_scale = laplace_log_evidence(signed, prior_variance)
        self.log_scale = check_scalar("log_scale", log_scale, "finite", np.isfinite)
        log_evidence = _checked_evidence(log_evidence, self.log_scale)
        super().__init__(np.ones(len(lengths)), 0.0)
        self._take_variances(NAN)
        np.asarray(self._noise_std)[:] = np.asarray(self._costs)[:] = NAN
        np.asarray(self._means)[:] = NAN if log_evidence is None else math.exp(
            log_evidence - self.log_scale)
        self.lengths, self.n_rows = np.array(lengths, dtype=np.int64), signed.shape[0]
        self.columns = np.zeros((signed.shape[1], (self.n_rows + LANES - 1) // LANES * LANES))
        np.asarray(self.columns)[:, :self.n_rows] = signed.T
        self.annealing = pb_annealing(self.columns.shape[1], self.columns.shape[0],
                                      &self.columns[0, 0], prior_variance, width)
        self._draws_each = True
        self._made(LogisticEvidence, dict(
            features=features, labels=labels, n_anneals=lengths,
            prior_variance=prior_variance, width=width, log_scale=log_scale,
            log_evidence=log_evidence))

    @property
    def n_anneals(self):
        """Number of temperatures of each arm; int64, shape (n_arms,), a copy."""
        self.guard.check()
        return np.array(self.lengths)

    cdef double _draw(self, int64_t arm, int64_t seen, pb_bitgen *bitgen) noexcept nogil:
        cdef double cost
        return self._draw_with_cost(arm, seen, bitgen, &cost)

    cdef double _draw_with_cost(self, int64_t arm, int64_t seen, pb_bitgen *bitgen,
                                double *cost) noexcept nogil:
        cdef int64_t d = self.annealing.n_features, j, n_evaluations
        cdef double log_weight, deviation = sqrt(self.annealing.prior_variance)
        cdef double *theta = <double *>malloc((d + self.annealing.n_rows) * sizeof(double))
        if not theta:
            cost[0] = NAN
            return NAN
        for j in range(d):
            theta[j] = deviation * next_normal(bitgen)
        pb_annealing_margins(&self.annealing, self.n_rows, theta, theta + d)
        log_weight = pb_annealing_run(&self.annealing, self.lengths[arm], theta, theta + d,
                                      bitgen, &n_evaluations)
        free(theta)
        cost[0] = n_evaluations
        return exp(log_weight - self.log_scale)

    def log_likelihood(self, theta):
        """Return the log likelihood of all rows at these coefficients; float.

        Parameters
        ----------
        theta : array_like of float, shape (n_features,)
        """
        cdef const double[::1] point
        cdef double[::1] margins = np.empty(self.annealing.n_rows)
        point = check_in("theta", theta, "finite", np.isfinite)
        if point.shape[0] != self.annealing.n_features:
            raise ValueError(f"theta must have shape ({self.annealing.n_features},); got "
                             f"({point.shape[0]},)")
        pb_annealing_margins(&self.annealing, self.n_rows, &point[0], &margins[0])
        return pb_annealing_log_likelihood(&margins[0], self.annealing.columns, 0.0,
                                           self.annealing.n_rows)


def _checked_evidence(log_evidence, log_scale):
    """Return log Z or None; raise if the mean of the rewards would overflow."""
    if log_evidence is None:
        return None
    log_evidence = check_scalar("log_evidence", log_evidence, "finite", np.isfinite)
    return check_scalar("log_evidence", log_evidence,
                        f"below log_scale + 700, {log_scale + 700.0:g}",
                        lambda x: x < log_scale + 700.0)


def _checked_rows(features, labels):
    """Return features (n_rows, n_features) and labels (n_rows,), as copies."""
    features = check_in("features", features, "finite", np.isfinite)
    if features.ndim != 2 or not features.size:
        raise ValueError(f"features must have shape (n_rows, n_features), both at least 1; got "
                         f"{features.shape}")
    labels = check_in("labels", labels, "0 or 1", lambda y: (y == 0) | (y == 1))
    if labels.shape != features.shape[:1]:
        raise ValueError(f"labels must have shape ({features.shape[0]},), one value per row of "
                         f"features; got {labels.shape}")
    return features, labels
