"""Malformed requests get a 4xx and change nothing: ten thousand in the slow test."""

import collections

import numpy as np
import pytest

import pybandit as pb
from serving.malformed import generated, readable
from serving.served import call, exchange, serving


def check_malformed(tmp_path, n, seed):
    """Send malformed requests; return the number of each status."""
    path = tmp_path / "study.db"
    with pb.Study.create(path, pb.policies.BatchSAR(30, 3, batch_size=20, max_batches=8,
                                                    max_repeats=4)) as study:
        # all wells of a batch except the last one are known
        study.tell(study.ask().id, np.full(19, 0.25), positions=np.arange(19))
        head = study.status().head
    statuses = collections.Counter()
    with serving(path) as server:
        for data, is_wrong in generated(n, seed):
            status, headers, body = exchange(server.port, data)
            assert status < 500, (readable(data), body)
            assert not is_wrong or 400 <= status, (readable(data), body)
            assert "server" not in headers and b"Traceback" not in body
            statuses[status] += 1
            if sum(statuses.values()) % 500 == 0:
                assert call(server.port, "GET", "/status")[1]["head"] == head
        assert call(server.port, "GET", "/status")[1]["head"] == head
        # and valid requests are still accepted
        assert call(server.port, "POST", "/tell", {
            "batch_id": 0, "results": [0.25], "positions": [19]}) == (
                200, {"n_new": 1, "n_known": 0, "complete": True})
    with pb.Study.open(path) as study:
        assert study.verify().n_pulls == 20
    return statuses


def test_malformed_requests_change_nothing(tmp_path):
    statuses = check_malformed(tmp_path, 600, 1)
    assert {400, 401, 403, 404, 405, 411, 413, 414, 415, 417, 421, 431} <= statuses.keys()


@pytest.mark.slow
def test_ten_thousand_malformed_requests_change_nothing(tmp_path):
    statuses = check_malformed(tmp_path, 10_000, 2)
    print(dict(statuses))
    assert statuses[400] > 3000
