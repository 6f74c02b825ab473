"""Corrected counts: the test equals one that recorded the right counts at once."""

import sqlite3
from contextlib import closing
from dataclasses import astuple

import numpy as np
import pytest

import pybandit as pb
from pybandit.studies import AmendResult
from pybandit.webtests import WebTest
from pybandit.webtests.report import page_text
from webtests.test_counts import ONE_BY_ONE

from betting.races import assert_says, frozen

NAMES = ["home", "price", "video"]
DAYS = [{"home": (100, 4), "price": (98, 6), "video": (103, 9)},
        {"home": (97, 5), "price": (101, 7), "video": (99, 12)},
        {"home": (102, 6), "price": (100, 3), "video": (96, 10)}]
WRONG = {"home": (100, 4), "price": (118, 26), "video": (103, 9)}


def told(study, days, start=0):
    for number, counts in enumerate(days, start):
        study.tell_counts(counts, key=f"2025-01-0{number + 1}", rng=number)
    return study


@pytest.mark.parametrize("name", ["counts", "thompson", *ONE_BY_ONE])
def test_corrected_test_equals_test_with_right_counts(name, tmp_path):
    make = {"counts": lambda: pb.CountRace(3), **ONE_BY_ONE,
            "thompson": lambda: pb.policies.ThompsonSampling(3, rng=1, batch_size=60)}[name]
    path = tmp_path / "study.db"
    with told(WebTest.create(path, make(), NAMES), [WRONG, *DAYS[1:]]) as study:
        done = study.amend_counts("2025-01-01", {"price": DAYS[0]["price"]}, reason="robots")
        assert done == AmendResult(n_amended=1, n_known=0) and study.status().n_amendments == 1
        again = study.amend_counts("2025-01-01", DAYS[0], reason="robots")
        assert again == AmendResult(n_amended=0, n_known=3) and study.status().n_events == 5
    right = told(WebTest.create(tmp_path / "right.db", make(), NAMES), DAYS)
    with WebTest.open(path) as study:
        assert frozen(study.policy.get_state()) == frozen(right.policy.get_state())
        study.verify()
        assert study.counts().drop(columns=["told_at", "who"]).equals(
            right.counts().drop(columns=["told_at", "who"]))
        assert list(study.study.history()["batch"]) == []
        # the present counts are known when repeated, and the previous ones are rejected
        assert study.tell_counts(DAYS[0], key="2025-01-01").n_known == 3
        with pytest.raises(ValueError, match="already recorded as '2025-01-01'.*amend_counts"):
            study.tell_counts(WRONG, key="2025-01-01")
        [one] = study.amendments()
        assert astuple(one)[:8] == (4, "2025-01-01", 1, "price", 118, 26.0, 98, 6.0)
        assert one.reason == "robots" and study.study.amendments() == []
        told(study, [{"home": (9, 1), "price": (8, 0), "video": (11, 3)}], 3)
        told(right, [{"home": (9, 1), "price": (8, 0), "video": (11, 3)}], 3)
        assert frozen(study.policy.get_state()) == frozen(right.policy.get_state())
        page = page_text(study)
        assert "robots" in page and "118" in page


def test_correction_keeps_added_and_retired_arms():
    """Added arms have no counts in earlier batches; a retired arm stays retired."""
    study = told(WebTest.create(":memory:", pb.CountRace(3), NAMES), [WRONG, DAYS[1]])
    study.add_arm("form")
    study.retire("home", "slow")
    late = {"price": (90, 5), "video": (93, 8), "form": (88, 7)}
    study.tell_counts(late, key="2025-01-03")
    study.amend_counts("2025-01-01", {"price": (98, 6)}, reason="robots")
    assert study.policy.retired.tolist() == [0] and study.policy.pulls.tolist() == [
        197, 98 + 101 + 90, 103 + 99 + 93, 88]
    with pytest.raises(ValueError, match="'form', which was added later"):
        study.amend_counts("2025-01-01", {"form": (9, 1)}, reason="robots")
    assert study.amend_counts("2025-01-01", {"form": (0, 0)}, reason="none").n_amended == 0
    study.verify()


def test_correction_may_remove_the_winner():
    study = WebTest.create(":memory:", pb.CountRace(2), ["old", "new"])
    for day in range(3):
        study.tell_counts({"old": (2500, 100 + day), "new": (2500, 150 + day)}, key=f"day {day}")
    assert study.status().done and study.recommend().best_names == ["new"]
    assert study.recommend().decided and "new is the best of" in study.recommend().summary()
    for day in range(3):
        study.amend_counts(f"day {day}", {"new": (2450, 101 + day)}, reason="orders returned")
    assert not study.status().done and study.policy.survivors.tolist() == [0, 1]
    assert study.status().n_amendments == 3 and study.verify().n_events == 7


def test_squares_are_corrected_with_sums(tmp_path):
    race = pb.CountRace(2, value_range=(0, 30))
    with WebTest.create(tmp_path / "study.db", race, ["old", "new"]) as study:
        study.tell_counts({"old": (100, 300.0, 1200.0), "new": (101, 320.0, 1300.0)}, key="a")
        study.tell_counts({"old": (103, 305.0, 1210.0), "new": (99, 321.0, 1290.0)}, key="b")
        study.amend_counts("a", {"new": (99, 310.0, 1250.0)}, reason="returned")
        with pytest.raises(ValueError, match="squares if the batch has them"):
            study.amend_counts("a", {"new": (99, 300.0)}, reason="returned")
        assert study.counts()["squares"].tolist() == [1200.0, 1250.0, 1210.0, 1290.0]
        study.verify()
        for batches in ([[100, 99], [300, 310], [1200, 1250]],
                        [[103, 99], [305, 321], [1210, 1290]]):
            race.tell_counts(*batches)
        assert frozen(study.policy.get_state()) == frozen(race.get_state())


def test_invalid_corrections_are_rejected(tmp_path):
    study = told(WebTest.create(tmp_path / "study.db", pb.CountRace(3), NAMES), DAYS)
    fine = {"home": (9, 1)}
    for call, error, words in [
        (lambda: study.amend_counts("2025-01-09", fine, reason="x"), ValueError,
         ["key", "2025-01-09", "record them"]),
        (lambda: study.amend_counts(None, fine, reason="x"), TypeError, ["key", "None"]),
        (lambda: study.amend_counts("2025-01-01", fine, reason=" "), ValueError, ["reason"]),
        (lambda: study.amend_counts("2025-01-01", fine, reason=3), TypeError, ["reason"]),
        (lambda: study.amend_counts("2025-01-01", {"hom": (9, 1)}, reason="x"), ValueError,
         ["'hom'"]),
        (lambda: study.amend_counts("2025-01-01", {"home": (9, 10)}, reason="x"), ValueError,
         ["10 for 9 trials of arm 'home'"]),
        (lambda: study.amend_counts("2025-01-01", {"home": (9, -1)}, reason="x"), ValueError,
         ["-1"]),
    ]:
        with pytest.raises(error) as caught:
            call()
        assert_says(caught.value, *words)
        assert study.status().n_events == 4
    other = told(WebTest.create(":memory:", pb.policies.UCB1(3), NAMES), DAYS)
    with pytest.raises(ValueError, match="integer numbers"):
        other.amend_counts("2025-01-01", {"home": (9, 1.5)}, reason="x")
    empty = WebTest.create(":memory:", pb.policies.UCB1(3), NAMES)
    with pytest.raises(ValueError, match="key must be that of recorded counts"):
        empty.amend_counts("a", fine, reason="x")


def test_forged_correction_is_damage(tmp_path):
    path = tmp_path / "study.db"
    with told(WebTest.create(path, pb.CountRace(3), NAMES), DAYS) as study:
        study.amend_counts("2025-01-02", {"home": (97, 4)}, reason="robots")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE log SET body = CAST(replace(body, 'robots', 'rabbit') AS BLOB) "
                   "WHERE number = 4")
    with WebTest.open(path) as study, pytest.raises(pb.errors.StudyDamagedError, match="event 4"):
        study.verify()


def test_guarantee_of_a_fixed_rule_of_corrections():
    """Wrong winners of A/A tests in which robots, equal on both pages, are filtered later."""
    named = 0
    for seed in range(40):
        rng, race = np.random.default_rng(seed), pb.CountRace(2, delta=0.1)
        study = WebTest.create(":memory:", race, ["a", "b"])
        for day in range(8):
            trials, robots = rng.multinomial(2000, [0.5, 0.5]), rng.multinomial(300, [0.5, 0.5])
            came = rng.binomial(trials, 0.05)
            rows = zip("ab", (trials + robots).tolist(), came.tolist(), strict=True)
            study.tell_counts({name: row for name, *row in rows}, key=f"{day}", repeated=True)
            study.amend_counts(f"{day}", {name: (n, s) for name, n, s in zip(
                "ab", trials.tolist(), came.tolist(), strict=True)}, reason="robots")
            race.tell_counts(trials, came)
        assert study.policy.capital.tolist() == race.capital.tolist()
        named += study.status().done
    assert named <= 10
