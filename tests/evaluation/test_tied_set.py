"""Models tied with the best: published numbers, errors, edges."""

import numpy as np
import pytest
from scipy import stats

import pybandit as pb

PLACES = np.arange(300)
ROUGH = ((PLACES * 37) % 100 < 72).astype(float)
B = ((PLACES * 53 + 11) % 100 < 64).astype(float)
A = ROUGH.copy()
A[(B == 0) & (PLACES % 4 == 0)] = 1.0
TABLE = np.column_stack([A, ROUGH, B, (PLACES * 29 + 3) % 100 < 50]).astype(float)


def test_wealth_matches_published_numbers():
    """With the bets for up to 30,000 values, and without a plan."""
    from pybandit.betting._scaled import log_wealth

    wealth = np.zeros((4, 300))
    for one in range(4):
        for other in set(range(4)) - {one}:
            x = (TABLE[:, other] - TABLE[:, one] + 1) / 2
            wealth[one] += np.exp(log_wealth(x, 0.5, 0.05, most=30_000)[0]) / 3
    np.testing.assert_allclose(np.maximum(wealth.max(axis=1), 1.0),
                               [1, 5.072811, 2.293781, 8427754.93], rtol=1e-9, atol=6e-7)


def test_worst_model_is_left_out():
    result = pb.tied_set(TABLE, final="none", rng=None)
    assert result.tied.tolist() == [0, 1, 2] and result.winner is None
    assert result.best == 0 and result.e_values[3] > 1e5
    assert str(result) == "3 of 4 models are not separated from the best: 0, 1, 2"
    assert result.intervals[3, 1] < 0 and tuple(result.intervals[0]) == (0, 0)


def test_two_models_agree_with_the_verdict():
    result = pb.tied_set(np.column_stack([A, B]), rng=None, delta=0.025)
    assert pb.verdict(A, B, rng=None).decision == "better"
    assert result.tied.tolist() == [0]


def test_winner_needs_more_than_the_tied_set():
    """Two equal models are never both excluded with probability above 2 delta."""
    rng, n_runs, errors, wins = np.random.default_rng(4), 300, 0, 0
    for _ in range(n_runs):
        scores = (rng.random((200, 2)) < 0.7).astype(float)
        result = pb.tied_set(scores, rng=None)
        errors += 0 not in result.tied
        wins += result.winner is not None
    assert errors <= stats.binom.ppf(1 - 1e-6, n_runs, 0.05)
    assert wins <= stats.binom.ppf(1 - 1e-6, n_runs, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("accuracies, n, size", [
    ((0.70, 0.70, 0.68, 0.62, 0.55), 500, 2.96), ((0.70,) * 5, 500, 4.89),
    ((0.72, 0.68, 0.66, 0.60, 0.55), 1000, 1.56)])
def test_sizes_match_published_numbers(accuracies, n, size):
    """Latent correlation .6, 200 tables; the published mean sizes have an error of about .07."""
    rng, sizes, lost = np.random.default_rng(3), [], 0
    for _ in range(200):
        latent = np.sqrt(0.6) * rng.standard_normal((n, 1))
        latent = latent + np.sqrt(0.4) * rng.standard_normal((n, 5))
        result = pb.tied_set(latent < stats.norm.ppf(accuracies), rng=None)
        sizes.append(result.tied.size)
        best = np.flatnonzero(np.array(accuracies) == max(accuracies))
        lost += not set(best.tolist()) <= set(result.tied.tolist())
    assert abs(np.mean(sizes) - size) < 0.3
    n_best = accuracies.count(max(accuracies))
    assert lost <= stats.binom.ppf(1 - 1e-6, 200, 0.05 * n_best)


def test_names_and_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(TABLE, columns=["new", "rough", "old", "poor"])
    result = pb.tied_set(frame)
    assert result.names == ("new", "rough", "old", "poor") and result.tied_names[0] == "new"
    table = result.to_frame()
    assert table.index[0] == "new" and not table.loc["poor", "tied"]
    assert result.to_dict()["tied"] == result.tied.tolist()


@pytest.mark.parametrize("scores, options, words", [
    (np.zeros((5, 1)), {}, "two"), (np.zeros((0, 3)), {}, "two"), (TABLE + 0.5, {}, "value_range"),
    (TABLE, {"planned": 10}, "planned"), (TABLE / 2, {"final": "exact"}, "between the ends"),
    (TABLE, {"final": "sign-flip"}, "final"), (TABLE, {"clusters": [1]}, "clusters"),
])
def test_invalid_arguments_raise(scores, options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        pb.tied_set(scores, **options)
