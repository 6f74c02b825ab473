"""Population Monte Carlo for a caplet: a mixture of proposals that adapts its shares.

Used by `figure_2.py`.
"""

from typing import NamedTuple

import numpy as np

import pybandit as pb


class PopulationEstimate(NamedTuple):
    """Mean of the weighted payoffs, their sample variance, and the final shares of the arms."""

    estimate: float
    variance: float
    alphas: np.ndarray


def population_monte_carlo(caplet, n, *, population=100, rule="variance", rng=None):
    """Estimate the price of a caplet by d-kernel population Monte Carlo.

    Paths are drawn from the mixture of the arms with shares alpha, and have the mixture's weights
    ``w = 1 / sum_j alpha_j exp(theta_j W_T - theta_j^2 T / 2)``. After each population,
    alpha_k becomes proportional to the sum over its paths of the quantity chosen by `rule`. An
    arm without a path in some population is never chosen again. The estimate is unbiased because
    shares depend on the past alone. Douc, Guillin, Marin & Robert 2007, Minimum variance
    importance sampling via population Monte Carlo.

    Parameters
    ----------
    caplet : pybandit.environments.CIRCaplet
    n : int
        Total number of paths, at least 2.
    population : int, default 100
        Number of paths between two changes of the shares, at least 1.
    rule : {"variance", "printed"}
        ``"variance"``: (w p)^2, where p is the payoff, which makes the variance small.
        ``"printed"``: w, as in Neufeld et al. 2014, which does not depend on the payoff.
    rng : None, int, SeedSequence or Generator

    Returns
    -------
    PopulationEstimate
    """
    if not isinstance(caplet, pb.environments.CIRCaplet):
        raise TypeError(f"caplet must be a CIRCaplet; got {type(caplet).__name__}")
    for name, value, least in (("n", n, 2), ("population", population, 1)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}; got {value}")
    if rule not in ("variance", "printed"):
        raise ValueError(f"rule must be 'variance' or 'printed'; got {rule!r}")
    rng = np.random.default_rng(rng)
    thetas, weighted = caplet.thetas, np.empty(n)
    alphas = np.full(thetas.size, 1 / thetas.size)
    for start in range(0, n, population):
        size = min(population, n - start)
        arms = rng.choice(thetas.size, size, p=alphas)
        payoffs, brownian = caplet.paths(arms, rng)
        weights = 1 / (np.exp(np.multiply.outer(brownian, thetas)
                              - thetas**2 * caplet.maturity / 2) @ alphas)
        weighted[start:start + size] = found = weights * payoffs
        counted = np.bincount(arms, found**2 if rule == "variance" else weights, thetas.size)
        if counted.any():
            alphas = counted / counted.sum()
    return PopulationEstimate(float(weighted.mean()), float(weighted.var(ddof=1)), alphas)
