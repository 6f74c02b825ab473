"""The report of a web test: arms, rates and batches."""

import re
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from scipy.stats import binomtest

import pybandit as pb
from lab.report_page import Page, page_of
from lab.test_report import EVIL, frames_of
from pybandit._shared.html import number
from pybandit.errors import StudyDamagedError
from pybandit.serving._study import report_of
from pybandit.studies._codec import decode, encode
from pybandit.webtests import WebTest
from pybandit.webtests import _report_facts as facts
from pybandit.webtests._report_counts import means_so_far
from pybandit.webtests.report import page_text

from studies import browser
from studies.test_odd_rows import put, sign

DASH = "–"
# words used only for batches that are asked for
OF_WELLS = r"\b(wells?|plates?|lost|late|out)\b|No results yet|asked for yet\."


def shop(rates=(0.04, 0.042, 0.05), names=("old", "blue", "video"), days=9, n=1667, **options):
    """Return a test of pages with `days` days of counts."""
    study = WebTest.create(":memory:", pb.CountRace(len(names), **options), arms=names)
    rng = np.random.default_rng(2)
    for day in range(days):
        study.tell_counts({name: (n, int(rng.binomial(n, rate)))
                           for name, rate in zip(names, rates, strict=True)}, key=f"day {day}")
    return study


def totals(study, name):
    """Return trials and sum of an arm from the table of the test."""
    table = study.counts()
    ours = np.asarray(table["name"]) == name
    return int(np.asarray(table["trials"])[ours].sum()), np.asarray(table["sum"])[ours].sum()


def arm_rows(page):
    """Return the rows of the first table by the names of the arms, in order."""
    rows = page.rows[1:]
    return {row[0]: row[1:] for row in rows[:next(i for i, row in enumerate(rows)
                                                  if row[0] in ("variant", "batch", "event"))]}


def bets(page):
    """Return the wealth of the bets against each arm."""
    at = next(i for i, row in enumerate(page.rows) if row[-1].startswith("bets against"))
    return {row[0]: row[1] for row in page.rows[at + 1:] if len(row) == 2}


def rate(value):
    return f"{100 * value:#.3g}".rstrip(".") + " %" if value else "0 %"


def test_report_shows_the_winner(tmp_path):
    study = shop()
    page, race = page_of(study, tmp_path), study.policy
    assert study.status().done and not re.search(OF_WELLS, page.text)
    rows = arm_rows(page)
    assert list(rows) == ["video", "blue", "old"]
    for arm, (name, word) in enumerate([("old", "dropped"), ("blue", "dropped"),
                                        ("video", "winner")]):
        n, hits = totals(study, name)
        low, high = binomtest(int(hits), n).proportion_ci(0.95, "wilson")
        assert rows[name] == [word, f"{n:,}", f"{hits:,.0f}", rate(hits / n), rate(low),
                              rate(high)]
        assert bets(page)[name] == number(race.capital[arm])
    assert page.rows[0][3:5] == ["successes", "rate"]
    assert "bets against (dropped at 40)" in page.text
    assert "reaches 40" in page.text and "probability at most 0.05" in page.text
    assert "Simpson" in page.text and "only within batches" in page.text
    assert "not adjusted for repeated looks" in page.text and "Wilson's" in page.text
    assert "visits45,009" in page.text and "batches recorded9" in page.text
    # lifts, intervals, rates so far, visits
    assert page.tags["figure"] == 4 and "Visits of each variant" in page.text
    means = [totals(study, name)[1] / totals(study, name)[0] for name in ("old", "video")]
    assert (f"video won: {rate(means[1])} against {rate(means[0])} of old.") in page.text
    assert (f"Best guess: {100 * (means[1] / means[0] - 1):.0f} % more than old "
            f"({1000 * (means[1] - means[0]):.2g} more per 1,000 visits)") in page.text
    assert "Safe to count on: " in page.text and "the test is finished" in page.text
    top = page.text[:page.text.index("How the numbers")]
    assert not re.search(r"\b(arms?|bets?|pulls?|wealth|CountRace|trials)\b", top)


def test_report_lists_last_batches_first(tmp_path):
    study = shop(days=3)
    page, table = page_of(study, tmp_path), study.counts()
    at = next(i for i, row in enumerate(page.rows) if row[0] == "batch")
    assert page.rows[at][:3] == ["batch", "visits", "rate"]
    assert sorted(page.rows[at][3:]) == ["blue", "old", "video"]
    for batch, row in zip((2, 1, 0), page.rows[at + 1:], strict=False):
        ours = np.asarray(table["batch"]) == batch
        sums = dict(zip(np.asarray(table["name"])[ours], np.asarray(table["sum"])[ours],
                        strict=True))
        assert row[:3] == [f"day {batch}", "5,001", rate(sum(sums.values()) / 5001)]
        assert row[3:] == [f"{rate(sums[name] / 1667)} of 1,667" for name in page.rows[at][3:]]


def test_report_shows_added_and_retired_arms(tmp_path):
    study = shop(days=4, delta=1e-3)
    assert not study.policy.done
    study.add_arm("form")
    study.retire("blue", "it is broken")
    for day in range(4, 12):
        study.tell_counts({"old": (900, 20), "video": (900, 90), "form": (900, 95)},
                          key=f"day {day}", repeated=True)
    page = page_of(study, tmp_path)
    rows = arm_rows(page)
    assert {name: row[0] for name, row in rows.items()} == {
        "form": "in the test", "video": "in the test", "blue": "retired", "old": "dropped"}
    # dropped arms come after remaining ones, whatever their rates; no bets against a retired arm
    assert list(rows) == ["form", "video", "blue", "old"]
    assert bets(page)["blue"] == DASH and float(bets(page)["old"].replace(",", "")) > 2000
    assert rows["form"][1] == f"{8 * 900:,}" and "2 still compared" in page.text
    day_0 = next(row for row in page.rows if row[0] == "day 0")
    assert day_0[3] == DASH and day_0[4].endswith("of 1,667")


def test_last_arm_after_retirements_is_not_a_winner(tmp_path):
    study = shop(names=("old", "new"), rates=(0.04, 0.04), days=2)
    study.retire("old", "it is old")
    assert study.status().done
    rows = arm_rows(page_of(study, tmp_path))
    assert rows["new"][0] == "in the test" and rows["old"][0] == "retired"


def test_report_shows_arm_without_trials(tmp_path):
    study = shop()
    study.add_arm("form")
    page = page_of(study, tmp_path)
    assert arm_rows(page)["form"] == ["in the test", "0", "0", DASH, DASH, DASH]
    assert bets(page)["form"] == "1"
    assert "variants not measured yet1" in page.text


@pytest.mark.parametrize("value_range", [(0, 10), (-5, 5), (0, 1)])
def test_sums_of_other_rewards_have_no_interval(value_range, tmp_path):
    study = WebTest.create(":memory:", pb.CountRace(2, value_range=value_range), arms=["a", "b"])
    for day in range(3):
        study.tell_counts({"a": (100, 12.5), "b": (90, 54)}, key=f"{day}", repeated=True)
    page = page_of(study, tmp_path)
    rows = arm_rows(page)
    assert rows["a"][1:6] == ["300", "37.5", "0.125", DASH, DASH]
    assert rows["b"][1:6] == ["270", "162", "0.6", DASH, DASH]
    assert page.rows[0][3:5] == ["sum", "mean"]
    assert page.tags["figure"] == 3 + (value_range[0] >= 0)
    assert "There are no intervals" in page.text and "Wilson" not in page.text


@pytest.mark.parametrize("policy, has_interval", [
    (lambda: pb.CountRace(2, value_range=(0, 2)), False),
    (lambda: pb.policies.ThompsonSampling(2, rng=1, law="gaussian"), False),
    (lambda: pb.policies.ThompsonSampling(2, rng=1), True), (lambda: pb.policies.UCB1(2), True),
    (lambda: pb.policies.TopTwo(2, stopping=pb.stopping.GLR(delta=0.1, law="gaussian"), rng=1),
     True)])
def test_integer_sums_are_successes_only_in_unit_range(policy, has_interval, tmp_path):
    study = WebTest.create(":memory:", policy(), arms=["a", "b"])
    study.tell_counts({"a": (100, 12), "b": (90, 54)})
    page = page_of(study, tmp_path)
    assert ("Wilson" in page.text) == has_interval
    low, high = binomtest(12, 100).proportion_ci(0.95, "wilson")
    assert arm_rows(page)["a"][4:6] == ([rate(low), rate(high)] if has_interval
                                        else [DASH, DASH])


def test_whiskers_are_wilson_intervals(tmp_path):
    study = WebTest.create(":memory:", pb.CountRace(2), arms=["few", "many"])
    study.tell_counts({"few": (40, 3), "many": (40, 20)})
    page, found = page_of(study, tmp_path), facts.facts_of(study)
    drawn = re.findall(r'class="whisker other" d="M([\d.]+) [\d.]+L([\d.]+) [\d.]+"/>'
                       r'<circle class="dot other" cx="([\d.]+)"', page_text(study))
    for (name, hits), row in zip((("many", 20), ("few", 3)), drawn, strict=True):
        low, high = binomtest(hits, 40).proportion_ci(0.95, "wilson")
        arm = study.names.index(name)
        assert found.arms.below[arm] == pytest.approx(hits / 40 - low)
        assert found.arms.above[arm] == pytest.approx(high - hits / 40)
        start, end, middle = map(float, row)
        assert (middle - start) / (end - start) == pytest.approx(
            (hits / 40 - low) / (high - low), abs=0.01)
    assert page.tags["figure"] == 2  # no line for a single batch


def test_report_of_policy_with_single_pulls(tmp_path):
    """A policy that asks for single pulls: rates are of all recorded trials."""
    study = WebTest.create(":memory:", pb.policies.UCB1(12), arms=[f"page {i}" for i in range(12)])
    rng = np.random.default_rng(1)
    for day in range(5):
        study.tell_counts({name: (100, int(rng.binomial(100, 0.05 * (1 + arm))))
                           for arm, name in enumerate(study.names)}, key=f"day {day}", rng=day)
    page, status = page_of(study, tmp_path), study.status()
    n_waiting = 6000 - status.n_pulls
    assert n_waiting > 0 and f"waiting trials{n_waiting:,}" in page.text
    assert f"The policy has asked for {status.n_pulls:,} of 6,000 trials" in page.text
    assert "race" not in page.text and "bets" not in page.text and "policy's mean" not in page.text
    assert not re.search(OF_WELLS, page.text)
    rows = arm_rows(page)
    assert len(rows) == 12
    assert all(row[:2] == ["in the test", "500"] for row in rows.values())
    for name, row in rows.items():
        assert row[2] == f"{totals(study, name)[1]:,.0f}"
    head = next(row for row in page.rows if row[0] == "batch")
    assert len(head) == 3 + 8 and "then rate and visits of the 8 leading ones" in page.text
    assert head[3:] == list(rows)[:8]


def test_report_shows_different_means_of_used_policy(tmp_path):
    policy = pb.policies.UCB1(2)
    policy.tell(policy.ask(), np.zeros(2))
    study = WebTest.create(":memory:", policy, arms=["a", "b"])
    study.tell_counts({"a": (1, 1), "b": (1, 1)}, rng=1)
    page = page_of(study, tmp_path)
    assert "rewards from before the study" in page.text
    assert page.rows[0][-1] == "policy's mean" and arm_rows(page)["a"][-1] == "0.5"


@pytest.mark.parametrize("make, dropped", [
    (lambda: pb.policies.SequentialHalving(5, budget=200), 4),
                                           (lambda: pb.policies.BatchSAR(5, 2, batch_size=2,
                                                                         max_batches=30), 3),
    (lambda: pb.policies.Uniform(5, budget=40), 0)])
def test_answer_of_finished_policy_comes_first(make, dropped, tmp_path):
    study, rng = WebTest.create(":memory:", make()), np.random.default_rng(3)
    for seed in range(12):
        study.tell_counts({name: (100, int(rng.binomial(100, 0.5))) for name in study.names},
                          rng=seed)
    best, page = study.recommend().best_names, page_of(study, tmp_path)
    rows = arm_rows(page)
    assert study.status().done and list(rows)[:len(best)] == best
    words = [row[0] for row in rows.values()]
    assert words[:len(best)] == ["answer"] * len(best) and words.count("dropped") == dropped
    assert "winner" not in words and "in the test" not in words


def test_names_and_keys_are_escaped(tmp_path):
    study = WebTest.create(":memory:", pb.CountRace(len(EVIL)), arms=EVIL)
    for name in EVIL:
        study.tell_counts(dict.fromkeys(EVIL, (30, 4)), key=f"{name} <b>day</b>", repeated=True)
    page = page_of(study, tmp_path)
    assert page.tags["b"] == 0
    assert list(arm_rows(page)) == EVIL
    keys = [row[0] for row in page.rows if row[0].endswith("<b>day</b>")]
    assert keys == [f"{name} <b>day</b>" for name in reversed(EVIL)]


def test_headline_of_a_test_without_a_winner(tmp_path):
    study = shop(rates=(0.05, 0.05), names=("old", "new"), days=4)
    page = page_of(study, tmp_path)
    best = max(study.names, key=lambda name: totals(study, name)[1] / totals(study, name)[0])
    assert ("No winner yet: no variant is shown to be better than all others. "
            f"{best} has the highest rate so far, ") in page.text
    assert re.search(r"a winner (takes about|would take more than) [\d,]+ batches", page.text)
    assert 'dot chosen' not in page_text(study) and "Filled" not in page.text
    assert re.search(r"new: [\d.]+ % \([\d,]+ of 6,668\), lift [+−][\d.]+ %, between −", page.text)
    assert "There is a risk of at most 5 % that the wrong variant is named" in page.text


def test_title_and_days_are_those_of_the_test(tmp_path):
    study = WebTest.create(":memory:", pb.CountRace(2), arms=["old", "new"],
                           settings={"title": "Spring <page>"})
    rng = np.random.default_rng(1)
    for day in range(1, 10):
        study.tell_counts({name: (5000, int(rng.binomial(5000, 0.1))) for name in study.names},
                          key=f"2026-03-{day:02}")
    page = page_of(study, tmp_path)
    assert page.text.count("Spring <page>") == 2 and "9 days, 1 Mar to 9 Mar" in page.text
    assert "3 Mar" in page.text.replace("1 Mar to 9 Mar", "")


def test_report_without_counts(tmp_path):
    study = WebTest.create(":memory:", pb.CountRace(3), arms=["old", "blue", "video"])
    page = page_of(study, tmp_path)
    assert "No results yet" in page.text and "No counts yet" in page.text
    assert "3 of 3 variants not measured yet" in page.text and page.tags["figure"] == 0
    assert not re.search(r"\b(wells?|plates?|lost|late|out)\b", page.text)
    study.tell_counts({"old": (0, 0)}, key="closed")
    page = page_of(study, tmp_path)
    assert "No results yet" in page.text and "batches recorded1" in page.text
    assert ["closed", "0", DASH] in page.rows


def test_page_with_many_batches_stays_small(tmp_path):
    names, n = [f"page {i}" for i in range(50)], 3000
    study = WebTest.create(":memory:", pb.policies.ThompsonSampling(50, rng=1), arms=names)
    sums = np.random.default_rng(1).binomial(20, 0.1, (n, 50)).tolist()
    for row in sums:
        study.tell_counts(dict(zip(names, [(20, came) for came in row], strict=True)))
    found, text = facts.facts_of(study), page_text(study)
    page = Page(text)
    assert len(text) < 100_000 and len(arm_rows(page)) == 50
    assert f"visits{n * 50 * 20:,}" in page.text and "Drawn at 300 of" in page.text
    assert [row[0] for row in page.rows if len(row) == 11] == [
        "batch", *map(str, reversed(range(n - 24, n))), f"{n - 24:,} before"]
    before = page.rows[[row[0] for row in page.rows].index(f"{n - 24:,} before")]
    assert before[1] == f"{(n - 24) * 1000:,}"
    assert before[2] == rate(np.sum(sums[:n - 24]) / ((n - 24) * 1000))
    at, means = means_so_far(found.counted, found.followed)
    assert at.size == 300 and at[0] == 0 and at[-1] == n - 1
    so_far = np.cumsum(sums, axis=0)[at][:, found.followed] / (20 * (at + 1.0))[:, None]
    assert means == pytest.approx(so_far)
    assert found.followed.tolist() == [study.recommend().best_arms[0], *[
        arm for arm in np.argsort(-np.sum(sums, axis=0), kind="stable").tolist()
        if arm != study.recommend().best_arms[0]][:7]]


def test_live_page_equals_report():
    study = shop()
    title, content, head = report_of(study).titled_content(study)
    assert head == study.status().head and "video" in content and "winner" in content
    # except the time of creation
    was_made = r"<time>[^<]*</time>\.</p></section>"
    assert re.sub(was_made, "", content) in re.sub(was_made, "", page_text(study))
    assert title == "Web test :memory:"


@pytest.mark.parametrize("changes", [
    dict(trials=3.0), dict(sums=[1.0]), dict(key=3), dict(trials=np.full(9, 5)),
    dict(trials=np.full(3, -5)), dict(trials=np.full(3, 2**62)), dict(sums=np.full(3, np.nan))])
def test_report_of_invalid_counts_is_damage(tmp_path, changes):
    path = str(tmp_path / "pages.db")
    with WebTest.create(path, pb.CountRace(3), arms=["a", "b", "c"]) as study:
        study.tell_counts({"a": (4, 2), "b": (4, 1), "c": (3, 3)}, key="Monday")
    with closing(sqlite3.connect(path)) as db:
        ((body,),) = db.execute("SELECT body FROM log WHERE number = 1")
    put(path, "log", "body", encode({**decode(body), **changes}), "number = 1")
    sign(path)
    with (WebTest.open(path) as study,
          pytest.raises(StudyDamagedError, match="pages.db is damaged: log: event 1 does not "
                              "hold counts")):
        page_text(study)


@pytest.mark.skipif(browser.program() is None, reason="needs Chromium")
def test_page_fits_a_phone(tmp_path):
    study = shop(names=[f"{name}{i}" for i, name in enumerate(EVIL)], rates=[0.1] * len(EVIL),
                 days=30)
    assert page_of(study, tmp_path, title="Shop").tags["figure"] == 4
    text, console = browser.dom(browser.framed(tmp_path / "report.html", 390, 320))
    assert console == [] and frames_of(text) == [[390, 390, "Shop"], [320, 320, "Shop"]]
