"""Forged logs and states of web tests are reported as damage."""

import hashlib
import sqlite3
from contextlib import closing

import numpy as np
import pytest

import pybandit as pb
from pybandit.errors import StudyDamagedError
from pybandit.studies._codec import decode, encode
from pybandit.webtests import WebTest
from pybandit.webtests._recorded_counts import export

from studies.test_odd_rows import put, sign


@pytest.mark.parametrize("changes", [dict(trials=3.0), dict(sums=[1.0]), dict(key=None, sums=None),
                                     dict(trials=np.full(9, 5)), dict(trials=["x", "y", "z"]),
                                     dict(key=["Monday"])])
def test_invalid_counts_are_damage(tmp_path, changes):
    path = str(tmp_path / "pages.db")
    with WebTest.create(path, pb.CountRace(3), arms=["a", "b", "c"]) as study:
        study.tell_counts({"a": (4, 2), "b": (4, 1), "c": (3, 3)}, key="Monday")
    with closing(sqlite3.connect(path)) as db:
        ((body,),) = db.execute("SELECT body FROM log WHERE number = 1")
    put(path, "log", "body", encode({**decode(body), **changes}), "number = 1")
    sign(path)
    with WebTest.open(path) as study, pytest.raises(StudyDamagedError,
                                                  match="is damaged: log") as raised:
        study.counts()
    assert path in str(raised.value)
    with WebTest.open(path) as study, pytest.raises(StudyDamagedError, match="is damaged: log"):
        export(study, lambda text: None)
    with (WebTest.open(path) as study,
          pytest.raises(StudyDamagedError, match="event 1 does not hold counts")):
        study.tell_counts({"a": (1, 1)}, key="Tuesday")


@pytest.mark.parametrize("changes", [
    dict(n=[1]), dict(n=-1), dict(n=True), dict(names="abc"), dict(names=[1]), dict(lengths=None),
    dict(lengths=np.array([1, 2])), dict(lengths=np.array([-1, 4, 0])), dict(waiting=[1]),
    dict(lengths=np.array([1.0, 1.0, 1.0])), dict(waiting=np.full(3, 2, dtype=np.uint8))])
def test_forged_states_of_counts_are_damage(tmp_path, changes):
    path = str(tmp_path / "pages.db")
    with WebTest.create(path, pb.policies.UCB1(3), arms=["a", "b", "c"]) as study:
        study.tell_counts({"a": (9, 2), "b": (1, 1)}, key="Monday", rng=1)
    with closing(sqlite3.connect(path)) as db:
        parts = dict(db.execute("SELECT part, body FROM state"))
    parts["webtest.counts"] = encode({**decode(parts["webtest.counts"]), **changes})
    put(path, "state", "body", parts["webtest.counts"], "part = 'webtest.counts'")
    digests = {part: hashlib.sha256(body).digest() for part, body in sorted(parts.items())}
    put(path, "head", "state", hashlib.sha256(encode(digests)).digest())
    with pytest.raises(StudyDamagedError, match="state: ") as raised:
        WebTest.open(path)
    assert path in str(raised.value) and "digest" not in str(raised.value)
