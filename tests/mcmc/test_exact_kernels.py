"""C code of exact chains: reference implementations, and bounds on dense grids."""

import numpy as np
import pytest

from pybandit.mcmc._exact import Chain
from pybandit.mcmc._moves import Move
from pybandit.mcmc._problem import Regression, spread

from mcmc.reference import minibatch as twin
from mcmc.regressions import FAMILIES, Case


@pytest.mark.parametrize("family, points, sup", [
    (twin.Family("logistic"), (-20, 20, 1e-4), twin.LOGISTIC),
    # first the grid of the proof in csrc/mcmc/glm.c, then a much longer grid
    (twin.Family("probit"), (-3, 4, 1e-5), 0.29572),
    (twin.Family("probit"), (-30, 30, 1e-3), 0.29572),
    (twin.Family("student", 3.0, 0.7), (-40, 40, 1e-4), twin.student_third(3.0, 0.7)),
    (twin.Family("student", 0.5, 2.0), (-40, 40, 1e-4), twin.student_third(0.5, 2.0)),
])
def test_third_derivatives_are_within_their_bound(family, points, sup):
    s = np.arange(points[0], points[1] + points[2], points[2])
    y = 1.0 if family.name != "student" else 0.25
    third = np.abs(family.derivatives(y, s)[2])
    assert third.max() <= sup * (1 + 1e-12)
    assert third.max() > sup * (1 - 1e-4)  # the bound is nearly reached
    x, data = np.ones((1, 1)), np.array([y])
    found = Regression(x, data, None, family.name, family.df, family.scale).third
    assert sup <= found < sup * 1.001


def test_probit_proof_steps_hold():
    """|F''''| <= 32 on [-3, 4], so a grid of 1e-5 suffices there; also checks both tails."""
    t = np.arange(-3, 4.00001, 1e-5)
    family = twin.Family("probit")
    m, _, third = family.derivatives(1.0, t)
    fourth = np.diff(third) / 1e-5
    assert np.abs(fourth).max() < 32 and (t + 2 * m).max() < 4.01 and m.max() < 3.29
    assert 0.29572 + 32 * 0.5e-5 < twin.PROBIT
    low, high = np.arange(-60, -3, 1e-3), np.arange(4, 60, 1e-3)
    assert np.abs(family.derivatives(1.0, low)[2][low > -30]).max() < 6 / 27
    assert np.abs(family.derivatives(1.0, high)[2]).max() < 0.0022


def test_spread_is_the_maximum_over_directions():
    rng = np.random.default_rng(1)
    for trial in range(300):
        d = 1 + trial % 7
        z, other = rng.normal(size=(2, d)) * rng.exponential(size=(2, 1))
        if trial % 4 == 0:
            other = z + 1e-3 * rng.normal(size=d)
        found = spread(z, other)
        assert found == pytest.approx(twin.smooth_spread(z, other), rel=1e-10)
        assert found == spread(other, z)
        if d > 1:
            assert found == pytest.approx(twin.spread(z, other), rel=1e-6)
        w = rng.normal(size=(500, d))
        w /= np.linalg.norm(w, axis=1)[:, None]
        assert (np.abs((w @ other)**3 - (w @ z)**3) / 3 <= found * (1 + 1e-12)).all()
        far = max(z @ z, other @ other) * np.linalg.norm(other - z)
        assert found <= far * (1 + 1e-12)


@pytest.mark.parametrize("kind", FAMILIES)
def test_sums_bounds_and_remainders_equal_reference(kind):
    case = Case(kind, 200, 4)
    sampler = case.sampler()
    regression, problem = sampler._regression, case.problem(sampler.mode)
    theta = sampler.mode + 0.1
    value, gradient, hessian = regression.sums(theta)
    s = case.x @ theta
    first, second, _ = case.twin.derivatives(case.y, s, case.trials)
    assert value == pytest.approx(case.twin.value(case.y, s, case.trials).sum(), rel=1e-12)
    assert np.allclose(gradient, case.x.T @ first, rtol=1e-10, atol=1e-10)
    assert np.allclose(hessian, (case.x.T * second) @ case.x, rtol=1e-10, atol=1e-10)
    some = regression.sums(theta, 3)
    assert some[0] == pytest.approx(case.twin.value(
        case.y[::3], s[::3], case.trials[::3]).sum(), rel=1e-12)
    assert np.allclose(sampler._factor, problem.factor, rtol=1e-8, atol=1e-12)
    assert np.allclose(regression.rows[:, 0], problem.bounds, rtol=1e-8)
    assert np.allclose(regression.rows[:, 1], problem.third, rtol=1e-12)
    assert regression.total == pytest.approx(problem.bounds.sum(), rel=1e-8)
    z = np.random.default_rng(2).normal(size=4)
    change = case.x @ (problem.factor @ z)
    found = [regression.remainder(i, change[i]) for i in range(200)]
    assert np.allclose(found, problem.remainders(z), rtol=1e-6, atol=1e-12)


def moves_of(kind, d):
    rng = np.random.default_rng(3)
    factor = np.tril(0.2 * rng.normal(size=(d, d))) + np.eye(d)
    center = 0.2 * rng.normal(size=d)
    draws = Move(False, None, None, 0.6, 0.65, 0.9, 0.4)
    walk = Move(True, None, None, 1.0, 0.3, 1.2)
    return {"draws": [draws], "walk": [walk], "both": [draws, walk],
            "own": [Move(False, factor, center, 0.5, 0.65, 0.8),
                    Move(True, factor, None, 1.0, 0.3, 0.7)]}[kind]


@pytest.mark.some(14)
@pytest.mark.parametrize("adapts", [False, True])
@pytest.mark.parametrize("test, most", [("factorised", np.inf), ("auxiliary", np.inf),
                                        ("factorised", 3.0), ("auxiliary", 5.0)])
@pytest.mark.parametrize("kind, moves", [("logistic", "draws"), ("binomial", "both"),
                                         ("probit", "own"), ("student", "walk")])
def test_chain_equals_its_reference(kind, moves, test, most, adapts):
    """Decisions, rows and scales agree at every step for the same random numbers."""
    case = Case(kind, 60, 3, size=1.5)
    sampler = case.sampler(test=test, gamma=0.7)
    regression, given = sampler._regression, moves_of(moves, 3)
    regression.decide_by(test, 0.7, most)
    chain = Chain(regression, given, np.random.default_rng(9), sampler.mode, adapts)
    copies = [twin.Move(m.is_walk, m.scale, m.target, m.factor,
                        0.0 if m.center is None else m.center, m.below, m.target_all)
              for m in given]
    other = twin.Chain(case.problem(sampler.mode), copies, np.random.default_rng(9), test, 0.7,
                       most)
    n_accepted = n_read = 0
    for _ in range(400):
        chain.steps(1)
        accepted, read = other.step(adapts)
        n_accepted, n_read = n_accepted + accepted, n_read + read
        assert chain.counts[:2] == (n_accepted, n_read)
        assert np.allclose(chain.values, sampler.mode + sampler._factor @ other.z, atol=1e-7)
    assert n_accepted > 40 and n_read > 40
    scales = np.atleast_1d(chain.scale) * [m.scale for m in given]
    assert np.allclose(scales, [m.scale for m in copies], rtol=1e-9)


def test_chain_without_anchor_raises():
    regression = Regression(np.ones((2, 1)), np.zeros(2), None, "logistic", 1.0, 1.0)
    with pytest.raises(ValueError, match="call anchor first"):
        Chain(regression, moves_of("walk", 1), np.random.default_rng(1), np.zeros(1))
