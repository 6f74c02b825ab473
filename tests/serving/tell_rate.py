"""Rate of tell requests of many concurrent clients, each on the disk before it is answered.

Run as a program::

    python tests/serving/tell_rate.py SECONDS CLIENTS    # figures as JSON
"""

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import pybandit as pb

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a program

from serving.served import Client, serving  # noqa: E402


async def one_client(port, wells, times, until):
    client = await Client.connect(port)
    while wells and time.perf_counter() < until:
        batch_id, position, value = wells.pop()
        began = time.perf_counter()
        status, done = await client.call("POST", "/tell", {
            "batch_id": batch_id, "results": [value], "positions": [position]})
        times.append(time.perf_counter() - began)
        assert (status, done["n_new"]) == (200, 1), done
    client.close()


async def tells(port, seconds, n_clients):
    """Return the duration of each tell in seconds."""
    asking, times = await Client.connect(port), []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        _, batch = await asking.call("POST", "/ask")
        wells = [(batch["batch_id"], i, 0.001 * arm) for i, arm in enumerate(batch["arms"])]
        await asyncio.gather(*(one_client(port, wells, times, until) for _ in range(n_clients)))
    asking.close()
    return times


def measure(seconds, n_clients):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "study.db")
        # one batch is large enough for most tells, so that clients do not wait for its end
        pb.Study.create(path, pb.policies.BatchSAR(2000, 20, batch_size=2000, max_batches=100,
                                                   max_repeats=4)).close()
        with serving(path) as server:
            began = time.perf_counter()
            times = asyncio.run(tells(server.port, seconds, n_clients))
            passed = time.perf_counter() - began
        with pb.Study.open(path) as study:
            kept = sum(event.kind == "tell" for event in study.log())
            study.verify()
    assert kept == len(times)
    return {"tells": kept, "a_second": round(kept / passed),
            "milliseconds": np.round(1e3 * np.quantile(times, [0.5, 0.99]), 1).tolist()}


if __name__ == "__main__":
    print(json.dumps(measure(float(sys.argv[1]), int(sys.argv[2]))))
