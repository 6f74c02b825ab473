"""Counts over HTTP: recorded, corrected and rejected as in Python."""

import pytest

import pybandit as pb
from serving.served import READ, call, serving

MONDAY = {"home": [1012, 41], "price": [994, 48]}


@pytest.fixture
def path(tmp_path):
    pb.webtests.WebTest.create(tmp_path / "study.db", pb.CountRace(2), ["home", "price"]).close()
    return tmp_path / "study.db"


def test_counts_are_recorded_and_corrected(path):
    with serving(path) as server:
        def post(name, **body):
            return call(server.port, "POST", f"/{name}", body)

        assert post("tell_counts", counts=MONDAY, key="monday") == (
            200, {"n_new": 2, "n_known": 0, "complete": True, "warnings": []})
        assert post("tell_counts", counts=MONDAY, key="monday")[1]["n_known"] == 2
        status, said = post("tell_counts", counts=MONDAY, key="tuesday")
        assert status == 400 and "recorded once" in said["error"]
        assert post("amend_counts", key="monday", counts={"home": [1010, 39]},
                    reason="robots") == (200, {"n_amended": 1, "n_known": 0})
        status, said = post("tell_counts", counts={"home": [3000, 120], "price": [1900, 99]},
                            key="tuesday", cumulative=True)
        assert status == 200 and "not split by the shares" in said["warnings"][0]
        for body, words in [(dict(counts=MONDAY, key="a", cumulative=1), "cumulative"),
                            (dict(counts={"hom": [9, 1]}), "'hom'"),
                            (dict(counts=[9, 1]), "counts must be a dict"),
                            (dict(counts={"home": [9]}), "(trials, sum"),
                            (dict(counts=MONDAY, key=3), "key must be text"),
                            (dict(counts=MONDAY, other=3), "fields must be")]:
            status, said = post("tell_counts", **body)
            assert status == 400 and words in said["error"]
        status, said = post("amend", batch_id=0, results=[1.0], positions=[0], reason="x")
        assert status == 400 and "amend_counts" in said["error"]
        status, said = call(server.port, "GET", "/status", token=READ)
        assert said["n_amendments"] == 1 and said["split"]["mismatch"] is True
        assert said["split"]["trials"] == [3000, 1900]
        assert call(server.port, "POST", "/amend_counts", dict(
            key="monday", counts=MONDAY, reason="x"), token=READ)[0] == 403
    with pb.webtests.WebTest.open(path) as study:
        assert study.verify().n_batches == 2 and study.policy.pulls.tolist() == [3000, 1900]
        assert study.counts()["trials"].tolist() == [1010, 994, 1990, 906]
