"""Long confidence sequences: pieces, pickles and the reference implementation."""

import math
import pickle

import numpy as np
import pytest

import pybandit as pb

from betting.test_confidence import METHODS, draws, reference


@pytest.mark.parametrize("kind", ["uniform", "rare", "sorted"])
@pytest.mark.parametrize("size", [None, 3_000, 9_000, 10**6])
@pytest.mark.parametrize("method", METHODS)
def test_long_sequences_do_not_depend_on_pieces(method, size, kind):
    """Values are processed 16 at a time, whatever the pieces; a restored sequence is the same."""
    x, rng = draws(kind, 3_000, 11), np.random.default_rng(12)
    whole = pb.confidence_sequence(x, population_size=size or math.inf, method=method)
    for lengths in (np.ones(3_000, int), np.full(3_000, 17), rng.integers(0, 90, 3_000)):
        sequence = pb.betting.ConfidenceSequence(population_size=size or math.inf, method=method)
        found = []
        for i, piece in enumerate(np.split(x, np.minimum(lengths.cumsum(), 3_000))):
            if i % 700 == 699:
                sequence = pickle.loads(pickle.dumps(sequence))
            found.append(sequence.tell(piece))
        for name in ("lower", "upper"):
            joined = np.concatenate([getattr(bounds, name) for bounds in found])
            np.testing.assert_array_equal(joined, getattr(whole, name))


@pytest.mark.parametrize("method", METHODS[1:3])
@pytest.mark.parametrize("size", [None, 5_000, 70_000, 10**6])
def test_long_exponential_forms_match_the_reference(method, size):
    """Most values leave the bounds unchanged, by a bound on the wealth without exponentials."""
    for kind in ("uniform", "rare", "halves", "skewed"):
        x = draws(kind, 1_500, 13)
        bounds = pb.confidence_sequence(x, population_size=size or math.inf, method=method)
        expected = reference(x, size, 0.05, method)
        np.testing.assert_allclose(bounds, expected, rtol=0, atol=1e-9)
