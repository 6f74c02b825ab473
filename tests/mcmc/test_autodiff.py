"""TaylorControl.from_autodiff: expansions by automatic or numeric derivatives."""

import sys
import tracemalloc

import numpy as np
import pytest

from pybandit import mcmc
from pybandit.errors import MissingPackageError
from pybandit.mcmc import _autodiff
from pybandit.mcmc._autodiff import Hessians, products_of

from mcmc.regressions import Case
from racing.reference import likelihoods

N, D = 300, 3
RNG = np.random.default_rng(1)
X = RNG.normal(size=(N, D))
Y = X @ [1.0, -0.5, 0.2] + 0.5 * RNG.standard_t(4, size=N)
CENTER = np.array([0.9, -0.4, 0.2, np.log(0.6)])


def student(rows, theta, np=np):
    """Student's t log likelihood, four degrees of freedom; last parameter: log of the scale."""
    u = (Y[rows] - X[rows] @ theta[:D]) * np.exp(-theta[D])
    return -2.5 * np.log1p(u**2 / 4) - theta[D]


def by_hand():
    """Return gradients and Hessians of `student` at the center, from formulas."""
    scale = np.exp(CENTER[D])
    u = (Y - X @ CENTER[:D]) / scale
    first, second = -5 * u / (4 + u**2), -5 * (4 - u**2) / (4 + u**2)**2  # with respect to u
    du = np.column_stack([-X / scale, -u])
    gradients = first[:, None] * du
    gradients[:, D] -= 1.0
    hessians = second[:, None, None] * du[:, :, None] * du[:, None, :]
    mixed = first[:, None] * X / scale
    hessians[:, D, :D] += mixed
    hessians[:, :D, D] += mixed
    hessians[:, D, D] += first * u
    return gradients, hessians


def function_for(backend):
    if backend == "finite":
        return student
    numpy = pytest.importorskip("jax.numpy" if backend == "jax" else "autograd.numpy")
    if backend == "jax":
        def in_jax(rows, theta):
            x, y = numpy.asarray(X), numpy.asarray(Y)
            u = (y[rows] - x[rows] @ theta[:D]) * numpy.exp(-theta[D])
            return -2.5 * numpy.log1p(u**2 / 4) - theta[D]

        return in_jax
    return lambda rows, theta: student(rows, theta, numpy)


@pytest.mark.parametrize("backend, error", [("finite", 1e-6), ("jax", 1e-12),
                                            ("autograd", 1e-12)])
def test_expansion_equals_derivatives_from_formulas(backend, error):
    control = mcmc.TaylorControl.from_autodiff(function_for(backend), N, CENTER,
                                               backend=backend)
    gradients, hessians = by_hand()
    assert np.abs(control.gradients - gradients).max() < error * np.abs(gradients).max()
    assert control.directions.shape == (N, 2, D + 1) and control.hessians is None
    found = likelihoods.matrices_of(control.weights, control.directions)
    assert np.abs(found - hessians).max() < 10 * error * np.abs(hessians).max()
    # the sums are those of the stored products, up to rounding
    assert np.allclose(control.hessian, found.sum(axis=0), rtol=1e-12, atol=1e-10)
    assert np.allclose(control.gradient, control.gradients.sum(axis=0), rtol=1e-12)
    points = CENTER + 0.1 * np.random.default_rng(2).normal(size=(2, D + 1))
    changes = control.changes(points)(np.arange(N), [0])[:, 0]
    expected = likelihoods.expansion_changes(control.gradients, found, CENTER, points)
    assert np.allclose(changes, expected, rtol=1e-10, atol=1e-12)
    assert changes.sum() == pytest.approx(control.total_change(points)(), rel=1e-10)


@pytest.mark.parametrize("order", [1, 2])
def test_control_values_equal_the_taylor_expansion(order):
    gradients, hessians = by_hand()
    control = mcmc.TaylorControl(CENTER, gradients, hessians if order == 2 else None)
    points = CENTER + 0.1 * np.random.default_rng(2).normal(size=(2, D + 1))
    expected = likelihoods.expansion_changes(gradients, hessians * (order - 1), CENTER, points)
    rows = np.array([7, 0, 299, 7])
    assert np.allclose(control.changes(points)(rows, [0])[:, 0], expected[rows], rtol=1e-10)


@pytest.mark.parametrize("units", [(1, 1, 1, 1), (1e4, 1, 1e-4, 1), (1e8, 1e-8, 1e3, 1e-6)])
@pytest.mark.parametrize("backend, error", [("finite", 1e-5), ("jax", 1e-12),
                                            ("autograd", 1e-12)])
def test_expansion_does_not_depend_on_units(backend, error, units):
    function, units = function_for(backend), np.array(units, float)
    control = mcmc.TaylorControl.from_autodiff(
        lambda rows, theta: function(rows, theta * units), N, CENTER / units, backend=backend)
    gradients, hessians = by_hand()
    assert np.abs(control.gradients / units - gradients).max() < error * np.abs(gradients).max()
    assert control.directions.shape == (N, 2, D + 1)
    found = likelihoods.matrices_of(control.weights, control.directions) / np.outer(units, units)
    assert np.abs(found - hessians).max() < error * np.abs(hessians).max()


def test_large_coordinate_next_to_an_intercept_is_expanded():
    """Rows whose income is near 0 still have Hessians."""
    rng, size = np.random.default_rng(0), 3e4
    x = np.stack([np.ones(20_000), rng.normal(size=20_000) * size], axis=1)
    center = np.array([1.0, 1.0 / size])
    y = (rng.random(20_000) < 1 / (1 + np.exp(-x @ center))).astype(float)
    control = mcmc.TaylorControl.from_autodiff(
        lambda n, t: y[n] * (x[n] @ t) - np.logaddexp(0, x[n] @ t), 20_000, center)
    p = 1 / (1 + np.exp(-x @ center))
    expected = -(p * (1 - p))[:, None, None] * x[:, :, None] * x[:, None, :]
    found = likelihoods.matrices_of(control.weights, control.directions)
    assert (np.abs(found - expected) / np.outer([1, size], [1, size])).max() < 1e-5


@pytest.mark.parametrize("backend", ["finite", "autograd"])
@pytest.mark.parametrize("bend", [0.0, 1.0])
@pytest.mark.parametrize("near", [(0.0, 0.0), (1e-9, 1e-9), (0.5, 0.0), (1e-9, 0.5), (0.5, 1e-16)])
def test_products_of_parameters_near_zero_are_expanded(near, bend, backend):
    """Near 0 the slopes of products do not show lengths; also tests linear terms and a square."""
    if backend == "autograd":
        pytest.importorskip("autograd")

    def log_likelihood(rows, theta):
        return (X[rows, 0] * theta[0] * theta[1] - bend * theta[1]**2
                - (Y[rows] - theta[2])**2 + X[rows, 1] * theta[3] - theta[4] + theta[5])

    control = mcmc.TaylorControl.from_autodiff(log_likelihood, N, [*near, 0.3, 0.1, 0.2, 9.0],
                                               backend=backend)
    expected = np.zeros((N, 6, 6))
    expected[:, 0, 1] = expected[:, 1, 0] = X[:, 0]
    expected[:, 1, 1], expected[:, 2, 2] = -2.0 * bend, -2.0
    assert control.directions.shape == (N, 3, 6)
    found = likelihoods.matrices_of(control.weights, control.directions)
    assert np.abs(found - expected).max() < 1e-5


def test_chain_with_autodiff_control_samples_the_posterior():
    """Posterior and number of rows read equal those with derivatives from formulas."""
    def log_likelihood(rows, points):
        return np.stack([student(rows, p) for p in points], axis=1)

    runs = []
    for control in (mcmc.TaylorControl.from_autodiff(student, N, CENTER),
                    mcmc.TaylorControl(CENTER, *by_hand())):
        proposal = mcmc.Preconditioned.from_control(control, prior_precision=1.0)
        runs.append(mcmc.RacingMetropolis(
            log_likelihood, N, D + 1, control=control, proposal=proposal,
            prior_precision=1.0).sample(1000, n_chains=2, rng=1))
    draws = [run["posterior"]["x"].to_numpy().reshape(-1, D + 1) for run in runs]
    assert np.allclose(draws[0].mean(axis=0), draws[1].mean(axis=0),
                       atol=0.2 * draws[1].std(axis=0).min())
    reads = [float(run["sample_stats"]["fraction"].mean()) for run in runs]
    assert 0.8 < reads[0] / reads[1] < 1.25 and reads[0] < 0.9


def test_exact_chain_with_exact_derivatives_samples_the_posterior():
    """The products that from_autodiff stores serve user-defined rows."""
    pytest.importorskip("xarray")
    case = Case("logistic", 400, 2)
    mode = case.sampler().mode
    third = np.linalg.norm(case.x, axis=1)**3 / (6 * np.sqrt(3))

    def log_likelihood(rows, points):
        s = case.x[rows] @ points.T
        return case.y[rows, None] * s - np.logaddexp(0.0, s)

    p = 1 / (1 + np.exp(-case.x @ mode))
    control = mcmc.TaylorControl(mode, (case.y - p)[:, None] * case.x)
    control.directions = np.ascontiguousarray(case.x[:, None, :])
    control.weights = np.ascontiguousarray(-(p * (1 - p))[:, None])
    control.hessian = np.ascontiguousarray((case.x.T * control.weights[:, 0]) @ case.x)

    def run(third):
        control.third = third
        return mcmc.ExactMinibatch.from_control(control, log_likelihood=log_likelihood).step(
            mode, n_steps=2000, rng=1)

    # acceptance is as frequent as with the built-in family, up to rounding
    expected = case.sampler().step(mode, n_steps=2000, rng=1)
    assert abs(run(third).n_accepted - expected.n_accepted) < 60
    with pytest.raises(ValueError, match="the bound of row"):
        run(0.02 * third)


def test_hessians_of_high_rank_stay_matrices():
    squares = RNG.normal(size=(50, 4, 4))
    squares = squares + squares.transpose(0, 2, 1)

    def log_likelihood(rows, theta):
        return np.einsum("i,nij,j->n", theta, squares[rows], theta)

    control = mcmc.TaylorControl.from_autodiff(log_likelihood, 50, np.zeros(4))
    assert control.hessians.shape == (50, 4, 4) and control.directions is None
    assert np.allclose(control.hessians, 2 * squares, atol=1e-6)
    flat = mcmc.TaylorControl.from_autodiff(lambda rows, theta: X[rows] @ theta, N, np.zeros(3))
    assert flat.directions is None and flat.hessians is None and np.allclose(flat.hessian, 0.0)


def test_stored_matrices_are_copied_once(monkeypatch):
    """Only the blocks and the array of all rows are in memory."""
    monkeypatch.setattr(_autodiff, "NUMBERS", 1 << 15)
    n, d = 20_000, 6

    def log_likelihood(rows, theta):
        return -((rows[:, None] % 7 - theta) ** 2).sum(axis=1)

    tracemalloc.start()
    try:
        control = mcmc.TaylorControl.from_autodiff(log_likelihood, n, np.zeros(d))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert control.hessians.shape == (n, d, d) and control.directions is None
    assert np.array_equal(control.hessian, control.hessians.sum(axis=0))
    given = mcmc.TaylorControl(np.zeros(d), control.gradients, control.hessians)
    assert not np.shares_memory(given.hessians, control.hessians)
    assert most < 2.9 * control.hessians.nbytes, most / control.hessians.nbytes


def test_products_reproduce_any_symmetric_matrix():
    """Indefinite matrices, with zeros on the diagonal, of different ranks, and 0."""
    rng = np.random.default_rng(3)
    hessians = np.zeros((60, 5, 5))
    hessians[0, 0, 1] = hessians[0, 1, 0] = 1.0
    hessians[1] = np.diag([1.0, -1.0, 0, 0, 0])
    for n in range(3, 60):
        v = rng.normal(size=(n % 3, 5))
        hessians[n] = (v.T * rng.choice([-1e-3, 1.0, 1e4], n % 3)) @ v
    weights, directions = products_of(Hessians(hessians, np.ones(5)), 1e-13, 2)
    assert weights.shape == (60, 2) and directions.shape == (60, 2, 5)
    found = likelihoods.matrices_of(weights, directions)
    scale = np.abs(hessians).max(axis=(1, 2), keepdims=True) + 1e-300
    assert (np.abs(found - hessians) <= 1e-11 * scale).all()
    full = np.eye(5)[None]
    assert products_of(Hessians(full, np.ones(5)), 1e-13, 4) is full


@pytest.mark.parametrize("call, kind, words", [
    (lambda **o: o | dict(backend="torch"), ValueError, "backend must be one of"),
    (lambda **o: o | dict(log_likelihood=3), TypeError, "log_likelihood must be callable"),
    (lambda **o: o | dict(n_factors=0), ValueError, "n_factors"),
    (lambda **o: o | dict(center=[[1.0]]), ValueError, "center must have shape"),
    (lambda **o: o | dict(third=-1.0), ValueError, "third"),
    (lambda **o: o | dict(log_likelihood=lambda n, t: np.zeros(3)), ValueError, "return shape"),
    (lambda **o: o | dict(log_likelihood=lambda n, t: np.full(n.size, np.nan)), ValueError,
     "finite gradient at center; factor 0"),
])
def test_invalid_arguments_raise(call, kind, words):
    options = call(log_likelihood=student, n_factors=N, center=CENTER)
    with pytest.raises(kind, match=words):
        mcmc.TaylorControl.from_autodiff(**options)


@pytest.mark.parametrize("backend, module", [("jax", "jax"),
                                             ("autograd", "autograd.differential_operators")])
def test_missing_package_is_named(backend, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingPackageError, match=rf"pybandit-core\[{backend}\]"):
        mcmc.TaylorControl.from_autodiff(student, N, CENTER, backend=backend)
