"""The log: effects of events, the chain of digests, and changed logs."""

import numpy as np
import pytest

import pybandit as pb
from pybandit.studies import Study
from pybandit.studies._codec import decode, encode
from pybandit.studies._journal import START, BrokenLog, chained, replay

from policies.protocol import frozen
from studies.cases import measured


def rows_of(study):
    """Return the log as stored."""
    return study._store.run(lambda: study._store.events().fetchall(), write=False)


def policy_of(first):
    return pb.policies.RoundRobin.from_state(first["state"])


@pytest.fixture
def rows():
    study = Study.create(":memory:", pb.policies.RoundRobin(4, 1, batch_size=3, max_batches=4),
                         who="me")
    for _ in range(2):
        batch = study.ask()
        study.tell(batch.id, measured(batch.id, batch.arms)[:2], positions=[0, 1])
        study.close_batch(batch.id)
    study.tell(0, [0.25], positions=[2], who="she")
    study.abandon(study.ask().id)
    return rows_of(study)


def chain(rows):
    """Return the events with recomputed digests."""
    before, chained_rows = START, []
    for number, kind, time, who, body, _ in rows:
        before = chained(before, number, kind, time, who, body)
        chained_rows.append((number, kind, time, who, body, before))
    return chained_rows


def test_log_has_all_events(rows):
    assert [row[1] for row in rows] == ["create", *["ask", "tell", "close"] * 2, "tell", "ask",
                                        "abandon"]
    assert [row[0] for row in rows] == list(range(10)) and rows[7][3] == "she"
    found = replay(rows, policy_of)
    assert (found.n_events, found.digest) == (10, rows[-1][5])
    policy = pb.policies.RoundRobin(4, 1, batch_size=3, max_batches=4)
    for number in 0, 1:
        arms = policy.ask()
        policy.tell(arms, [*measured(number, arms)[:2], np.nan], missing="drop")
    policy.add_late([2], [0.25])
    assert frozen(found.progress.policy.get_state()) == frozen(policy.get_state())
    assert [one.status for one in found.batches.values()] == ["closed", "closed", "abandoned"]
    assert found.progress.open is None and found.progress.asked and found.progress.late == []
    assert chain(rows) == rows


def test_digest_depends_on_every_field():
    base = dict(before=START, number=1, kind="ask", time=2.0, who="me", body=b"N")
    others = dict(before=b"\1" * 32, number=2, kind="tell", time=2.5, who="you", body=b"T")
    digests = {chained(**base), *(chained(**{**base, name: other})
                                  for name, other in others.items())}
    assert len(digests) == 7 and len(chained(**base)) == 32


@pytest.mark.parametrize("at", range(10))
def test_error_names_the_changed_event(rows, at):
    for column, other in (1, "tells"), (2, 0.5), (3, "you"), (4, encode({"batch": 9})), (5, START):
        changed = list(rows)
        changed[at] = (*rows[at][:column], other, *rows[at][column + 1:])
        with pytest.raises(BrokenLog, match=f"event {at} "):
            replay(changed, policy_of)
    for n_missing in range(1, 10 - at):
        with pytest.raises(BrokenLog, match=f"event {at} is missing"):
            replay(rows[:at] + rows[at + n_missing:], policy_of)
    assert replay(rows[:at + 1], policy_of).digest == rows[at][5]


def test_impossible_events_are_rejected(rows):
    """The digests are right, but arms are foreign, wells do not exist, or a batch is repeated."""
    def broken(at, kind, **body):
        changed = list(rows)
        changed[at] = (at, kind, 0.0, "", encode({**decode(rows[at][4]), **body}), b"")
        with pytest.raises(BrokenLog, match=f"event {at}, {kind}, cannot be repeated"):
            replay(chain(changed), policy_of)

    broken(1, "ask", arms=np.array([0, 1, 3]))
    broken(4, "ask", batch=3)
    broken(2, "tell", positions=np.array([0, 7]))
    broken(2, "tell", batch=5)
    broken(2, "told")
    with pytest.raises(BrokenLog, match="event 0 is missing"):
        replay([], policy_of)
