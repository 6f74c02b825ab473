"""Tests of web tests whose process is killed while it records counts.

Run as a program, so that its forked processes have one thread and pybandit is imported::

    python tests/webtests/count_kills.py N seed    # N kills; figures as JSON
"""

import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import pybandit as pb
from pybandit.webtests import WebTest

from policies.protocol import frozen

RATES, NAMES = np.array([0.1, 0.12, 0.2, 0.3]), ["home", "price", "video"]
MAKERS = (lambda: pb.CountRace(3, delta=1e-9), lambda: pb.policies.UCB1(3),
          lambda: pb.BettingRace(3, None, delta=1e-9, value_range=(0, 1)))


def day(study, number, n=300):
    """Return the counts of a day, which depend only on the day."""
    trials = study.split(n)
    sums = np.random.default_rng(number).binomial(trials, RATES[:trials.size])
    return {name: (int(t), int(s)) for name, t, s in zip(study.names, trials, sums, strict=True)}


def child(path, pipe):
    """Run in the process that is killed: record each batch twice, and print acknowledgements."""
    with WebTest.open(path) as study:
        while True:
            number = study.status().n_events - 1
            counts = day(study, number, 60)
            study.tell_counts(counts, key=f"day {number}", rng=number)
            os.write(pipe, b".")
            assert study.tell_counts(counts, key=f"day {number}").n_new == 0


def killed_run(path, delay):
    """Kill a child some time after its first line; return the number of acknowledged batches."""
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        try:
            child(path, writing)
        finally:
            os._exit(1)
    os.close(writing)
    heard = os.read(reading, 1)
    time.sleep(delay)
    os.kill(process, signal.SIGKILL)
    with os.fdopen(reading, "rb") as pipe:
        heard += pipe.read()
    assert os.WIFSIGNALED(os.waitpid(process, 0)[1])
    return len(heard)


def kill_many(n_kills, seed):
    """Assert that acknowledged batches are recorded once, and the end is as without kills."""
    rng, acknowledged, recorded = np.random.default_rng(seed), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for part, make in enumerate(MAKERS):
            path = Path(folder, f"{part}.db")
            WebTest.create(path, make(), arms=NAMES).close()
            before = 1
            for _ in range(part, n_kills, len(MAKERS)):
                said = killed_run(path, 0.05 * rng.random())
                with WebTest.open(path) as study:
                    n_events = study.verify().n_events
                assert said <= n_events - before <= said + 1
                before, acknowledged = n_events, acknowledged + said
            recorded += before - 1
            with (WebTest.open(path) as study,
                  WebTest.create(":memory:", make(), arms=NAMES) as twin):
                for number in range(before - 1):
                    twin.tell_counts(day(twin, number, 60), key=f"day {number}", rng=number)
                assert frozen(study.policy.get_state()) == frozen(twin.policy.get_state())
    return {"kills": n_kills, "acknowledged": acknowledged, "recorded": recorded}


if __name__ == "__main__":
    print(json.dumps(kill_many(int(sys.argv[1]), int(sys.argv[2]))))
