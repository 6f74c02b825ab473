"""Coordinates, families and the kernel of a list of grids."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from pybandit.model_selection._parameter_kernel import (
    CATEGORY_DISTANCE,
    FAMILY,
    SHARED,
    WITHIN,
    ParameterKernel,
    key_of,
    scaled,
    squared_distances,
)


class Forest:
    def fit(self):
        pass


class Lasso(Forest):
    pass


def test_distances_take_no_more_memory_than_the_kernel():
    """400 texts would need 512 MB with one coordinate per text."""
    candidates = [{"kind": f"k{i}", "pair": (i, i), "c": i} for i in range(400)]
    kernel = ParameterKernel(candidates, [0] * 400)
    assert "distances" not in vars(kernel)  # computed on first use
    tracemalloc.start()
    distances = kernel.distances
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * distances.nbytes
    np.testing.assert_allclose(distances[0, 1:], 2 * CATEGORY_DISTANCE**2
                               + (np.arange(1, 400) / 399) ** 2)
    assert not distances.diagonal().any()


def test_fractions_and_integers_beyond_64_bits_are_numbers():
    distances = squared_distances([{"c": value} for value in (
        Fraction(1, 4), 0.5, Fraction(3, 4))])
    np.testing.assert_allclose(distances[0], [0, 0.25, 1])
    assert squared_distances([{"c": -(10**30)}, {"c": 10**30}])[0, 1] == 1
    # not representable as a float, so a category
    assert squared_distances([{"c": 10**400}, {"c": 1}])[0, 1] == CATEGORY_DISTANCE**2


class Unhashed:
    """Unhashable object whose repr does not show its value."""

    __hash__ = None

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return "Unhashed()"


@pytest.mark.parametrize("values, expected", [
    ([1, 2, 3], [0, 0.5, 1]),
    ([0.001, 0.1, 10.0], [0, 0.5, 1]),
    ([100, 1, 10, 1], [1, 0, 0.5, 0]),
    ([0, 1, 10, 100], [0, 0.01, 0.1, 1]),  # 0 has no logarithm
    ([-1, 1, 10], [0, 2 / 11, 1]),
    ([5, 5], [0.5, 0.5]),
    ([2, 7], [0, 1]),
])
def test_numbers_are_scaled_to_the_unit_interval(values, expected):
    np.testing.assert_allclose(scaled(values), expected, atol=1e-12)


def test_categories_are_equally_distant():
    distances = squared_distances([{"kind": kind} for kind in ("a", True, None, "a")])
    far = CATEGORY_DISTANCE**2
    np.testing.assert_allclose(distances[0], [0, far, far, 0], atol=1e-12)
    np.testing.assert_allclose(distances[1], [far, 0, far, far], atol=1e-12)


def test_values_that_are_not_numbers_are_in_the_middle():
    depths = squared_distances([{"depth": depth} for depth in (None, 1, 2, 3)])
    np.testing.assert_allclose(depths[0, 1:] - CATEGORY_DISTANCE**2, [0.25, 0, 0.25], atol=1e-12)
    np.testing.assert_allclose(depths[1, 1:], [0, 0.25, 1], atol=1e-12)


def test_families_share_a_grid_and_estimator_classes():
    candidates = [{"m": Lasso(), "a": 1}, {"m": Lasso(), "a": 2}, {"m": Forest(), "a": 1},
                  {"a": 1}, {}]
    kernel = ParameterKernel(candidates, [0, 0, 0, 1, 2])
    assert kernel.families.tolist() == [0, 0, 1, 2, 3]
    matrix = kernel(0.5)
    np.testing.assert_allclose(matrix.diagonal(), SHARED + FAMILY + WITHIN)
    far = squared_distances(candidates[:2])[0, 1]
    assert matrix[0, 1] == pytest.approx(SHARED + FAMILY + WITHIN * np.exp(-far / 0.25))
    assert (matrix[0, 2:] == SHARED).all()


def test_kernel_is_a_covariance():
    rng = np.random.default_rng(1)
    candidates = [dict(c=float(rng.lognormal()), n=int(rng.integers(5)), k="ab"[rng.integers(2)])
                  for _ in range(40)]
    kernel = ParameterKernel(candidates, rng.integers(3, size=40))
    for length_scale in (0.25, 2.0):
        assert np.linalg.eigvalsh(kernel(length_scale))[0] > -1e-10


@pytest.mark.parametrize("left, right, same", [
    (1, True, False), (1, 1, True), ([1, 2], [1, 2], True), ([1, 2], [2, 1], False),
    (None, "None", False), (np.arange(2), np.arange(2), True), (1, 1.0, False),
    (np.arange(2000), np.arange(2000), True), (np.arange(2000), np.arange(2000) % 1999, False),
    ([1.0], [1.0 + 1e-12], False), ([1], [True], False), (Unhashed(1), Unhashed(1), True),
    (Unhashed(1), Unhashed(2), False), (Unhashed(lambda: 1), Unhashed(lambda: 1), False),
    (RBF(1.0), RBF(1.0), True), (RBF(1.0), RBF(1.0, "fixed"), False),
    (RBF(1.0), RBF(1.0, (1e-3, 1e-2)), False), (RBF(1.0), RBF(1.00001), False),
    ((1,), (True,), False), ((1,), (1.0,), False), ((1, (2,)), (1, (2,)), True),
    ((1, (True,)), (1, (1,)), False), ((1, [2]), (1, [2]), True), ((1, [2]), (1, [True]), False),
    (frozenset([1, 2]), frozenset([2, 1]), True), (frozenset([1]), frozenset([True]), False),
])
def test_keys_are_equal_for_equal_values_only(left, right, same):
    assert (key_of(left) == key_of(right)) == same
    assert key_of(left) == key_of(left)
