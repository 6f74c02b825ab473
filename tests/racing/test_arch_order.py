"""Models, control variates and chains of examples/papers/chen2016/figure_2.py."""

import numpy as np
import pytest
from scipy.special import logsumexp

from papers import NO_PAPERS, PAPERS, imports_of

pytestmark = NO_PAPERS
if PAPERS.is_dir():
    with imports_of("chen2016"):
        import arch_chain
        import arch_model
        import figure_2 as arch_order


def simulated(n, seed=1):
    """Return simulated returns of an ARCH model of order 2, Student-t with 6 degrees of freedom."""
    rng, returns = np.random.default_rng(seed), np.zeros(n)
    for t in range(n):
        s = 0.4 + 0.3 * returns[t - 1] ** 2 + 0.2 * returns[t - 2] ** 2
        returns[t] = np.sqrt(s) * rng.standard_t(6)
    return returns


@pytest.fixture(scope="module")
def models():
    data = arch_model.Returns(simulated(800), 4)
    return [arch_model.Model(data, order) for order in (1, 2, 4)]


def test_rows_hold_the_latest_square_first():
    returns = np.arange(1.0, 8.0)
    data = arch_model.Returns(returns, 3)
    assert data.r.tolist() == [4, 5, 6, 7]
    assert data.squares.tolist() == [[9, 4, 1], [16, 9, 4], [25, 16, 9], [36, 25, 16]]


def test_density_equals_students():
    from scipy.stats import t
    r, s, nu = np.array([0.3, -2.0]), np.array([0.5, 4.0]), 5.5
    found = arch_model.log_density(r, s, nu) + arch_model.constant(nu)
    np.testing.assert_allclose(found, t.logpdf(r, nu, scale=np.sqrt(s)), rtol=1e-13)


def test_taylor_coefficients_are_derivatives():
    r, s, nu, e = 0.7, 1.3, 4.0, 1e-5
    _, by_r, by_s, by_rr, by_rs, by_ss = arch_model.expand(r, s, nu)
    along_r = (arch_model.expand(r + e, s, nu) - arch_model.expand(r - e, s, nu)) / (2 * e)
    along_s = (arch_model.expand(r, s + e, nu) - arch_model.expand(r, s - e, nu)) / (2 * e)
    np.testing.assert_allclose([by_r, by_rr, by_rs], along_r[:3], rtol=1e-8)
    np.testing.assert_allclose([by_s, by_rs, by_ss], along_s[:3], rtol=1e-8)


def test_gradients_are_derivatives(models):
    model, rng = models[1], np.random.default_rng(1)
    theta, e = model.draw_pseudo(rng), 1e-5
    found = model.log_posterior_gradient(theta)
    for i, step in enumerate(e * np.eye(theta.size)):
        slope = (model.log_posterior(theta + step) - model.log_posterior(theta - step)) / (2 * e)
        assert found[i] == pytest.approx(slope, rel=1e-6, abs=1e-5)
    rows = np.array([5, 9, 9])
    np.testing.assert_allclose(model.gradients(theta)[rows].sum(axis=0),
                               model.gradient(theta, rows))


def test_pseudoprior_is_a_normal_at_the_mode(models):
    from scipy.stats import multivariate_normal
    model, rng = models[1], np.random.default_rng(1)
    assert np.abs(model.log_posterior_gradient(model.mode)).max() < 1e-3
    theta = model.draw_pseudo(rng)
    law = multivariate_normal(model.mode, model.covariance)
    assert model.log_pseudo(theta) == pytest.approx(law.logpdf(theta))
    draws = np.array([model.draw_pseudo(rng) for _ in range(4000)])
    np.testing.assert_allclose(np.cov(draws.T), model.covariance, rtol=0.2, atol=0.01)


def test_rewards_and_controls_sum_to_the_log_likelihood(models):
    rng = np.random.default_rng(2)
    arms = arch_model.Arms(models, [model.draw_pseudo(rng) for model in models])
    known, rows, states = arms.expand(), np.arange(models[0].data.r.size), np.arange(3)
    outliers = np.column_stack([model.outlier for model in models])
    assert (outliers.sum(axis=0) == round(0.2 * rows.size)).all()
    assert arms.n_evaluations == outliers.sum() + sum(len(model.centres) for model in models)
    rewards, controls = arms.rewards(rows, states), arms.controls(rows, states)
    assert arms.n_evaluations == rewards.size + sum(len(model.centres) for model in models)
    assert (rewards[outliers] == 0).all() and (controls[outliers] == 0).all()
    np.testing.assert_allclose((rewards - controls).sum(axis=0) + known, arms.totals(), rtol=1e-12)
    some, few = rows[90:7:-1], np.array([0, 2])
    np.testing.assert_allclose(arms.rewards(some, few), rewards[some][:, few], rtol=1e-12)
    np.testing.assert_allclose(arms.controls(some, few), controls[some][:, few], rtol=1e-12)


def test_control_variates_reduce_the_variance(models):
    for model in models:
        of_rewards, of_differences = arch_order.variance_ratios(model, np.random.default_rng(1))
        assert of_rewards > 1000 and of_differences > 50


def even(models, **options):
    """Return a chain that visits all models about equally often."""
    chain = arch_chain.Chain(models, 3, batch=30, **options)
    chain.log_prior = np.array([model.log_pseudo(model.mode) - model.log_posterior(model.mode)
                                for model in models])
    return chain


def test_racing_at_tiny_delta_is_exact_step_by_step(models):
    """Racing and exact decisions are equal for the same minibatches and random numbers."""
    exact = even(models, racing=False)
    raced = even(models, racing=True, delta=1e-9, check=True)
    visited, moved = set(), set()
    for _ in range(100):
        moved.add(exact.sweep())
        raced.sweep()
        assert exact.choice == raced.choice
        visited.add(exact.choice)
        for mine, other in zip(exact.thetas, raced.thetas, strict=True):
            np.testing.assert_array_equal(mine, other)
    assert visited == {0, 1, 2} and moved == {False, True}
    assert raced.errors == {"Gibbs": [False] * 100, "MH": [False] * 100}


def test_errors_of_a_careless_race_are_counted(models, monkeypatch):
    """With delta = .45 and no control variate, some decisions are wrong, and they are counted."""
    class Plain(arch_model.Arms):
        def expand(self):
            rows, states = np.arange(self.data.r.size), np.arange(len(self.models))
            return self.totals() - self.rewards(rows, states).sum(axis=0)

        def controls(self, rows, states):
            return np.zeros((rows.size, states.size))

    monkeypatch.setattr(arch_chain, "Arms", Plain)
    chain = even(models, racing=True, delta=0.45, check=True)
    for _ in range(100):
        chain.sweep()
    assert 0 < sum(chain.errors["MH"]) < 50
    assert 0 < sum(chain.errors["Gibbs"]) < 50


class AsPrinted(arch_chain.Chain):
    """Chain by Eq. 25, without the ratio of prior to pseudoprior in the model's conditional."""

    def log_weights(self):
        return self.log_prior


@pytest.fixture(scope="module")
def toy():
    """Return two models of few returns, and evidences from 5,000 draws of the pseudopriors."""
    data, rng = arch_model.Returns(simulated(60), 2), np.random.default_rng(1)
    models = [arch_model.Model(data, order) for order in (1, 2)]
    weights = np.empty((5000, 2))
    for i, model in enumerate(models):
        for row in weights:
            theta = model.draw_pseudo(rng)
            row[i] = model.log_posterior(theta) - model.log_pseudo(theta)
    top = weights.max(axis=0)
    sizes = np.exp(weights - top).sum(axis=0) ** 2 / np.exp(2 * (weights - top)).sum(axis=0)
    assert (sizes > 500).all()
    return models, logsumexp(weights, axis=0) - np.log(len(weights))


def share_of_the_second(chain, n_sweeps):
    chain.log_prior = np.array([0.0, 0.3])
    visits = np.empty((1, n_sweeps))
    for t in range(n_sweeps):
        chain.sweep()
        visits[0, t] = chain.choice
    share = visits.mean()
    return share, np.sqrt(share * (1 - share) / arch_order.effective_size(visits))


@pytest.mark.parametrize("racing", [False, True])
def test_chain_samples_the_posterior_of_the_model(toy, racing):
    models, evidences = toy
    exact = 1 / (1 + np.exp(evidences[0] - evidences[1] - 0.3))
    share, error = share_of_the_second(arch_chain.Chain(models, 1, racing=racing), 1200)
    assert 0.1 < exact < 0.9 and error < 0.04
    assert share == pytest.approx(exact, abs=5 * error + 0.01)


def test_chain_without_the_pseudoprior_ratio_is_biased(toy):
    models, evidences = toy
    exact = 1 / (1 + np.exp(evidences[0] - evidences[1] - 0.3))
    share, error = share_of_the_second(AsPrinted(models, 1, racing=False), 1200)
    assert abs(share - exact) > 8 * error


def test_effective_size_equals_that_of_known_chains():
    """An AR(1) chain with coefficient .5 has a third of its length; independent draws have all."""
    rng = np.random.default_rng(1)
    noise = rng.standard_normal((4, 10_000))
    chain = np.zeros_like(noise)
    for t in range(1, noise.shape[1]):
        chain[:, t] = 0.5 * chain[:, t - 1] + noise[:, t]
    assert arch_order.effective_size(chain) == pytest.approx(chain.size / 3, rel=0.1)
    assert arch_order.effective_size(noise) == pytest.approx(noise.size, rel=0.1)


def test_reached_is_the_first_time_close():
    believed = np.array([[9.0, 9.0], [9.0, 0.0], [4.0, 0.0], [9.0, 9.0]])
    spent = np.arange(1.0, 5.0) * 10
    assert arch_order.reached(spent, believed, np.zeros(2)) == 30
    assert arch_order.reached(spent, believed, np.full(2, 9.0)) == 10
    assert np.isnan(arch_order.reached(spent, believed, np.full(2, 90.0)))
