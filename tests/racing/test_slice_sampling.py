"""slice_sample: distribution of a chain, reads and bad input."""

import numpy as np
import pytest
from scipy import stats

import pybandit as pb

Y = np.random.default_rng(12).normal(0.7, 1.0, 60)


def normal_data(indices, points):
    return -0.5 * (Y[indices, None] - points) ** 2


def chain(log_likelihood, x, n, rng, **options):
    draws = []
    for _ in range(n):
        x = pb.racing.slice_sample(log_likelihood, x, rng=rng, **options).x
        draws.append(x)
    return np.array(draws)


def assert_normal(draws, mean, sd):
    """Check quantiles of a chain with nearly independent draws, thinned to one in three."""
    draws = draws[::3]
    levels = (0.05, 0.25, 0.5, 0.75, 0.95)
    for level in levels:
        below = np.count_nonzero(draws < stats.norm.ppf(level, mean, sd))
        spread = 6 * np.sqrt(draws.size * level * (1 - level))
        assert abs(below - draws.size * level) <= spread, level


@pytest.mark.parametrize("width, max_steps", [(0.3, 16), (5.0, 1), (0.1, 4)])
def test_draws_follow_the_posterior_of_a_normal_mean(width, max_steps):
    """The posterior for the prior N(0, 1/4) is known; every test reads everything."""
    precision = Y.size + 4.0
    draws = chain(normal_data, 0.7, 2100, np.random.default_rng(13), n_factors=Y.size,
                  log_prior=lambda x: -2.0 * x**2, width=width, max_steps=max_steps,
                  looks=pb.racing.Looks(first=Y.size))
    if max_steps * width < 1.0:
        draws = draws[::2]
    assert_normal(draws, Y.sum() / precision, precision**-0.5)


def test_two_coordinates_with_limits_follow_the_posterior():
    """A mean and a scale are independent; the limit of x0 at 0.7 cuts its posterior in half."""
    def log_likelihood(indices, points):
        assert points.shape == (2, 2)
        # one coordinate moves at a time
        assert (points[0] == points[1]).sum() >= 1
        return (-0.5 * (Y[indices, None] - points[:, 0]) ** 2
                - 0.5 * (Y[indices, None] - 2.0 - points[:, 1]) ** 2)

    seen = []
    draws = chain(log_likelihood, [0.9, -1.0], 2000, np.random.default_rng(14), n_factors=Y.size,
                  width=[0.3, 0.5], lower=[Y.mean(), -np.inf], looks=pb.racing.Looks(first=Y.size),
                  log_prior=lambda x: float(seen.append(x.shape) or 0.0))
    assert set(seen) == {(2,)}
    assert draws[:, 0].min() >= Y.mean()
    signs = np.where(np.random.default_rng(1).random(2000) < 0.5, -1, 1)
    assert_normal(Y.mean() + signs * (draws[:, 0] - Y.mean()), Y.mean(), Y.size**-0.5)
    assert_normal(draws[:, 1], Y.mean() - 2.0, Y.size**-0.5)


def test_wide_intervals_read_few_factors():
    rng = np.random.default_rng(15)
    y = rng.normal(0.0, 1.0, 50_000)

    def log_likelihood(indices, points):
        return -0.5 * (y[indices, None] - points) ** 2

    results = [pb.racing.slice_sample(log_likelihood, y.mean(), n_factors=y.size, width=10.0,
                                      delta=0.001, rng=rng) for _ in range(20)]
    assert np.mean([r.fraction for r in results]) < 0.4
    for r in results:
        assert r.fraction == r.n_evaluations / (r.n_tests * y.size)
        assert abs(r.x - y.mean()) < 0.05


def test_points_of_prior_zero_read_nothing():
    asked = []

    def log_likelihood(indices, points):
        asked.append(points[1])
        return np.zeros((indices.size, 2))

    result = pb.racing.slice_sample(log_likelihood, 0.5, n_factors=10, width=100.0, rng=1,
                                    log_prior=lambda x: 0.0 if 0 <= x <= 1 else -np.inf)
    assert 0 <= result.x <= 1 and isinstance(result.x, float)
    assert min(asked) >= 0 and max(asked) <= 1
    assert result.n_tests > len(asked)


def test_seeds_and_kinds():
    runs = [pb.racing.slice_sample(normal_data, 0.7, n_factors=Y.size, rng=seed)
            for seed in (1, 1, 2)]
    records = [run.to_dict() for run in runs]
    assert records[0] == records[1] != records[2]
    x = np.array([0.7])
    result = pb.racing.slice_sample(lambda n, p: normal_data(n, p[:, 0]), x, n_factors=Y.size,
                                    rng=1)
    assert x == [0.7] and result.x.shape == (1,) and result.x[0] == runs[0].x
    drawing = np.random.default_rng(3)  # the function draws from the same generator

    def noisy(indices, points):
        drawing.random()
        return normal_data(indices, points)

    assert np.isfinite(pb.racing.slice_sample(noisy, 0.7, n_factors=Y.size, rng=drawing).x)


@pytest.mark.parametrize(
    "options, word",
    [
        ({"x": np.nan}, "x"),
        ({"x": [[1.0]]}, "x"),
        ({"x": []}, "x"),
        ({"n_factors": 0}, "n_factors"),
        ({"width": 0.0}, "width"),
        ({"width": [1.0, 1.0]}, "width"),
        ({"max_steps": 0}, "max_steps"),
        ({"lower": 1.0}, "lower"),
        ({"upper": -1.0}, "upper"),
        ({"log_prior": 3}, "log_prior"),
        ({"log_prior": lambda x: np.nan}, "log_prior"),
        ({"log_prior": lambda x: -np.inf}, "log_prior"),
        ({"log_likelihood": None}, "log_likelihood"),
        ({"log_likelihood": lambda n, p: np.zeros(n.size)}, "log_likelihood"),
        ({"log_likelihood": lambda n, p: np.full((n.size, 2), np.nan)}, "finite"),
        ({"delta": 0.7}, "delta"),
    ],
)
def test_bad_arguments_are_rejected(options, word):
    good = dict(log_likelihood=normal_data, x=0.7, n_factors=Y.size,
                looks=pb.racing.Looks(first=10))
    with pytest.raises((ValueError, TypeError), match=word):
        pb.racing.slice_sample(**{**good, **options})


def test_errors_of_a_function_reach_the_caller():
    def broken(indices, points):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        pb.racing.slice_sample(broken, 0.0, n_factors=10)
