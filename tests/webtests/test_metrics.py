"""Metrics: goals and guardrails of one test, one bound on all their claims, and their report."""

import os
import re

import numpy as np
import pytest

import pybandit as pb
from lab.report_page import Page
from pybandit.betting._count_bets import log_wealth
from pybandit.webtests import Guardrail, Metric, Metrics, WebTest, write_report
from pybandit.webtests.report import page_text

ARMS = ["old", "new"]
THREE = {"sales": Metric(), "revenue": Metric(value_range=(0, 60)),
         "errors": Metric(margin=0.01, lower_is_better=True)}


def day_of(rng, sales=(0.05, 0.05), errors=(0.02, 0.02), n=1000):
    """Return the counts of a day; revenue and errors depend on the sales."""
    found = {"sales": {}, "revenue": {}, "errors": {}}
    for arm, rate, failing in zip(ARMS, sales, errors, strict=True):
        draws = rng.random(n)
        bought = draws < rate
        values = np.where(bought, np.minimum(rng.lognormal(2.5, 0.5, n), 60), 0.0)
        found["sales"][arm] = n, int(bought.sum())
        found["revenue"][arm] = n, values.sum(), (values**2).sum()
        found["errors"][arm] = n, int((draws > 1 - failing).sum())
    return found


def filled(test, days, seed=1, **options):
    rng = np.random.default_rng(seed)
    for day in range(days):
        test.tell_counts(day_of(rng, **options), key=f"day {day}", repeated=True)
    return test


def wealth(rail):
    return log_wealth(rail._told[1][0][1].logs)


def test_each_metric_is_its_own_test_at_its_share_of_delta():
    """The references are races and a guardrail that receive the same batches."""
    test = Metrics.create(":memory:", THREE, ARMS, delta=0.06)
    races = {"sales": pb.CountRace(2, delta=0.02),
             "revenue": pb.CountRace(2, delta=0.02, value_range=(0, 60))}
    rail = Guardrail(2, margin=0.01, lower_is_better=True, delta=0.02)
    rng = np.random.default_rng(2)
    for day in range(25):
        counts = day_of(rng, sales=(0.05, 0.07), errors=(0.02, 0.05))
        test.tell_counts(counts, key=f"day {day}", repeated=True)
        columns = {name: list(zip(*(rows[arm] for arm in ARMS), strict=True))
                   for name, rows in counts.items()}
        for name, race in races.items():
            race.tell_counts(*columns[name])
        rail.tell_counts(*columns["errors"])
    for name, race in races.items():
        np.testing.assert_array_equal(test.tests[name].policy.capital, race.capital)
        assert test.tests[name].policy.delta == 0.02
    again = test._guardrail("errors").replay(test.tests["errors"])
    np.testing.assert_array_equal(wealth(again), wealth(rail))
    results = test.results()
    assert results["sales"].winner == results["revenue"].winner == "new"
    assert results["errors"].harmed == ["new"] and results["errors"].safe == []
    assert test.summary() == "sales: new won.\nrevenue: new won.\nerrors: new is harmed."
    n = 25 * 1000
    np.testing.assert_allclose(results["errors"].means, [
        sum(one["errors"][arm][1] for one in replayed(2, 25)) / n for arm in ARMS])


def replayed(seed, days):
    rng = np.random.default_rng(seed)
    return [day_of(rng, sales=(0.05, 0.07), errors=(0.02, 0.05)) for _ in range(days)]


@pytest.mark.more
def test_any_wrong_claim_is_at_most_as_frequent_as_promised():
    """Equal pages whose errors are just below the margin, and metrics that depend on each other."""
    runs, wrong, rng = 80, 0, np.random.default_rng(4)
    for _ in range(runs):
        with Metrics.create(":memory:", THREE, ARMS, delta=0.2) as test:
            for day in range(40):
                test.tell_counts(day_of(rng, errors=(0.02, 0.0299)), key=f"day {day}",
                                 repeated=True)
            results = test.results()
            wrong += (results["sales"].winner is not None or results["revenue"].winner is not None
                      or bool(results["errors"].harmed))
    # a true probability of .2 exceeds 35 of 80 with probability 4e-7
    assert wrong <= 35


def test_a_folder_is_opened_again_and_a_call_is_repeated(tmp_path):
    path = tmp_path / "shop"
    with filled(Metrics.create(path, THREE, ARMS, who="Ann"), 3, sales=(0.05, 0.09)) as test:
        before = test.summary(), test.tests["revenue"].policy.capital.tolist()
        assert sorted(os.listdir(path))[0] == "errors.db"
    with Metrics.open(path) as test:
        assert list(test.metrics.items()) == list(THREE.items())
        assert test.names == ("old", "new") and test.delta == 0.05
        assert (test.summary(), test.tests["revenue"].policy.capital.tolist()) == before
        result = filled(test, 3, sales=(0.05, 0.09))  # the same days again
        assert [len(one._batches()) for one in result.tests.values()] == [3, 3, 3]
        np.testing.assert_array_equal(test.split(11), test.tests["sales"].split(11))
    with WebTest.open(path / "revenue.db") as one:
        assert one.counts()["who"][0] == "Ann" and one.policy.delta == pytest.approx(0.05 / 3)
    os.remove(path / "sales.db")
    with pytest.raises(ValueError, match="must have the files of 3 metrics; .* revenue, errors"):
        Metrics.open(path)
    with pytest.raises(FileExistsError, match=r"open it with Metrics\.open"):
        Metrics.create(path, THREE, ARMS)
    with pytest.raises(ValueError, match=r"folder written by Metrics\.create"):
        Metrics.open(tmp_path)
    with pytest.raises(FileNotFoundError):
        Metrics.open(tmp_path / "no")


def test_an_interrupted_batch_is_completed_by_the_same_call(monkeypatch):
    test = Metrics.create(":memory:", THREE, ARMS)
    counts, calls, real = day_of(np.random.default_rng(3)), [], WebTest._tell_counts

    def interrupted(*given):
        calls.append(given)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*given)

    monkeypatch.setattr(WebTest, "_tell_counts", interrupted)
    with pytest.raises(KeyboardInterrupt):
        test.tell_counts(counts, key="Monday")
    monkeypatch.undo()
    assert [len(one._batches()) for one in test.tests.values()] == [1, 0, 0]
    result = test.tell_counts(counts, key="Monday")
    assert (result.n_new, result.n_known) == (4, 2)
    assert test.tell_counts(counts, key="Monday").n_known == 6


def test_an_interrupted_creation_leaves_no_folder(tmp_path, monkeypatch):
    def interrupted(*given, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Metrics.create(tmp_path / "shop", THREE, ARMS)
    assert list(tmp_path.iterdir()) == []


def test_invalid_counts_of_one_metric_record_nothing():
    test = Metrics.create(":memory:", THREE, ARMS)
    counts = day_of(np.random.default_rng(3))
    counts["revenue"]["new"] = 1000, 900.0, 100e3
    with pytest.raises(ValueError, match="^revenue: counts must have squares"):
        test.tell_counts(counts, key="Monday")
    with pytest.raises(ValueError, match=r"must name metrics of the test, sales, revenue.*'sale'"):
        test.tell_counts({"sale": counts["sales"]}, key="Monday")
    with pytest.raises(TypeError, match="key must be text; got None"):
        test.tell_counts(counts, key=None)
    with pytest.raises(TypeError, match="counts must be a dict of counts by metric"):
        test.tell_counts([], key="Monday")
    assert not any(one._batches() for one in test.tests.values())
    assert test.tell_counts({"sales": counts["sales"]}, key="Monday").n_new == 2
    assert test.results()["errors"].summary() == "errors: no harm shown."


def test_a_warning_of_all_metrics_is_given_once():
    test = Metrics.create(":memory:", {"sales": Metric(), "errors": Metric(margin=0.1)}, ARMS)
    counts = {name: {"old": (9000, 90), "new": (5000, 50)} for name in test.metrics}
    with pytest.warns(UserWarning, match="split") as caught:
        test.tell_counts(counts, key="Monday")
    assert len(caught) == 1


@pytest.mark.parametrize("metrics, error, words", [
    ({"errors": Metric(margin=0.1)}, ValueError, "at least one goal"), ({}, ValueError, "goal"),
    ({"a/b": Metric()}, ValueError, "letters, digits"), ([Metric()], TypeError, "dict of Metric"),
    ({"sales": 1}, TypeError, "dict of Metric"),
    ({"a": Metric(), "A": Metric()}, ValueError, "differ in more than")])
def test_bad_metrics_are_refused(metrics, error, words):
    with pytest.raises(error, match=words):
        Metrics.create(":memory:", metrics, ARMS)


@pytest.mark.parametrize("options, words", [
    ({"lower_is_better": True}, "report negated values"), ({"margin": -1}, "margin"),
    ({"value_range": (1, 1)}, "value_range")])
def test_bad_options_of_a_metric_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        Metric(**options)


def test_one_arm_is_refused():
    with pytest.raises(ValueError, match="arms must be at least 2 names; got 'ab'"):
        Metrics.create(":memory:", THREE, "ab")


def test_the_report_shows_goals_and_guardrails(tmp_path):
    test = filled(Metrics.create(":memory:", THREE, ARMS), 25, seed=2, sales=(0.05, 0.07),
                  errors=(0.02, 0.05))
    write_report(test, tmp_path / "report.html", title="Checkout <1>")
    text = (tmp_path / "report.html").read_text("utf-8")
    page = Page(text)
    assert "Checkout <1>" in page.text and "<1>" not in text
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert ids == ["sales", "revenue", "guardrails", "record"]
    means = {name: one.means for name, one in test.results().items()}
    assert "sales: new won, but it is worse than allowed: see errors" in page.text
    assert (f"new won: {100 * means['sales'][1]:.3g} % against {100 * means['sales'][0]:.3g} %"
            in page.text)
    assert 'at least 95 %, every "won", "worse than allowed"' in page.text
    rail = [row for row in page.rows if row[:2] == ["errors", "new"]][0]
    gap = means["errors"][1] - means["errors"][0]
    assert rail[2] == "worse than allowed"
    assert rail[4:] == [f"+{100 * gap:.3g} points", "+1 points"]
    top = page.text[:page.text.index("Logs and digests")]
    assert not re.search(r"\b(arms?|bets?|pulls?|delta|wealth|e-values?|digests?)\b", top)
    assert "won on every goal" not in top
    assert [row[0] for row in page.rows[-3:]] == list(THREE)
    assert test.tests["sales"].status().head in page.text
    # intervals of each metric are those of its own test at its share of delta
    interval = re.search(r"lift \+\d+ %, between \S+ % and \S+ %", page.text).group()
    assert interval in Page(page_text(test.tests["sales"])).text


def test_the_report_of_a_new_test_says_so(tmp_path):
    test = Metrics.create(":memory:", THREE, ARMS)
    write_report(test, tmp_path / "report.html")
    page = Page((tmp_path / "report.html").read_text("utf-8"))
    assert page.text.count("No visits are recorded yet.") == 2 and "no winner yet" in page.text
    assert "errors: new: not known yet" in page.text and "nan" not in page.text.lower().split()


@pytest.mark.parametrize(("reported", "words"), [
    (THREE, "new won on every goal, and is within the limits of the guardrails."),
    (["sales", "revenue"],
     "new won on every goal. Not known yet: whether it is worse than allowed in errors.")])
def test_the_report_begins_with_the_arm_that_won_all(reported, words, tmp_path):
    test = Metrics.create(":memory:", THREE, ARMS)
    rng = np.random.default_rng(2)
    for day in range(25):
        counts = day_of(rng, sales=(0.05, 0.07))
        test.tell_counts({name: counts[name] for name in reported}, key=f"day {day}",
                         repeated=True)
    write_report(test, tmp_path / "report.html", title="Checkout")
    text = Page((tmp_path / "report.html").read_text("utf-8")).text
    assert text.strip().split("Checkout")[2].strip().startswith(words)
