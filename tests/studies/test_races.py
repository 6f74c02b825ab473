"""Betting races as studies: they equal races that receive the same results directly."""

import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest

import pybandit as pb
from pybandit.errors import StudyDamagedError
from pybandit.lab.report import write_report
from pybandit.studies import Study

from betting.races import MAKERS, RACE, REWARDS, assert_says, frozen, play

RACES = {**{name: make for name, make in MAKERS.items() if name != "told"},
         "budget": lambda: pb.BudgetRace(4, 300, budget=700, **RACE)}


def carry_out(study, most=10**9, rng=None):
    """Continue a study: report its batches, whole or in pieces."""
    for _ in range(most):
        batch = study.ask()
        if batch is None:
            return
        rewards = REWARDS[batch.items % 300, batch.arms]
        if rng is None:
            study.tell(batch.id, rewards)
            continue
        for part in np.array_split(rng.permutation(rewards.size), 3):
            study.tell(batch.id, rewards[part], positions=part)


@pytest.mark.some(5)
@pytest.mark.parametrize("name", RACES)
def test_study_equals_the_race(name, tmp_path):
    """The study is opened again after every batch, and receives it in pieces."""
    path, rng = tmp_path / "study.db", np.random.default_rng(1)
    expected = play(RACES[name](), REWARDS, 150)
    Study.create(path, RACES[name](), arms=["a", "b", "c", "d"]).close()
    while True:
        with Study.open(path) as study:
            if study.ask() is None or study.policy.pulls.max() >= 150:
                break
            carry_out(study, 1, rng)
    with Study.open(path) as study:
        assert frozen(study.policy.get_state()) == frozen(expected.get_state())
        assert type(study.policy) is type(expected)
        assert study.recommend().best_arms.tolist() == expected.recommend().tolist()
        status, found = study.status(), study.verify()
        assert status.policy == type(expected).__name__ and status.n_lost == 0
        assert found.n_pulls == status.n_pulls == expected.n_pulls
        write_report(study, tmp_path / "report.html")
        history = study.history()
        told = history[history["state"] == "known"]
        assert len(told) == expected.n_pulls
        assert (told["value"] == REWARDS[told["item"] % 300, told["arm"]]).all()
    page = (tmp_path / "report.html").read_text("utf-8")
    assert type(expected).__name__ in page


def test_study_of_race_rejects_lost_and_invalid_results(tmp_path):
    study = Study.create(tmp_path / "study.db", RACES["best"]())
    batch = study.ask()
    rewards = REWARDS[batch.items, batch.arms]
    study.tell(batch.id, rewards[:5], positions=np.arange(5))
    events = study.status().n_events
    for call, words in [
        (lambda: study.close_batch(batch.id), ["batch 0", "must be complete"]),
        (lambda: study.tell(batch.id, [np.nan], positions=[7], missing="drop"), ["complete"]),
        (lambda: study.tell(batch.id, [1.5], positions=[7]), ["1.5", "value_range"]),
        (lambda: study.tell(batch.id, [0.1], positions=[0]), ["already recorded"]),
    ]:
        with pytest.raises(ValueError) as caught:
            call()
        assert_says(caught.value, *words)
        assert study.status().n_events == events
    study.abandon(batch.id, discard=True)
    again = study.ask()
    assert again.id == 1 and np.array_equal(again.items, batch.items)
    carry_out(study)
    assert study.policy.done and study.batch(0).status == "abandoned"
    assert frozen(study.policy.get_state()) == frozen(play(RACES["best"](), REWARDS).get_state())
    history = study.history()
    told = history[history["state"] == "known"]
    assert (told["value"] == REWARDS[told["item"], told["arm"]]).all()
    study.close()


def test_unsupported_races_are_rejected(tmp_path):
    class Mine(pb.BettingRace):
        pass

    ahead = RACES["best"]()
    arms, items = ahead.ask(60)
    ahead.tell(arms[-5:], items[-5:], REWARDS[items[-5:], arms[-5:]])
    for race, error, word in [(MAKERS["told"](), ValueError, "costs"),
                              (Mine(3, 9, value_range=1.0), TypeError, "Mine"),
                              (ahead, ValueError, "in the middle of a block")]:
        with pytest.raises(error, match=word):
            Study.create(tmp_path / "study.db", race)
    assert not list(tmp_path.iterdir())


def test_changed_study_of_race_is_damage(tmp_path):
    path = tmp_path / "study.db"
    with Study.create(path, RACES["best"]()) as study:
        carry_out(study, 5)
    for statement in ("UPDATE state SET body = x'4e' WHERE part = 'rewards'",
                      "DELETE FROM batches WHERE number = 2",
                      "UPDATE log SET body = x'4e' WHERE number = 4"):
        forged = shutil.copy(path, tmp_path / "forged.db")
        with closing(sqlite3.connect(forged)) as db, db:
            db.execute(statement)
        with pytest.raises(StudyDamagedError):
            Study.open(forged).verify()
        (tmp_path / "forged.db").unlink()


def test_commands_work_with_races(tmp_path, capsys):
    from pybandit.cli import main

    path = str(tmp_path / "study.db")
    with Study.create(path, RACES["best"](), arms=["a", "b", "c", "d"]) as study:
        carry_out(study)
    for action in ("status", "verify", "export", "report"):
        more = {"report": ["-o", str(tmp_path / "page.html")],
                "export": [str(tmp_path / "wells.csv")]}.get(action, [])
        assert main(["study", action, "--study", path, *more]) == 0, action
    said = capsys.readouterr().out
    assert "BettingRace" in said and "done" in said
