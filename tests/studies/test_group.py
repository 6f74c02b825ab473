"""Calls in one transaction have the effects of separate calls, with one sync of the disk."""

import sqlite3
import threading
from dataclasses import astuple

import numpy as np
import pytest

import pybandit as pb
from pybandit.studies._group import together

from policies.protocol import frozen
from studies.cases import POLICIES, measured


def tells(study, batch, parts):
    """Return one call of tell per well."""
    return [lambda at=at: study.tell(batch.id, measured(batch.id, batch.arms)[at], positions=at)
            for at in parts]


@pytest.mark.parametrize("name", ["batch sar", "ucb1", "shadavar", "thompson"])
@pytest.mark.parametrize("path", ["study.db", ":memory:"])
def test_together_equals_separate_calls(name, path, tmp_path):
    path = path if path == ":memory:" else tmp_path / path
    study, twin = (pb.Study.create(one, POLICIES[name]()) for one in (path, ":memory:"))
    for _ in range(8):
        batch = study.ask()
        twin.ask()
        parts = np.array_split(np.arange(batch.arms.size), min(4, batch.arms.size))
        # the last but one ends the batch, the last one asks
        done = together(study, [*tells(study, batch, parts), study.ask])
        expected = [call() for call in tells(twin, batch, parts)]
        assert done[:-1] == expected and done[-1].id == batch.id + 1
        assert study.status().n_events == twin.status().n_events + 1
    twin.ask()  # some policies draw random numbers
    assert frozen(study.policy.get_state()) == frozen(twin.policy.get_state())
    study.verify()
    study.close()


def test_rejected_call_does_not_affect_others(tmp_path):
    with pb.Study.create(tmp_path / "study.db",
                         pb.policies.RoundRobin(4, 1, batch_size=4, max_batches=3)) as study:
        batch = study.ask()
        before = study.status().n_events
        done = together(study, [
            lambda: study.tell(0, [1.0], positions=[0]),
            lambda: study.tell(0, [2.0], positions=[0]),
            lambda: study.tell(9, [2.0], positions=[0]),
            lambda: study.tell(0, [1.0, 3.0], positions=[0, 2]),
            lambda: study.abandon(0),
            lambda: study.tell(0, [4.0], positions=[3])])
        assert [astuple(one) for one in done if not isinstance(one, Exception)] == [
            (1, 0, False), (1, 1, False), (1, 0, False)]
        assert "where 1.0 is recorded" in str(done[1]) and "got 9" in str(done[2])
        assert "batch 0 has 2: pass discard" in str(done[4])
        assert study.status().n_events == before + 3
        with pb.Study.open(study.path) as other:
            assert other.batch(0).states.tolist() == ["known", "open", "known", "known"]
            other.verify()
        # the last one is rejected, and memory still equals the file
        together(study, [lambda: study.tell(0, [1.5], positions=[1]), study.ask,
                         lambda: study.tell(0, [9.0], positions=[1])])
        assert study.ask().id == 1 == batch.id + 1
        study.verify()


def test_together_uses_one_transaction(tmp_path, monkeypatch):
    with pb.Study.create(tmp_path / "study.db",
                         pb.policies.RoundRobin(40, 1, batch_size=40, max_batches=3)) as study:
        batch = study.ask()
        statements = []
        study._store.db.set_trace_callback(statements.append)
        together(study, tells(study, batch, np.arange(40).reshape(40, 1)))
        assert [one for one in statements if one in ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")] == [
            "BEGIN IMMEDIATE", "COMMIT"]
        # and the policy's state is written once, when it has received the batch
        assert sum("INTO state" in one for one in statements) < 10
        study._store.db.set_trace_callback(None)
        assert study.status().n_batches == 1


def test_failure_after_a_change_repeats_calls_separately(tmp_path, monkeypatch):
    """A full disk in the middle: everything is rolled back, and each call is made again."""
    with pb.Study.create(tmp_path / "study.db",
                         pb.policies.RoundRobin(4, 1, batch_size=4, max_batches=3)) as study:
        batch = study.ask()
        append, n = study._store.append, []

        def failing(event, *rest):
            n.append(event.body["positions"].tolist())
            if n[-1] == [1]:
                raise sqlite3.OperationalError("disk I/O error")
            return append(event, *rest)

        monkeypatch.setattr(study._store, "append", failing)
        done = together(study, tells(study, batch, [[0], [1], [2]]))
        assert n == [[0], [1], [0], [1], [2]]
        assert astuple(done[0]) == astuple(done[2]) == (1, 0, False)
        assert isinstance(done[1], pb.errors.StudyError)
        assert study.batch(0).states.tolist() == ["known", "open", "known", "open"]
        monkeypatch.undo()
        assert study.tell(0, measured(0, batch.arms)[[1]], positions=[1]).n_new == 1
        study.verify()


def test_failed_commit_leaves_ledger_unchanged(tmp_path):
    """Memory keeps nothing of it, even if the last call was rejected."""
    with pb.Study.create(tmp_path / "study.db",
                         pb.policies.RoundRobin(4, 1, batch_size=4, max_batches=3)) as study:
        study.ask()
        head, run = study.status().head, study._store.run

        def failing(work, write=True):
            def both():
                result = work()
                raise sqlite3.OperationalError("database or disk is full", result)
            return run(both if write else work, write)

        study._store.run = failing
        done = together(study, [lambda: study.tell(0, [1.0], positions=[0]),
                                lambda: study.tell(0, [2.0], positions=[0])])
        assert all(isinstance(one, pb.errors.StudyError) for one in done)
        study._store.run = run
        assert study.status().head == head and study.status().n_open == 4
        assert study.tell(0, [2.0], positions=[0]).n_new == 1
        study.verify()


def test_other_threads_wait_for_the_transaction(tmp_path):
    with pb.Study.create(tmp_path / "study.db",
                         pb.policies.RoundRobin(40, 1, batch_size=40, max_batches=50)) as study:
        def work(part):
            for _ in range(10):
                batch = study.ask()
                together(study, tells(study, batch, [[i] for i in range(part, 40, 2)]))

        threads = [threading.Thread(target=work, args=(part,)) for part in (0, 1)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert study.verify().n_batches >= 1
        first = study.batch(0)
        assert first.values.tolist() == measured(0, np.arange(40)).tolist()
