"""Laplace's approximation of the evidence of a Bayesian logistic regression."""

import numpy as np


def laplace_log_evidence(signed, prior_variance):
    """Return log Z as if the posterior were normal; `signed` is features times labels of +-1."""
    from scipy.optimize import minimize
    from scipy.special import expit

    def energy(theta):
        margins = signed @ theta
        return (np.logaddexp(0.0, -margins).sum() + theta @ theta / (2 * prior_variance),
                theta / prior_variance - signed.T @ expit(-margins))

    def curvature(theta):
        share = expit(signed @ theta)
        return (signed.T * (share * (1 - share))) @ signed + np.eye(theta.size) / prior_variance

    found = minimize(energy, np.zeros(signed.shape[1]), jac=True, hess=curvature,
                     method="trust-exact")
    return -found.fun - np.linalg.slogdet(prior_variance * curvature(found.x))[1] / 2
