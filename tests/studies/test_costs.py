"""The cost of a call does not grow with the study, measured in steps of SQLite's machine."""

import contextlib

import pytest

import pybandit as pb
from pybandit._shared import database as _database
from pybandit.studies import Study
from pybandit.webtests import WebTest

ARMS = ["home", "form", "slow"]


@contextlib.contextmanager
def counted(study):
    """Yield a list that receives the number of steps within the block."""
    steps = [0]

    def one():
        steps[0] += 1

    db = getattr(study, "study", study)._store.db
    db.set_progress_handler(one, 1)
    try:
        yield steps
    finally:
        db.set_progress_handler(None, 1)


def told(study, n):
    for _ in range(n):
        study.tell(study.ask().id, [1.0, 2.0, 3.0])


def counts(study, n):
    for _ in range(n):
        study.tell_counts(dict.fromkeys(ARMS, (10, 3)), rng=1, repeated=True)


def amended(study, n):
    told(study, n)
    study.amend(0, [1.0 + n], positions=[0], reason="a slip")


def late(study):
    """Report a late result for a lost well."""
    batch = study.ask()
    study.tell(batch.id, [1.0, 2.0, float("nan")], missing="drop")
    with counted(study) as steps:
        study.tell(batch.id, [3.0], positions=[2])
    return steps[0]


def test_cost_of_late_result_does_not_grow_with_study(tmp_path):
    with Study.create(tmp_path / "study.db",
                      pb.policies.RoundRobin(3, 1, batch_size=3, max_batches=10**6),
                      arms=ARMS) as study:
        short = late(study)
        amended(study, 200)
        assert late(study) <= short + 60


@pytest.mark.parametrize("cls, make, grow, calls", [
    (Study, lambda: pb.policies.RoundRobin(3, 1, batch_size=3, max_batches=10**6), told,
     [Study.status, Study.ask, lambda study: told(study, 1), Study.recommend]),
    (Study, lambda: pb.policies.RoundRobin(3, 1, batch_size=3, max_batches=10**6), amended,
     [Study.status, Study.ask]),
    (WebTest, lambda: pb.CountRace(3), counts,
     [WebTest.status, lambda study: counts(study, 1)]),
], ids=["told", "amended", "counts"])
def test_cost_of_calls_does_not_grow_with_study(
        tmp_path, cls, make, grow, calls, monkeypatch):
    # moving a log of 4 MiB into the file takes 42 steps, whatever the length of the study
    monkeypatch.setattr(_database, "LOG_BYTES", 1 << 40)
    with cls.create(tmp_path / "study.db", make(), arms=ARMS) as study:
        costs = []
        for n in (20, 200):
            grow(study, n)
            for call in calls:
                with counted(study) as steps:
                    call(study)
                costs.append(steps[0])
        short, long = costs[:len(calls)], costs[len(calls):]
        assert min(short) > 0
        # the tree of pages is deeper, and there are two amendments instead of one to count
        assert all(b <= a + 20 for a, b in zip(short, long, strict=True)), costs
