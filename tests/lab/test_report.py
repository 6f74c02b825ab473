"""The report of a study: content of the page, and its look in a browser."""

import html
import json
import re

import numpy as np
import pytest

import pybandit as pb
from lab.report_page import Page, page_of, screened
from pybandit.lab import _report_facts as facts
from pybandit.lab.plates import Layout, Plates
from pybandit.lab.report import write_report
from pybandit.report._svg import Scale, number

from studies import browser
from studies.cases import POLICIES, measured

EVIL = ["<script>alert(1)</script>", "tea & \"milk\"", "'><img src=x onerror=alert(1)>",
        "a very long name of a treatment that no phone has the room for, " * 3, "‮abc", "日本"]


@pytest.fixture(scope="module")
def chromium():
    if browser.program() is None:
        pytest.skip("needs Chromium, which is not installed or does not start")


def test_report_of_screen_in_progress(tmp_path):
    study = screened()
    page, status = page_of(study, tmp_path, title="Screen <1>"), study.status()
    assert "Screen <1>" in page.text
    assert "batch 11 is open" in page.text and f"{status.n_pulls:,}" in page.text
    assert f"of 20; {status.batches_left} left" in page.text
    assert status.head in page.text and f"{status.n_events} events" in page.text
    assert pb.__version__ in page.text and "Ada <ada@lab>" in page.text
    assert "not adjusted" in page.text and "|z| > 3.5" in page.text
    assert "4 of them virus <only>" in page.text and "logarithm taken" in page.text
    # figures: intervals, ranks, pulls, plates over time, and 11 plates
    assert page.tags["figure"] == 4 + 11
    assert page.tags["table"] == 4
    rows = {row[0]: row for row in page.rows if len(row) == 9}
    assert rows["1"][1:7] == ["20", "19", "1", "1", "0", "0"]
    assert rows["3"][6] == "1" and "2" not in rows
    assert rows["11"][1:6] == ["20", "10", "0", "0", "10"]
    wells = [row for row in page.rows if row[-1] in ("outlying", "late", "lost")]
    # the first and the seventh well of a plate hold controls
    assert [(row[0], row[1], row[6]) for row in wells] == [
        ("3", "B2", "outlying"), ("1", "B4", "late"),
        ("1", "A5", "lost")]


def test_intervals_are_students(tmp_path):
    study = pb.Study.create(":memory:", pb.policies.Uniform(2, budget=8), ["tea", "coffee"])
    study.tell(study.ask().id, [1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0])
    page = page_of(study, tmp_path)
    # 1, 2, 3, 4: mean 2.5, half-width 3.182446 (three degrees of freedom) times 1.290994 / 2
    assert ["1", "tea", "4", "2.5", "0.4457", "4.554"] in page.rows
    assert ["", "coffee", "4", "0", "0", "0"] in page.rows
    assert "of 2; done. Method: Uniform. Created" in page.text and "of 8; 0 left" in page.text
    assert "policy's mean" not in page.text


@pytest.mark.parametrize("name", POLICIES)
def test_report_works_for_every_policy(name, tmp_path):
    study = pb.Study.create(":memory:", POLICIES[name]())
    for _ in range(20):
        batch = study.ask()
        if batch is None:
            break
        study.tell(batch.id, measured(batch.id, batch.arms))
    page, best = page_of(study, tmp_path), study.recommend()
    assert [row[1] for row in page.rows[1:1 + len(best.best_names)]] == best.best_names
    assert "policy's mean" not in page.text  # computed from the same results


def test_report_shows_different_means_of_used_policy(tmp_path):
    policy = pb.policies.UCB1(2)
    arms = policy.ask()
    policy.tell(arms, np.zeros(len(arms)))
    study = pb.Study.create(":memory:", policy)
    batch = study.ask()
    study.tell(batch.id, np.ones(batch.arms.size))
    page = page_of(study, tmp_path)
    assert "policy's mean" in page.text
    assert page.rows[1][2] == "1" and page.rows[1][6] == "0.5"


def test_report_of_empty_study(tmp_path):
    study = pb.Study.create(":memory:", pb.policies.UCB1(3))
    page = page_of(study, tmp_path)
    assert "No results yet" in page.text and "No batch was asked for" in page.text
    assert page.tags["figure"] == 0
    assert "3 of 3 arms not measured yet" in page.text
    study.ask()
    page = page_of(study, tmp_path)
    assert page.tags["figure"] == 0 and ["0", "3", "0", "0", "0", "3", "0", "–"] in page.rows


def test_arms_without_a_result_are_not_the_answer(tmp_path):
    """Four arms are wanted, and two have results."""
    study = pb.Study.create(":memory:", pb.policies.BatchSAR(6, 4, batch_size=2, max_batches=9))
    study.tell(study.ask().id, [0.5, 0.5])
    page = page_of(study, tmp_path)
    assert [row[1] for row in page.rows if len(row) == 6][1:] == ["0", "1"]
    assert "2 more arms of the answer have no result yet" in page.text
    assert "The answer: 2 arms" in page.text
    while (batch := study.ask()) is not None:
        study.tell(batch.id, np.arange(2.0))
    assert "no result yet" not in page_of(study, tmp_path).text


def test_names_are_escaped(tmp_path):
    study = screened(6, 5, names=EVIL, settings={"plates": {"layout": "<9y9>"}})
    page = page_of(study, tmp_path, title="</title><b>")
    assert page.tags["b"] == 0 and page.tags["title"] > 0
    for name in EVIL:
        assert name in page.text
    assert "<9y9>" in page.text and "not those of plates" in page.text


def test_report_of_study_with_single_pulls(tmp_path):
    study = pb.Study.create(":memory:", pb.policies.UCB1(3), ["red", "green", "blue"])
    for _ in range(60):
        batch = study.ask()
        study.tell(batch.id, np.full(batch.arms.size, 0.2) + 0.1 * batch.arms)
    page = page_of(study, tmp_path)
    # no plates: intervals, ranks and pulls are drawn, and wells are not mentioned
    assert page.tags["figure"] == 3 and page.tags["table"] == 3
    assert "drawn" not in page.text and not re.search(r"\bwells?\b", page.text)


@pytest.mark.parametrize("values", [[1e150, -1e150, 1e-300, 1e150], [1e150] * 4, [0.0] * 4,
                                    [-5e-324, 0.0, 5e-324, 1.0], [1e16, 1e16 + 2, 1e16, 1e16]])
def test_report_handles_extreme_values(values, tmp_path):
    study = pb.Study.create(":memory:", pb.policies.UCB1(2),
                            settings=Plates(Layout(2, 3)).settings())
    for value in [*values, *values]:
        batch = study.ask()
        study.tell(batch.id, np.full(batch.arms.size, value))
    page = page_of(study, tmp_path)
    assert page.tags["figure"] >= 3 and not re.search(r"\b(nan|inf)\b", page.text)


def test_robust_scores_of_known_values():
    values = np.array([1.0, 2, 3, 4, 5, 6, 7, 8, 100, np.nan])
    median, spread = facts.robust_scale(values)
    assert median == 5 and spread == pytest.approx(2 / 0.6745, rel=1e-4)
    assert np.isnan(facts.robust_scale(values[:7])[1])
    assert np.isnan(facts.robust_scale(np.array([1.0] * 5 + [2, 3, 4]))[1])


def test_ranks_of_known_values(tmp_path):
    study = pb.Study.create(":memory:", pb.policies.UCB1(3))
    while study.status().n_pulls < 30:
        batch = study.ask()
        study.tell(batch.id, 0.1 * batch.arms + 0.01 * (batch.id % 3))
    found, history = facts.facts_of(study), study.history()
    for point, batch in enumerate(found.rank_batches):
        known = [(arm, value) for number_, arm, value in
                 zip(history["batch"], history["arm"], history["value"], strict=True)
                 if number_ <= batch]
        means = {arm: np.mean([value for other, value in known if other == arm])
                 for arm in range(3)}
        expected = [1 + sum(mean > means[arm] for mean in means.values())
                    for arm in found.followed]
        assert found.ranks[point].tolist() == expected


def test_large_studies_are_summarised(tmp_path, monkeypatch):
    monkeypatch.setattr(facts, "SUMMARISED", 9)
    monkeypatch.setattr(facts, "PLATES", 3)
    monkeypatch.setattr(facts, "POINTS", 4)
    page = page_of(screened(batches=18), tmp_path)
    assert page.tags["figure"] == 4 + 3
    assert "The last 3 of 17 plates are drawn" in page.text
    assert "8 earlier ones are not counted" in page.text
    monkeypatch.setattr(facts, "DRAWN_WELLS", 10)
    assert "too large to be drawn: 4x6" in page_of(screened(batches=18), tmp_path).text


def test_report_of_stage_on_many_plates(tmp_path):
    study = pb.Study.create(":memory:", pb.policies.SequentialHalving(50, budget=400),
                            settings=Plates(Layout(2, 12), (0,)).settings())
    batch = study.ask()
    study.tell(batch.id, np.random.default_rng(0).normal(size=batch.arms.size))
    page = page_of(study, tmp_path)
    n_plates = -(-batch.arms.size // 23)
    assert n_plates > 1 and f"Plate 0p{n_plates}" in page.text
    assert sum(bool(re.fullmatch(r"0p\d+", row[0])) for row in page.rows) >= n_plates


def test_report_reads_one_moment(tmp_path):
    """A report does not show what another process records after it was started."""
    study = screened(path=tmp_path / "study.db")

    def reads(_):
        before = study.status()
        with pb.Study.open(tmp_path / "study.db") as other:
            other.close_batch(11)
        assert study.status().head == before.head
        assert facts.facts_of(study).status.n_open == 10

    study._read(reads)
    assert facts.facts_of(study).status.n_open == 0
    study.close()


def test_report_does_not_overwrite_database(tmp_path):
    with screened(path=tmp_path / "study.db") as study:
        with pytest.raises(ValueError, match="study.db is a database"):
            write_report(study, tmp_path / "study.db")
        with pytest.raises(OSError):
            write_report(study, tmp_path / "none" / "report.html")
        write_report(study, tmp_path / "report.html")
        write_report(study, tmp_path / "report.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "study.db"]


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3.7, 12), (1e-9, 2e-9), (0, 12979),
                                           (1e300, 1e308), (5, 5), (0, 0), (-1e308, 1e308)])
@pytest.mark.parametrize("log", [False, True])
def test_scales_of_figures(low, high, log):
    if log:
        low, high = max(1, low), max(1, high)
    scale = Scale(low, high, 10, 90, log)
    ticks = scale.ticks()
    places = [scale(tick) for tick in ticks]
    assert 1 <= len(ticks) <= 310 and places == sorted(places)
    assert all(9.9 <= place <= 90.1 for place in places)
    assert scale(low) == pytest.approx(10 if low < high else scale(high))


def test_numbers_are_formatted():
    assert [number(x) for x in (-1.5, 12345.6, 1e9, 0.0, np.nan, np.inf)] == [
        "\N{MINUS SIGN}1.5", "12,346", "1e+09", "0", "–", "–"]


@pytest.mark.usefixtures("chromium")
def test_page_looks_right_in_a_browser(tmp_path):
    write_report(screened(len(EVIL) * 4, names=[f"{name}{i}" for name in EVIL for i in range(4)]),
                 tmp_path / "report.html", title="Screen & more")
    page = tmp_path / "report.html"
    expected = Page(page.read_text("utf-8"))
    text, console = browser.dom(page)
    assert console == []
    shown = Page(text)
    assert shown.tags["table"] == expected.tags["table"] == 4
    assert shown.tags["figure"] == 4 + 11 and "script" not in shown.tags
    assert shown.tags["svg"] == expected.tags["svg"]
    assert "<title>Screen &amp; more</title>" in text
    light = np.asarray(browser.screenshot(page, 1200, 1500))
    dark = np.asarray(browser.screenshot(page, 1200, 1500, browser.DARK))
    assert light.shape == dark.shape == (1500, 1200, 3)
    assert light[0, 0].tolist() == [255, 255, 255] and max(dark[0, 0]) < 60
    for picture in (light, dark):
        ground = picture[0, 0].astype(int)
        drawn = np.abs(picture.astype(int) - ground).max(axis=2) > 60
        assert 0.01 < drawn.mean() < 0.5  # text and figures contrast with the background
    widths = 390, 320, 1000
    text, console = browser.dom(browser.framed(page, *widths))
    assert console == []
    assert frames_of(text) == [[width, width, "Screen & more"] for width in widths]


@pytest.mark.usefixtures("chromium")
def test_browser_reports_errors(tmp_path):
    """Check that errors are detected: a script is rejected, an overflow is measured."""
    write_report(screened(), tmp_path / "report.html")
    page = tmp_path / "report.html"
    text = page.read_text("utf-8")
    page.write_text(text.replace("</body>", "<script>document.title = 'ran'</script></body>"),
                    "utf-8")
    shown, console = browser.dom(page)
    assert len(console) == 1 and "<title>ran" not in shown
    page.write_text(text.replace("<h1>", '<h1 style="width:700px">'), "utf-8")
    shown, _ = browser.dom(browser.framed(page, 390))
    assert frames_of(shown)[0][1] > 700


def frames_of(text):
    """Return what the frames of `browser.framed` report."""
    return json.loads(html.unescape(re.search("<title>(.*?)</title>", text)[1]))
