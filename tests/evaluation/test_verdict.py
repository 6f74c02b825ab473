"""Verdicts on two models: published numbers, exact means, power, errors and edges."""

import math
import pickle

import numpy as np
import pytest
from scipy import stats

import pybandit as pb
from pybandit.evaluation._verdict_bets import evidence, final_payment

PLACES = np.arange(300)
A = ((PLACES * 37) % 100 < 72).astype(float)
B = ((PLACES * 53 + 11) % 100 < 64).astype(float)
A[(B == 0) & (PLACES % 4 == 0)] = 1.0
TURNED = np.where(PLACES % 40 == 0, 1 - B, B)


def test_planned_verdict_matches_published_numbers():
    result = pb.verdict(A, B, rng=None)
    assert (result.decision, result.final, result.n_better, result.n_worse) == (
        "better", "exact", 84, 54)
    assert result.difference == pytest.approx(0.1)
    assert result.e_value == pytest.approx(21.349918726, abs=1e-8)
    assert result.p_value == pytest.approx(0.046838586, abs=1e-9)
    np.testing.assert_allclose(result.interval, (0.0, 0.233647188), atol=2e-9)
    mirrored = pb.verdict(B, A, rng=None)
    assert (mirrored.decision, mirrored.p_value) == ("worse", result.p_value)
    np.testing.assert_allclose(mirrored.interval, (-0.233647188, 0.0), atol=2e-9)


def test_verdict_without_a_plan_matches_published_numbers():
    """The published numbers have the bets for up to 30,000 values, and no bet for the end."""
    from pybandit.betting._scaled import log_wealth

    logs = log_wealth((A - B + 1) / 2, 0.5, 0.05, most=30_000)
    e = np.exp(logs).mean(axis=0)
    assert e[-1] == pytest.approx(2.060220866, abs=1e-8)
    assert 1 / e.max() == pytest.approx(0.418862229, abs=1e-8)


def test_equivalence_needs_a_margin():
    assert pb.verdict(B, TURNED, margin=0.15, rng=None, final="none").decision == "equivalent"
    assert pb.verdict(B, TURNED, rng=None, final="none").decision == "undecided"
    narrow = pb.verdict(B, TURNED, margin=0.01, rng=None, final="none")
    assert narrow.decision == "undecided" and narrow.interval[1] > 0.01


@pytest.mark.parametrize("wins, losses, expected", [
    (10, 2, 20), (9, 3, 0.265454545), (8, 4, 0), (0, 0, 0.8), (20, 8, 20), (19, 9, 1.671911045)])
def test_final_payment_matches_published_numbers(wins, losses, expected):
    assert final_payment(wins, losses, 0.05, 0.8) == pytest.approx(expected, abs=1e-8)
    assert final_payment(losses, wins, 0.05, 0.8) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("delta", [0.01, 0.05, 0.3])
def test_mean_of_the_final_payment_is_exact(delta):
    """Over fair signs of k differences, for every k up to 120."""
    for k in range(121):
        wins = np.arange(k + 1)
        pays = [final_payment(int(w), int(k - w), delta, 0.8) for w in wins]
        assert stats.binom.pmf(wins, k, 0.5) @ pays == pytest.approx(0.8, abs=1e-13)


def test_wealth_of_all_paths_has_mean_one():
    """With a plan for six items, the mean is 1 at the end and .2 before: the test has .8."""
    total = np.zeros((2, 2))
    for signs in np.ndindex(*[3] * 6):
        d = np.array(signs) - 1.0
        weight = 0.25 ** np.abs(d).sum() * 0.5 ** (6 - np.abs(d).sum())
        for at, n in enumerate((6, 5)):
            found = evidence(d[:n], 0.05, 6, math.inf, "exact", None)
            total[at] += weight * np.exp([found.log_better[-1], found.log_worse[-1]])
    np.testing.assert_allclose(total[0], 1.0, atol=1e-12)
    np.testing.assert_allclose(total[1], 0.2, atol=1e-12)


def coins(rng, n, share, lift):
    """Return scores of two models that differ on a share of the items, a more often the better."""
    base = (rng.random(n) < 0.5).astype(float)
    differs = rng.random(n) < share
    wins = rng.random(n) < 0.5 + lift / (2 * share)
    return np.where(differs, wins, base).astype(float), np.where(differs, ~wins, base).astype(float)


@pytest.mark.slow
@pytest.mark.parametrize("n, share", [(100, 0.2), (200, 0.2), (500, 0.2), (1000, 0.05)])
def test_errors_at_any_look_are_at_most_delta(n, share):
    """Without a difference, the wealth reaches its threshold at any look in at most delta."""
    rng, n_runs, errors = np.random.default_rng([1, n]), 2_000, 0
    for _ in range(n_runs):
        a, b = coins(rng, n, share, 0.0)
        errors += pb.verdict(a, b, rng=None).decision != "undecided"
    assert errors <= stats.binom.ppf(1 - 1e-6, n_runs, 0.05)
    assert errors >= 0.01 * n_runs  # the permitted error is used


@pytest.mark.slow
@pytest.mark.parametrize("n, share", [(100, 0.2), (200, 0.2), (500, 0.2), (1000, 0.05)])
@pytest.mark.parametrize("k", [2.0, 2.8, 3.3])
def test_power_is_nearly_that_of_mcnemar(n, share, k):
    """At least .9 of the power of McNemar's exact test at delta, looked at once at the end."""
    rng, n_runs, ours, theirs = np.random.default_rng([2, n]), 1_000, 0, 0
    for _ in range(n_runs):
        a, b = coins(rng, n, share, k * math.sqrt(share / n))
        wins, losses = int((a > b).sum()), int((a < b).sum())
        ours += pb.verdict(a, b, rng=None).decision == "better"
        theirs += wins > losses and stats.binomtest(wins, wins + losses).pvalue <= 0.05
    assert ours >= 0.9 * theirs - 1e-9, (ours, theirs)


def test_bets_hold_where_tests_by_signs_do_not():
    """A rare large gain with mean 0: signs are not fair, so graded scores have no final test."""
    rng, n_runs, errors = np.random.default_rng(3), 300, 0
    for _ in range(n_runs):
        gain = np.where(rng.random(200) < 0.02, 0.9, -0.9 * 0.02 / 0.98)
        result = pb.verdict(0.5 + gain / 2, np.full(200, 0.5), rng=None)
        assert result.final == "none"
        errors += result.decision in ("better", "worse")
    assert errors <= stats.binom.ppf(1 - 1e-6, n_runs, 0.05)


def test_finite_population_ends_with_the_difference():
    a, b = A[:40], B[:40]
    result = pb.verdict(a, b, population_size=40)
    assert result.interval == (result.difference, result.difference) and result.e_value is None
    assert result.decision == "better" if result.difference > 0 else "worse"
    wide = pb.verdict(a, b, population_size=1000)
    assert wide.interval[0] < wide.difference < wide.interval[1]
    assert "all 40 items" in str(result)


def test_series_are_aligned_by_index():
    pandas = pytest.importorskip("pandas")
    labels = [f"q{i}" for i in range(300)]
    a, b = pandas.Series(A, labels, name="new"), pandas.Series(B, labels, name="old")
    mixed = b.sample(frac=1, random_state=1)
    assert pb.verdict(a, mixed) == pb.verdict(a, b)
    assert pb.verdict(a, b).names == ("new", "old")
    assert str(pb.verdict(a, b)).startswith("new is better than old")
    with pytest.raises(ValueError, match="same items; got 1 that only a has, such as 'q299'"):
        pb.verdict(a, b[:-1])
    twice = pandas.Series(B, ["q0", *labels[:-1]])
    with pytest.raises(ValueError, match="pass clusters"):
        pb.verdict(a, twice)


def test_clusters_count_as_one_item():
    epochs = np.repeat(PLACES, 3)
    rng = np.random.default_rng(5)
    a, b = (rng.random(900) < np.repeat(p, 3) for p in (0.2 + 0.6 * A, 0.2 + 0.6 * B))
    result = pb.verdict(a, b, clusters=epochs, rng=None)
    means = [values.reshape(300, 3).mean(axis=1) for values in (a, b)]
    assert result.n == 300 and result.final == "none"
    assert result == pb.verdict(*means, rng=None)
    with pytest.raises(ValueError, match="clusters must have one label per item, 900; got 5"):
        pb.verdict(a, b, clusters=[1, 2, 3, 4, 5])


def test_running_verdict_equals_the_finished_one():
    running = pb.evaluation.RunningVerdict(planned=300, final="exact")
    for start in range(0, 300, 75):
        assert running.result().n == start
        running.tell(A[start:start + 75], B[start:start + 75])
        running = pickle.loads(pickle.dumps(running))
    assert running.result() == pb.verdict(A, B, rng=None)
    with pytest.raises(ValueError, match="at most 300 items in all, as planned; got 301"):
        running.tell(1.0, 0.0)
    assert running.n == 300
    graded = pb.evaluation.RunningVerdict(planned=300, final="exact")
    with pytest.raises(ValueError, match="ends of value_range"):
        graded.tell(0.5, 0.0)
    assert graded.n == 0 and "no scores yet" in str(graded.result())


def test_modified_states_raise():
    running = pb.evaluation.RunningVerdict(planned=9, final="exact")
    running.tell([1, 0, 1], [0, 0, 1])
    state = running.get_state()
    assert pb.evaluation.RunningVerdict.from_state(state).result() == running.result()
    for name, value in [("scores", np.full((3, 2), 0.5)), ("scores", np.zeros((2, 3))),
                        ("scores", np.zeros((10, 2))), ("scores", [["a", "b"]]), ("planned", 2),
                        ("planned", None), ("delta", 2.0), ("names", ("a",)), ("final", "auto"),
                        ("margin", -1.0), ("value_range", (1, 0)), ("population_size", 0)]:
        with pytest.raises((ValueError, TypeError)):
            pb.evaluation.RunningVerdict.from_state({**state, name: value})
    for wrong in (None, {}, {**state, "more": 1}):
        with pytest.raises(ValueError, match="state must have the entries"):
            pb.evaluation.RunningVerdict.from_state(wrong)


def test_looking_early_uses_bets_alone():
    early = pb.verdict(A[:200], B[:200], planned=300, final="exact", rng=None)
    assert early.decision == "undecided" and early.planned == 300
    logs = evidence((A - B)[:200], 0.05, 300, math.inf, "exact", None)
    assert early.e_value == pytest.approx(math.exp(logs.log_e[-1]))


def test_edges():
    for n in (0, 1):
        result = pb.verdict(A[:n], B[:n], final="none")
        assert result.decision == "undecided" and result.interval[0] < 0 < result.interval[1]
    same = pb.verdict(A, A)
    assert (same.decision, same.e_value) == ("undecided", pytest.approx(1.0))
    assert "the scores are equal" in str(same)
    assert pb.verdict(A, A, margin=0.2).decision == "equivalent"
    assert pb.verdict(A, B, rng=3) == pb.verdict(A, B, rng=3)


@pytest.mark.parametrize("options, words", [
    ({"delta": 0.0}, "delta"), ({"margin": 0.0}, "margin"), ({"margin": "a"}, "margin"),
    ({"planned": 299}, "planned must be at least the number of items, 300"),
    ({"value_range": (0, 0.5)}, "a must be in value_range"),
    ({"final": "t"}, "final"), ({"population_size": 10}, "population_size must be at least"),
    ({"final": "exact", "population_size": 400}, "population_size must be math.inf with final"),
    ({"value_range": (0, 2), "final": "exact"}, "between the ends of value_range"),
])
def test_invalid_options_raise(options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        pb.verdict(A, B, **options)


@pytest.mark.parametrize("a, b, words", [
    ([0.5, math.nan], [0.5, 0.5], "a must be"), ([0.5], [0.5, 0.5], "b must have the items of a"),
    ([[0.5]], [[0.5]], "one dimension"), ("a.csv", [0.5], "b must be the name of a file"),
])
def test_invalid_scores_raise(a, b, words):
    with pytest.raises((ValueError, TypeError), match=words):
        pb.verdict(a, b)


def test_more_follows_the_plan():
    result = pb.verdict(A, B)
    factor = (stats.norm.isf(0.02) + stats.norm.isf(0.2)) ** 2
    assert result.more(0.05) == math.ceil(factor * (result.std / 0.05) ** 2) - 300
    assert result.more(1.0) == 0
    with pytest.raises(ValueError, match="lift"):
        result.more(0.0)


@pytest.mark.parametrize("final", ["sign-flip", "none"])
def test_graded_scores_are_decided(final):
    rng = np.random.default_rng(8)
    base = rng.random(400)
    a, b = np.clip(base + rng.normal(0.06, 0.1, 400), 0, 1), base
    result = pb.verdict(a, b, final=final)
    assert result.decision == "better" and result.final == final
    assert result == pb.verdict(a, b, final=final)


def test_files_of_one_model_each(tmp_path):
    for name, values in (("new", A), ("old", B)):
        lines = [f"q{i},{value:g}" for i, value in enumerate(values)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["item,score", *lines]))
    result = pb.verdict(tmp_path / "new.csv", str(tmp_path / "old.csv"))
    assert (result.decision, result.names) == ("better", ("new.csv", "old.csv"))
    (tmp_path / "two.csv").write_text("item,x,y\nq0,1,0\nq1,0,1\n")
    with pytest.raises(ValueError, match="scores of one model"):
        pb.verdict(tmp_path / "new.csv", tmp_path / "two.csv")
