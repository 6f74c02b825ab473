"""Ctrl-C in every call of a study: the event is recorded or not, and the study continues."""

import os
import threading
import time

import numpy as np
import pytest

import pybandit as pb
from pybandit.studies import Study

from betting.interrupts import alarms, interruption
from policies.protocol import frozen
from studies.cases import measured

MOMENTS = [12, pytest.param(int(os.environ.get("PYBANDIT_MOMENTS", 1000)),
                            marks=pytest.mark.slow)]


def acts():
    """Yield actions on a study, event by event, without end."""
    yield "ask", lambda study: study.ask()
    for batch in range(10**6):
        values = measured(batch, np.zeros(8))
        yield "tell", lambda study, b=batch, v=values: study.tell(b, v[:3], positions=range(3))
        # in an open batch; sometimes in one that is over, which replays the policy
        yield "amend", lambda study, b=batch, v=values: study.amend(
            b, 1.0 - v[:1], positions=[0], reason="typo")
        yield "amend", lambda study, b=batch, v=values: study.amend(
            b, v[:1], positions=[0], reason="it was right")
        if batch % 30 == 10:  # batch - 2 received all its results
            yield "amend", lambda study, b=batch, v=values: study.amend(
                b - 2, 1.0 - measured(b - 2, np.zeros(1)), positions=[0], reason="typo")
        if batch % 3 == 0:
            yield "abandon", lambda study, b=batch: study.abandon(b, discard=True)
        elif batch % 3 == 1:
            yield "close_batch", lambda study, b=batch: study.close_batch(b)
            yield "tell", lambda study, b=batch, v=values: study.tell(b, v[3:5], positions=[3, 4])
        else:
            yield "tell", lambda study, b=batch, v=values: study.tell(b, v)
        yield "ask", lambda study: study.ask()


def looked(study):
    """Return all records without times and digests."""
    status = study.status()
    return (status.n_events, status.open_batch, status.n_late,
            frozen(study.policy.get_state()), frozen(study.recommend().best_arms))


def is_free(study):
    """Return True if another thread or process can record immediately."""
    other, done = Study.open(study.path), []
    thread = threading.Thread(target=lambda: done.append(looked(study)))
    thread.start()
    thread.join(20.0)
    other._write(lambda progress: None)
    other.close()
    return not thread.is_alive() and bool(done)


def made(path):
    return Study.create(path, pb.policies.BatchSAR(40, 3, batch_size=8, max_batches=10**4,
                                                   max_repeats=2), overwrite=True)


@pytest.mark.parametrize("moments", MOMENTS)
@pytest.mark.parametrize("kind", ["ask", "tell", "close_batch", "abandon", "amend"])
def test_interrupted_changes_are_recorded_or_not(kind, moments, tmp_path):
    """The traceback is kept until the next one, as in an interactive session."""
    rng, n_came, n_kept = np.random.default_rng(moments), 0, 0
    study, twin = made(tmp_path / "study.db"), made(":memory:")
    length, error = 1e-3, None
    for name, act in acts():
        before = looked(twin)
        act(twin)
        if name != kind:
            act(study)
            continue
        assert looked(study) == before
        start, stop = time.perf_counter(), 1e-6 + 1.1 * length * rng.random()
        error = interruption(stop, act, study)
        if error is None:
            length = time.perf_counter() - start
        n_came += error is not None
        found = looked(study)
        assert found in (before, looked(twin)) and (error is not None or found != before)
        if error is not None and n_came % 10 == 0:
            assert is_free(study)
        if found == before:
            n_kept += 1
            act(study)
        if n_came == moments:
            break
    assert looked(study) == looked(twin) and n_kept
    study.verify()
    study.close()


def written(study):
    batch = study.ask()
    study.tell(batch.id, measured(batch.id, batch.arms))


CALLS = {
    "verify": lambda study: study.verify(), "history": lambda study: study.history(),
    "open": lambda study: Study.open(study.path).close(),
    "policy": lambda study: study.policy,
}


@pytest.mark.parametrize("moments", MOMENTS)
@pytest.mark.parametrize("name", CALLS)
def test_interrupted_reads_change_nothing(name, moments, tmp_path):
    study, rng, n_came = made(tmp_path / "study.db"), np.random.default_rng(moments), 0
    for _ in range(5):
        written(study)
    before, times = looked(study), []
    for _ in range(4):  # the first may import what it needs
        start = time.perf_counter()
        CALLS[name](study)
        times.append(time.perf_counter() - start)
    length = min(times)
    while n_came < moments:
        error = interruption(1e-6 + 1.1 * length * rng.random(), CALLS[name], study)
        n_came += error is not None
        assert looked(study) == before
        if error is not None and n_came % 20 == 0:
            assert is_free(study)
            written(study)
            before = looked(study)
    study.close()


@pytest.mark.parametrize("moments", MOMENTS)
def test_interrupted_create_leaves_a_study_or_drafts(moments, tmp_path):
    """There is a complete study, or only drafts."""
    rng, path, n_came = np.random.default_rng(moments), tmp_path / "study.db", 0

    def create():
        Study.create(path, pb.policies.Uniform(3, budget=30)).close()

    start = time.perf_counter()
    create()
    length = time.perf_counter() - start
    while n_came < moments:
        for left in tmp_path.iterdir():
            left.unlink()
        error = interruption(1e-6 + 1.1 * length * rng.random(), create)
        n_came += error is not None
        if not path.exists():
            create()
        with Study.open(path) as study:
            assert study.verify().n_events == 1


@pytest.fixture(autouse=True)
def _alarms():
    with alarms():
        yield
