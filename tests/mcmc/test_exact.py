"""ExactMinibatch samples the posterior for every family, test and proposal."""

import numpy as np
import pytest
from scipy import stats

from pybandit import mcmc

from mcmc.regressions import FAMILIES, Case, cell_counts, cell_law

pytest.importorskip("xarray")

# name: (proposal for a given mode and covariance, steps per draw)
PROPOSALS = {
    "laplace": (lambda m, c: "laplace", 12),
    "walk": (lambda m, c: "walk", 60),
    "b = .5": (lambda m, c: mcmc.Preconditioned(m, c, step=0.5), 60),
    "elsewhere": (lambda m, c: mcmc.Preconditioned(m + 0.3 * np.sqrt(np.diag(c)), 1.7 * c,
                                                   step=0.9), 25),
    "mixture": (lambda m, c: mcmc.Mixture(
        [mcmc.Preconditioned(m, c, step=0.8), mcmc.RandomWalk(np.sqrt(np.diag(c)))], [2, 1]), 30),
}
TESTS = [("factorised", 0.5), ("auxiliary", 0.05), ("auxiliary", 0.5), ("auxiliary", 3.0)]


def p_value(case, n_draws, proposal, test, gamma, most=np.inf, seed=7):
    """Return the p-value of a chi-square test of the draws against the integrated posterior."""
    plain = case.sampler()
    make, thin = PROPOSALS[proposal]
    sampler = case.sampler(proposal=make(plain.mode, plain.covariance), test=test, gamma=gamma,
                           adapt=False)
    # if more than a share `most` of rows is expected, all are read; never if `most` is inf
    sampler._regression.decide_by(test, gamma, most * sampler._regression.total)
    tree = sampler.sample(n_draws, n_warmup=200, n_chains=1, thin=thin, rng=seed)
    draws = tree["posterior"]["x"].to_numpy()[0]
    edges, law = cell_law(case, plain.mode, np.sqrt(np.diag(plain.covariance)),
                          n_cells=20 if plain.mode.size == 1 else 7)
    counts = cell_counts(draws, edges)
    assert counts.sum() > 0.999 * n_draws
    return stats.chisquare(counts, counts.sum() * law).pvalue, tree["sample_stats"]


@pytest.mark.some(9)
@pytest.mark.parametrize("test, gamma", TESTS)
@pytest.mark.parametrize("proposal", PROPOSALS)
def test_draws_have_the_posterior_distribution(proposal, test, gamma):
    """Uses twelve rows and one parameter, so that remainders matter and differ between rows."""
    p, _ = p_value(Case("logistic", 12, 1, size=2.0), 40_000, proposal, test, gamma)
    assert p > 1e-6


@pytest.mark.some(1)
@pytest.mark.parametrize("test, gamma", TESTS[::2])
@pytest.mark.parametrize("kind", FAMILIES)
def test_every_family_samples_its_posterior_in_the_plane(kind, test, gamma):
    """A chain reads few rows near the mode and all rows far from it; both occur."""
    p, statistics = p_value(Case(kind, 50, 2), 40_000, "laplace", test, gamma, most=2.0)
    assert p > 1e-6
    assert 0.1 < statistics["n_exact"].mean() / 12 < 0.9


def test_reading_all_rows_samples_the_posterior():
    p, statistics = p_value(Case("probit", 20, 1), 20_000, "laplace", "factorised", 0.5,
                            most=0.0)
    assert p > 1e-6 and (statistics["fraction"] == 1.0).all()


def test_draws_from_the_approximation_are_detected():
    """The chi-square tests detect draws from the normal approximation."""
    case = Case("logistic", 12, 1, size=2.0)
    plain = case.sampler()
    edges, law = cell_law(case, plain.mode, np.sqrt(np.diag(plain.covariance)), n_cells=20)
    draws = np.random.default_rng(1).normal(plain.mode[0], np.sqrt(plain.covariance[0, 0]),
                                            size=(40_000, 1))
    counts = cell_counts(draws, edges)
    assert stats.chisquare(counts, counts.sum() * law).pvalue < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("test, gamma", TESTS)
@pytest.mark.parametrize("kind, d, proposal", [
    *(("logistic", 1, proposal) for proposal in PROPOSALS), ("logistic", 2, "mixture"),
    ("student", 1, "laplace"), ("probit", 2, "laplace"), ("binomial", 2, "elsewhere")])
def test_million_draws_have_the_posterior_distribution(kind, d, proposal, test, gamma):
    case = Case(kind, 30, d, size=1.5)
    assert p_value(case, 1_000_000, proposal, test, gamma)[0] > 1e-6


def test_expansion_away_from_the_mode_is_exact():
    """The gradient at the point of expansion is kept, so any point is valid."""
    case = Case("logistic", 12, 1, size=2.0)
    plain = case.sampler()
    mode = plain.mode + 0.5 * np.sqrt(plain.covariance[0])
    sampler = case.sampler(mode=mode, proposal="walk", adapt=False)
    assert np.array_equal(sampler.mode, mode)
    draws = sampler.sample(40_000, n_warmup=200, n_chains=1, thin=60, rng=3)
    edges, law = cell_law(case, plain.mode, np.sqrt(np.diag(plain.covariance)), n_cells=20)
    counts = cell_counts(draws["posterior"]["x"].to_numpy()[0], edges)
    assert stats.chisquare(counts, counts.sum() * law).pvalue > 1e-6


@pytest.mark.parametrize("test", ["factorised", "auxiliary"])
@pytest.mark.parametrize("column", [0, 1], ids=["of a row", "of the third derivative"])
@pytest.mark.parametrize("kind", FAMILIES)
def test_halved_bound_raises(kind, column, test):
    sampler = Case(kind, 40, 1, size=2.0).sampler(test=test)
    sampler._regression.rows[:, column] /= 2
    sampler._regression.decide_by(test, 0.5, np.inf)
    with pytest.raises(ValueError, match=r"bound of row \d+ does not hold.*changes by .* theta"):
        sampler.sample(20_000, n_chains=1, rng=1)
    with pytest.raises(ValueError, match=r"bound of row \d+ does not hold"):
        sampler.step(sampler.mode, n_steps=20_000, rng=1)


def independence_sampler(case, plain, n_draws, rng):
    """Sample with all rows at every step and proposals from the normal approximation."""
    z = rng.normal(size=(n_draws, plain.mode.size))
    thetas = plain.mode + z @ np.linalg.cholesky(plain.covariance).T
    weights = np.concatenate([case.log_density(part) for part in
                              np.array_split(thetas, n_draws // 50)]) + (z**2).sum(axis=1) / 2
    draws, now = np.empty_like(thetas), 0
    for i, e in enumerate(rng.standard_exponential(n_draws)):
        if weights[i] - weights[now] > -e:
            now = i
        draws[i] = thetas[now]
    return draws


@pytest.mark.slow
@pytest.mark.parametrize("test", ["factorised", "auxiliary"])
def test_moments_of_twenty_parameters_match_full_sampler(test):
    """Compare with a sampler that reads all 20,000 rows, up to 4 standard errors of batch means."""
    case = Case("logistic", 20_000, 20, size=0.5)
    plain = case.sampler(test=test)
    scale = np.sqrt(np.diag(plain.covariance))
    tree = plain.sample(20_000, n_warmup=500, n_chains=1, rng=5)
    assert tree["sample_stats"]["n_evaluations"].mean() < 400
    chains = [tree["posterior"]["x"].to_numpy()[0],
              independence_sampler(case, plain, 6_000, np.random.default_rng(6))]
    for power in (1, 2):
        batches = [((chain - plain.mode) / scale).__pow__(power).reshape(40, -1, 20).mean(axis=1)
                   for chain in chains]
        difference = batches[0].mean(axis=0) - batches[1].mean(axis=0)
        error = np.sqrt(sum(b.var(axis=0, ddof=1) / 40 for b in batches))
        assert (np.abs(difference) < 4 * error).all() and (error < 0.1).all()
