"""Compiled factors: reference implementation, races, sums and bad input."""

import pickle

import numpy as np
import pytest
from scipy import special, stats

import pybandit as pb
import pybandit.factors

from racing.reference import likelihoods as reference

RNG = np.random.default_rng(5)
N = 3000
LABELS = RNG.integers(0, 4, N)
TABLE = RNG.normal(size=(3, 4))
Y = RNG.normal(2.0, 1.5, N)
COUNTS = RNG.poisson(3.0, N)
SOME = np.sort(RNG.choice(N, 900, replace=False))
WEIGHTS = RNG.normal(size=900)
MEANS, SDS, RATES = np.array([1.9, 2.0, 2.2]), np.array([1.4, 1.5, 1.7]), np.array([2.9, 3.0, 3.2])

CASES = {
    "pairwise": (pb.factors.pairwise(TABLE, LABELS), reference.pairwise(TABLE, LABELS)),
    "pairwise of neighbours": (pb.factors.pairwise(TABLE, LABELS, SOME, weights=WEIGHTS),
                               reference.pairwise(TABLE, LABELS, SOME, WEIGHTS)),
    "categorical": (pb.factors.categorical(LABELS, TABLE, members=SOME),
                    reference.pairwise(TABLE, LABELS, SOME)),
    "gaussian": (pb.factors.gaussian(Y, MEANS, SDS), reference.gaussian(Y, MEANS, SDS)),
    "gaussian means": (pb.factors.gaussian(Y, MEANS, 1.5, members=SOME),
                       reference.gaussian(Y[SOME], MEANS, 1.5)),
    "gaussian deviations": (pb.factors.gaussian(Y, 2.0, SDS), reference.gaussian(Y, 2.0, SDS)),
    "poisson": (pb.factors.poisson(COUNTS, RATES, members=SOME),
                reference.poisson(COUNTS[SOME], RATES)),
}


@pytest.mark.parametrize("name", CASES)
def test_factors_equal_the_reference(name):
    factors, matrix = CASES[name]
    assert (factors.n_factors, factors.n_states) == matrix.shape
    rows, states = RNG.permutation(len(matrix))[:500], np.array([0, 2])
    assert np.allclose(factors.evaluate(rows, states), matrix[np.ix_(rows, states)], rtol=1e-12,
                       atol=1e-12)
    # sums in one pass, up to a constant for all states
    totals, expected = factors.function.arguments[0].totals(len(matrix)), matrix.sum(axis=0)
    assert np.allclose(totals - totals[0], expected - expected[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_compiled_factors_race_like_a_python_function(name):
    factors, matrix = CASES[name]
    python = pb.Factors(lambda n, i: factors.evaluate(n, i), *matrix.shape)
    for seed in range(5):
        log_prior = np.random.default_rng(seed).gumbel(size=matrix.shape[1])
        assert (pb.race(factors, log_prior, rng=seed, looks=pb.racing.Looks(max_fraction=0.5))
                == pb.race(python, log_prior, rng=seed, looks=pb.racing.Looks(max_fraction=0.5)))
        assert pb.racing.exact_sample(factors, rng=seed) == pb.racing.exact_sample(matrix, rng=seed)


def test_exact_draws_have_the_distribution():
    few = np.arange(20)
    factors = pb.factors.gaussian(Y, MEANS, SDS, members=few)
    law = special.softmax(reference.gaussian(Y[few], MEANS, SDS).sum(axis=0))
    draws = pb.racing.exact_sample(factors, size=20_000, rng=1)
    assert stats.chisquare(np.bincount(draws, minlength=3), 20_000 * law).pvalue > 1e-6


def test_values_far_from_zero_keep_their_digits():
    """Differences of states keep their digits with means of 1e6 and standard deviation 1."""
    y = 1e6 + RNG.normal(size=2000)
    means = 1e6 + np.array([-0.1, 0.0, 0.1])
    factors = pb.factors.gaussian(y, means)
    rows = factors.evaluate(np.arange(2000), [0, 1, 2])
    direct = -0.5 * ((y - 1e6)[:, None] - (means - 1e6)) ** 2
    assert np.abs(rows - direct).max() < 1e-8
    totals = factors.function.arguments[0].totals(2000)
    assert np.allclose(totals - totals[1], (direct - direct[:, 1:2]).sum(axis=0), atol=1e-6)


def test_every_draw_reads_and_checks_labels_again():
    labels = np.zeros(100, dtype=np.int64)
    factors = pb.factors.pairwise(np.eye(2), labels)
    assert factors.evaluate([7], [0, 1]).tolist() == [[1.0, 0.0]]
    labels[7] = 1
    assert factors.evaluate([7], [0, 1]).tolist() == [[0.0, 1.0]]
    for label in (2, -1, 2**62):
        labels[7] = label
        with pytest.raises(ValueError, match=r"got nan at factor 7, state 0; labels must be in "
                                             r"\[0, 2\)"):
            pb.race(factors, rng=1)
        with pytest.raises(ValueError, match="factors must be finite"):
            pb.racing.exact_sample(factors, rng=1)
    y = Y.copy()
    y[3] = np.nan
    with pytest.raises(ValueError, match=r"got nan at factor 3, state 0$"):
        pb.race(pb.factors.gaussian(y[:40], MEANS), rng=1)


def test_samplers_keep_compiled_factors_which_cannot_be_pickled():
    sampler = pb.RacingSampler(pb.factors.gaussian(np.full(500, 2.2), MEANS * 10), rng=1)
    states, _ = sampler.draw(50)  # the sampler keeps the arrays alive
    assert set(states.tolist()) <= {0, 1, 2}
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(CASES["poisson"][0])


def test_members_are_the_positions_of_labels():
    parts = pb.factors.members(LABELS, 6)
    assert [part.tolist() for part in parts] == [np.flatnonzero(LABELS == k).tolist()
                                                 for k in range(6)]
    assert pb.factors.members(LABELS.astype(np.uint8)[::-1], 4)[1].size == (LABELS == 1).sum()
    # factors use them without a copy
    factors = pb.factors.gaussian(Y, MEANS, members=parts[2])
    assert factors.n_factors == parts[2].size and not parts[2].flags.writeable


@pytest.mark.parametrize("make, kind, words", [
    (lambda: pb.factors.pairwise(TABLE, LABELS.tolist()), TypeError, "labels must be"),
    (lambda: pb.factors.pairwise(TABLE, LABELS.astype(np.int32)), TypeError, "labels must be"),
    (lambda: pb.factors.pairwise(TABLE, LABELS[::2]), TypeError, "labels must be"),
    (lambda: pb.factors.pairwise(TABLE[0], LABELS), ValueError, "table must have 2"),
    (lambda: pb.factors.pairwise(TABLE / 0, LABELS), ValueError, "table must"),
    (lambda: pb.factors.pairwise(TABLE, LABELS, [N]), ValueError, "neighbours must be in"),
    (lambda: pb.factors.pairwise(TABLE, LABELS, [-1]), ValueError, "neighbours must be in"),
    (lambda: pb.factors.pairwise(TABLE, LABELS, np.zeros(0, dtype=int)), ValueError,
     "neighbours must have at least one"),
    (lambda: pb.factors.pairwise(TABLE, LABELS, [0.5]), TypeError, "neighbours must be"),
    (lambda: pb.factors.pairwise(TABLE, LABELS, [0, 1], weights=[1.0]), ValueError,
     r"weights must have shape \(N,\) = \(2,\)"),
    (lambda: pb.factors.gaussian(Y, MEANS, 0.0), ValueError, "std must be"),
    (lambda: pb.factors.gaussian(Y, MEANS, [1.0, 2.0]), ValueError, "means and std"),
    (lambda: pb.factors.gaussian(Y[None], MEANS), ValueError, "y must have shape"),
    (lambda: pb.factors.gaussian(Y, MEANS, 1e-200), ValueError, "finite squares"),
    (lambda: pb.factors.poisson(COUNTS, [0.0, 1.0]), ValueError, "rates must be"),
    (lambda: pb.factors.poisson(COUNTS, 2.0), ValueError, "rates must have shape"),
    (lambda: pb.factors.poisson([-5.0, -7.5], RATES), ValueError, "y must be .*counts.*; got -5.0"),
    (lambda: pb.factors.poisson([5.0, 7.5], RATES), ValueError, "counts.* got 7.5 at index 1"),
    (lambda: pb.factors.poisson([5.0, np.nan], RATES), ValueError, "counts.* got nan"),
    (lambda: pb.factors.poisson(-COUNTS, RATES), ValueError, "y must be .*counts"),
    (lambda: pb.factors.poisson(COUNTS.astype(np.float32) + 0.5, RATES), ValueError, "counts"),
    (lambda: pb.factors.members([0, 3], 3), ValueError, r"in \[0, 3\); got 3 at index 1"),
    (lambda: pb.factors.members([0, -1], 3), ValueError, r"got -1 at index 1"),
    (lambda: pb.factors.members([0.0], 3), TypeError, "labels must be"),
    (lambda: pb.factors.members(np.array([2**63], dtype=np.uint64), 3), ValueError, "labels"),
])
def test_bad_arguments_are_rejected(make, kind, words):
    with np.errstate(divide="ignore", over="ignore"), pytest.raises(kind, match=words):
        make()
