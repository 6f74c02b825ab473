"""Files written by format 1 can be opened, have the same content, and can be continued."""

import gzip

import pytest

import pybandit as pb
from pybandit.serving._study import open_any

from policies.protocol import frozen
from studies import formats

KINDS = [kind for kind in formats.MAKERS if kind != "scores"]


@pytest.fixture
def written(tmp_path):
    """Return the path of a file as it was first written."""
    def unpacked(kind):
        path = tmp_path / f"{kind}.db"
        path.write_bytes(gzip.decompress((formats.DATA / f"{kind}_1.db.gz").read_bytes()))
        return path

    return unpacked


@pytest.mark.parametrize("kind", KINDS)
def test_file_of_format_1_equals_new_file(kind, written, tmp_path):
    formats.MAKERS[kind](tmp_path / "today.db")
    with open_any(written(kind)) as then, open_any(tmp_path / "today.db") as today:
        assert type(then) is type(today)
        then.verify(then.status().head)
        assert frozen(then.policy.get_state()) == frozen(today.policy.get_state())
        assert then.names == today.names and then.settings == today.settings
        bodies = [[frozen(event.body) for event in one.log() if event.kind != "create"]
                  for one in (then, today)]
        # each batch of counts records a new seed
        assert len(bodies[0]) == len(bodies[1]) and (kind == "webtest" or bodies[0] == bodies[1])
        assert [event.who for event in then.log()] == ["Ann"] * then.status().n_events


def test_files_of_format_1_continue(written):
    with pb.Study.open(written("study")) as study:
        batch = study.ask()
        rest = range(2, batch.arms.size)
        assert batch.id == 1 and study.tell(1, [0.5] * len(rest), positions=rest).complete
    with pb.lab.Screen.open(written("screen")) as screen:
        assert screen.readings()[0].values[1] == 110.0 and screen.ask().id == 1
    with pb.webtests.WebTest.open(written("webtest")) as test:
        assert test.tell_counts({"tea": (10, 1), "water": (5, 1)}, key="2025-03-04").n_new == 2
        assert [one.reason for one in test.amendments()] == ["robots"]


def test_store_of_format_1_repeats_no_call(written, tmp_path):
    asked = []

    def score(model, items):
        asked.extend(items)
        return formats.score(model, items)

    expected = formats.scores(tmp_path / "today.db")
    found = formats.scores(written("scores"), score)
    assert not asked and found.best == expected.best
    assert found.n_pulls == expected.n_pulls
