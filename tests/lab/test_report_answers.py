"""The answer in a report: all arms, unmeasured arms, and readings in addition to rewards."""

import re

import numpy as np
import pytest

import pybandit as pb
from lab.report_page import page_of
from pybandit.lab import _report_facts as facts
from pybandit.lab._normalise import readings_of
from pybandit.lab.plates import Layout, Plates
from pybandit.lab.report import _doubts

from studies import browser

PLATES = Plates(Layout(2, 3), (0,), "virus", True, True, True)


def few_plates(n=30, k=4, settings=None):
    """Return a study with two batches of five pulls: most arms are never measured."""
    study = pb.Study.create(":memory:", pb.policies.RoundRobin(n, k, batch_size=5, max_batches=2),
                            settings=settings,
                            arms=[f"gene <{i}>" for i in range(n)])
    while (batch := study.ask()) is not None:
        study.tell(batch.id, -np.log(0.1 * (1 + batch.arms)))
    return study


@pytest.mark.parametrize(("n", "k"), [(60, 40), (700, 500), (3000, 2000)])
def test_every_arm_of_the_answer_is_in_the_plot(n, k, tmp_path):
    """And in the table, which shows a thousand."""
    study = pb.Study.create(":memory:",
                            pb.policies.RoundRobin(n, k, batch_size=2 * n, max_batches=1))
    batch = study.ask()
    study.tell(batch.id, batch.arms + 0.25 * (np.arange(2 * n) % 2))
    page, best = page_of(study, tmp_path), study.recommend().best_names
    dots = [value for _, name, value in page.attributes if name == "class"]
    assert dots.count("dot chosen") == k and dots.count("dot other") == 10
    rows = [row[1] for row in page.rows if len(row) == 6 and row[0].isdigit()]
    assert rows == best[:1000]
    assert ("the first 1,000 of 2,000 arms" in page.text) == (k == 2000)
    height = next(float(value.split()[3]) for _, name, value in page.attributes
                  if name == "viewbox")
    assert 500 < height < 1100 if n < 1000 else height < 2100


def test_arms_never_measured_are_listed(tmp_path):
    study = few_plates()
    best, status = study.recommend(), study.status()
    assert status.done and status.n_unmeasured == 20
    assert best.unmeasured.tolist() == list(range(10, 30)) and best.unmeasured.dtype == np.int64
    page = page_of(study, tmp_path)
    assert "20 of 30 arms never measured" in page.text
    assert page.tags["details"] == 4  # also of intervals, outlying results and events
    assert all((f"gene <{i}>" in page.text) for i in range(10, 30))
    assert "arms never measured20" in page.text


def test_arms_not_measured_yet_are_listed(tmp_path):
    study = pb.Study.create(":memory:", pb.policies.RoundRobin(4, 1, batch_size=2, max_batches=4))
    assert study.status().n_unmeasured == 4
    study.tell(study.ask().id, [0.1, 0.2])
    assert study.recommend().unmeasured.tolist() == [2, 3]
    assert "2 of 4 arms not measured yet" in page_of(study, tmp_path).text
    # the result is known, although the policy receives it only when the batch is over
    study.tell(study.ask().id, [0.4], positions=[0])
    assert "1 of 4 arms not measured yet" in page_of(study, tmp_path).text
    study.tell(1, [0.4], positions=[1])
    assert "measured" not in page_of(study, tmp_path).text
    assert study.status().n_unmeasured == 0


def test_long_list_of_unmeasured_arms_is_cut(tmp_path, monkeypatch):
    from pybandit.report import _tables as _report_tables

    monkeypatch.setattr(_report_tables, "ARMS", 3)
    page = page_of(few_plates(), tmp_path)
    assert "gene <12> and 17 more" in page.text and "gene <13>," not in page.text


def test_readings_are_shown_with_rewards(tmp_path):
    """Rewards are minus the logarithm of readings divided by controls, 0.1, 0.2, ... at first."""
    page = page_of(few_plates(settings=PLATES.settings()), tmp_path)
    rows = {row[1]: row for row in page.rows}
    assert rows["gene <0>"][:4] == ["1", "gene <0>", "1", "2.303"]
    assert rows["gene <0>"][4] == "0.1" and rows["gene <2>"][4] == "0.3"
    assert rows["sample"][4] == "reading"
    assert "sign and logarithm undone, in parts of the controls' mean" in page.text
    assert "reading, in parts of the controls' mean; geometric mean" in page.text
    # medians of the two plates, of 0.1 to 0.5 and of 0.6 to 1
    medians = {row[0]: row[8] for row in page.rows if len(row) == 9}
    assert medians["0"] == "0.3" and medians["1"] == "0.8"


@pytest.mark.parametrize(("how", "words"), [
    ("percent", "in per cent of the controls' mean"), ("inhibition", "in per cent of inhibition")])
def test_readings_relative_to_controls(how, words, tmp_path):
    plates = Plates(Layout(2, 3), (0,), normalise=how, flip=True, positives=(1,))
    page = page_of(few_plates(settings=plates.settings()), tmp_path)
    assert f"sign undone, {words}" in page.text and f"reading, {words}" in page.text


def test_intervals_are_converted_to_readings(tmp_path):
    study = pb.Study.create(":memory:", pb.policies.RoundRobin(1, 1, batch_size=4, max_batches=1),
                            settings=Plates(Layout(2, 3), log=True, flip=True).settings())
    study.ask()
    values = np.log([2.0, 4.0, 8.0, 16.0])
    study.tell(0, -values)
    page = page_of(study, tmp_path)
    half = 3.182446305284263 * values.std(ddof=1) / 2
    low, middle, high = np.exp(values.mean() + half * np.array([-1, 0, 1]))
    (row,) = [row for row in page.rows if row[1:2] == ["0"]]
    assert row[4] == f"{middle:.4g} ({low:.3g} to {high:.3g})"
    assert "sign and logarithm undone; means become geometric means" in page.text


@pytest.mark.parametrize("settings", [
    None, Plates(Layout(2, 3), (0,)).settings(),
    Plates(Layout(2, 3), (0,), normalise="percent").settings()])
def test_readings_equal_to_rewards_are_not_shown(settings, tmp_path):
    text = page_of(few_plates(settings=settings), tmp_path).text
    assert "reading" not in re.sub("Values are the readings", "", text)
    assert ("means in per cent of the controls' mean" in text) == ("percent" in str(settings))


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("flip", [False, True])
def test_readings_are_converted_from_rewards(log, flip):
    plates = Plates(Layout(2, 3), log=log, flip=flip)
    readings = np.array([0.5, 2.0, 3.0, np.nan])
    rewards = np.log(readings) if log else readings
    assert readings_of(-rewards if flip else rewards, plates) == pytest.approx(
        readings, nan_ok=True)


def test_arm_measured_by_used_policy_counts_as_measured(tmp_path):
    """An arm that only the policy has measured, before the study, counts as measured."""
    policy = pb.policies.UCB1(2)
    policy.tell(policy.ask(), np.zeros(2))
    study = pb.Study.create(":memory:", policy)
    assert facts.facts_of(study).unmeasured.size == 0 == study.status().n_unmeasured


def test_notebook_display():
    study = few_plates()
    shown = study._repr_html_()
    assert "gene &lt;9&gt;" not in shown and "<td>gene &lt;0&gt;</td><td>2.303</td>" in shown
    assert "2 batches and 10 pulls spent; done" in shown
    assert "20 arms without a result" in shown and shown.count("<tr>") == 5
    assert study.recommend()._repr_html_() in shown
    study.close()
    assert study._repr_html_().startswith("<code>&lt;Study &#x27;:memory:&#x27;: RoundRobin")
    fresh = pb.Study.create(":memory:", pb.policies.UCB1(50))
    fresh.ask()
    shown = fresh._repr_html_()
    assert "No result yet" in shown and "batch 0 is open, 50 results" in shown
    many = pb.Study.create(":memory:", pb.policies.RoundRobin(50, 30, batch_size=50, max_batches=1))
    many.tell(many.ask().id, np.arange(50.0))
    assert "and 10 more" in many._repr_html_() and "without a result" not in many._repr_html_()


@pytest.mark.skipif(browser.program() is None, reason="needs Chromium")
def test_long_answers_on_a_phone(tmp_path):
    from lab.test_report import frames_of

    study = few_plates(400, 300, PLATES.settings())
    page_of(study, tmp_path, title="Screen")
    text, console = browser.dom(browser.framed(tmp_path / "report.html", 390, 320))
    assert console == [] and frames_of(text) == [[390, 390, "Screen"], [320, 320, "Screen"]]


def test_headline_names_the_leader_and_uncertain_ranks(tmp_path):
    study = pb.Study.create(":memory:", pb.policies.BatchSAR(4, 2, batch_size=4, max_batches=8),
                            arms=["tea", "mate", "cocoa", "water"],
                            settings={"title": "Drinks of <March>"})
    study.tell(study.ask().id, [0.1, 0.9, 0.5, 0.7])
    page = page_of(study, tmp_path)
    assert page.text.count("Drinks of <March>") == 2
    assert "2 arms so far, not final; first mate, mean 0.9 of 1 result." in page.text
    assert "Uncertain, with fewer than 3 results: mate (1), water (1); repeat" in page.text


def test_arm_with_a_higher_mean_outside_the_answer_is_explained(tmp_path):
    study = pb.Study.create(":memory:", pb.policies.Uniform(2, budget=8), arms=["tea", "mate"])
    batch = study.ask()
    study.tell(batch.id, np.array([0.2, 0.8])[batch.arms])
    found = facts.facts_of(study)
    other = found._replace(chosen=np.array([0]), others=np.array([1]))
    assert "mate</bdi> has a higher mean than another one of the answer, from" in _doubts(other)
    assert "Uncertain" not in _doubts(found) and "higher mean" not in _doubts(found)
