"""Population Monte Carlo: the mixture of proposals that learns its own shares."""

from typing import NamedTuple

import numpy as np

from pybandit._shared.checks import check_choice, check_integer, shown
from pybandit._shared.generators import as_generator
from pybandit._shared.types import Rng
from pybandit.montecarlo.estimators import CIRCaplet


class PopulationEstimate(NamedTuple):
    """What `population_monte_carlo` found.

    Attributes
    ----------
    estimate : float
        The mean of the weighted payoffs.
    variance : float
        Their sample variance: n times the mean squared error, estimated.
    alphas : ndarray of float64, shape (n_arms,)
        The shares of the arms after the last population.

    Notes
    -----
    **Threads.** Nothing changes it: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> found = pb.montecarlo.population_monte_carlo(pb.environments.CIRCaplet(0.07), 1000, rng=1)
    >>> round(found.estimate, 2), round((found.variance / 1000) ** 0.5, 2)   # and its error
    (9.34, 0.08)
    >>> found.alphas.size, found.alphas.max().round(2)
    (16, np.float64(0.22))
    """

    estimate: float
    variance: float
    alphas: np.ndarray


def population_monte_carlo(caplet: CIRCaplet, n: int, *, population: int = 100,
                           rule: str = "variance", rng: Rng = None) -> PopulationEstimate:
    """The price of a caplet by d-kernel population Monte Carlo.

    Paths come from the mixture of the arms in shares alpha, with the mixture's weights
    ``w = 1 / sum_j alpha_j exp(theta_j W_T - theta_j^2 T / 2)``. After each population
    alpha_k becomes proportional to the sum over its paths of what `rule` says. An arm
    that a population never chose is never chosen again.

    Parameters
    ----------
    caplet : CIRCaplet
    n : int
        Paths in all, at least 2.
    population : int
        Paths between two changes of the shares, at least 1.
    rule : {"variance", "printed"}
        "variance": of (w p)^2, p the payoff, which makes the variance small. "printed":
        of w, as in Neufeld et al. 2014, which never sees the payoff.
    rng : None, int, SeedSequence or Generator

    Returns
    -------
    PopulationEstimate
        The estimate is unbiased: shares depend on the past alone.

    Raises
    ------
    ValueError, TypeError
        Where an argument is outside its range.

    References
    ----------
    Douc, Guillin, Marin & Robert 2007, Minimum variance importance sampling via
    population Monte Carlo.

    Examples
    --------
    >>> import pybandit as pb
    >>> found = pb.montecarlo.population_monte_carlo(pb.environments.CIRCaplet(0.07), 1000, rng=1)
    >>> bool(abs(found.estimate - 9.2567) < 0.5)
    True
    """
    if not isinstance(caplet, CIRCaplet):
        raise TypeError(f"caplet must be a CIRCaplet; got {shown(caplet)}")
    n = check_integer("n", n, 2)
    population = check_integer("population", population, 1)
    check_choice("rule", rule, ("variance", "printed"))
    rng = as_generator(rng)
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
