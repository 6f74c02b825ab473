"""The ratios printed by `make bench`: one row per pair of our code and a rival or a limit."""

import pytest

import native


@pytest.fixture
def table(monkeypatch):
    """Return a function that takes roles in order and returns the pairs (ours, rival)."""
    monkeypatch.setattr(native, "RESULTS", {})

    def make(*roles, **is_ours):
        for seconds, role in enumerate(roles, 1):
            native.record("group", role, float(seconds), is_ours.get(role))
        return [(row["ours"], row["rival"]) for row in native.ratios(native.RESULTS)]

    return make


def test_first_role_is_the_limit(table):
    assert table("rewards alone", "UCBE", "EBTC") == [
        ("UCBE", "rewards alone"), ("EBTC", "rewards alone")]


def test_other_tools_are_rivals_of_all(table):
    assert table("rows read alone", "LogisticEvidence", "NumPy") == [
        ("LogisticEvidence", "rows read alone"), ("LogisticEvidence", "NumPy")]


def test_a_rival_that_names_a_rule_is_compared_with_that_rule(table):
    assert table("limit", "BayesGap", "GPUCB", "NumPy GPUCB")[2:] == [("GPUCB", "NumPy GPUCB")]
    assert native.compared("Python UCB-E", ["EBTC", "UCBE"]) == ["UCBE"]
    assert native.compared("NumPy halving, sums", ["SHVar", "SequentialHalving"]) == [
        "SequentialHalving"]


def test_roles_may_say_whose_they_are(table):
    assert table("UCB1", "numba", "plain loop", UCB1=True, numba=True) == [
        ("UCB1", "plain loop"), ("numba", "plain loop")]


def test_first_role_is_the_limit_of_a_group_without_rivals(table):
    assert table("race", "lil_ucb", race=True) == [("lil_ucb", "race")]


def test_ratio_is_time_of_ours_over_time_of_the_rival(table):
    table("bare gather", "draw")
    (row,) = native.ratios(native.RESULTS)
    assert row == dict(benchmark="group", ours="draw", rival="bare gather", ours_seconds=2.0,
                       rival_seconds=1.0, ratio=2.0)


def test_sizes_are_full_in_a_timed_run():
    assert native.size(100, 1) == 100
