"""Tests of servers that are killed while clients record.

Run as a program::

    python tests/serving/serve_kills.py N seed    # N kills; figures as JSON
"""

import asyncio
import json
import signal
import sys
import tempfile
from pathlib import Path

import numpy as np

import pybandit as pb
from serving.served import Client, Served

from policies.protocol import frozen

N_CLIENTS = 8
GONE = ConnectionError, asyncio.IncompleteReadError


def policy(amends):
    """Return a policy; with amendments a round robin, whose requests do not depend on results."""
    return pb.policies.RoundRobin(40, 3, batch_size=30,
                                  max_batches=25) if amends else pb.policies.BatchSAR(
                                      40, 3, batch_size=30, max_batches=60,
                                      max_repeats=4)


def is_mistaken(batch_id, position):
    """Return True if a well is first reported with a wrong value, in a study with amendments."""
    return (batch_id + position) % 7 == 0


def measured(batch_id, position, arm):
    """Return the result of a well, which depends only on the well."""
    return float(np.random.default_rng([batch_id, position, arm]).normal(arm / 40, 1.0))


async def tell(client, batch_id, position, value, kept):
    """Report the result of a well; if it is mistaken, report a wrong value first and amend it."""
    wrong = kept["amends"] and is_mistaken(batch_id, position)
    told = {"batch_id": batch_id, "results": [value + wrong], "positions": [position]}
    status, done = await client.call("POST", "/tell", told)
    # another client may have corrected it already
    assert status == 200 and done["n_new"] + done["n_known"] == 1 or (wrong and status == 400), done
    if wrong:
        status, done = await client.call("POST", "/amend", told | {"results": [value],
                                                                   "reason": "a slip"})
        assert status == 200 and sum(done.values()) == 1, done
        kept["amended"] += 1
    kept["told"][batch_id, position] = value


async def record(port, rng, kept):
    """Ask and tell until the server is gone or the study is done; return True if it is done."""
    client = await Client.connect(port)
    try:
        while True:
            status, batch = await client.call("POST", "/ask")
            assert status == 200
            if batch["done"]:
                return True
            kept["asked"].add(batch["batch_id"])
            for position in rng.permutation(len(batch["arms"]))[:6].tolist():
                value = measured(batch["batch_id"], position, batch["arms"][position])
                await tell(client, batch["batch_id"], position, value, kept)
    finally:
        client.close()


async def one_life(server, rng, kept, seconds):
    """Start clients, and kill their server some time later; return True if the study is done."""

    async def kill():
        await asyncio.sleep(seconds)
        server.stop(signal.SIGKILL)

    killing = asyncio.create_task(kill())
    results = await asyncio.gather(*(record(server.port, child, kept)
                                     for child in rng.spawn(N_CLIENTS)), return_exceptions=True)
    await killing
    for result in results:
        assert result is True or isinstance(result, GONE), result
    return True in results


def check(path, kept):
    """Assert that everything acknowledged is recorded, and that the file follows from its log."""
    with pb.Study.open(path) as study:
        study.verify()
        assert study.status().n_asked > max(kept["asked"], default=-1)
        batches = {number: study.batch(number).values for number, _ in kept["told"]}
        for (number, position), value in kept["told"].items():
            assert batches[number][position] == value, "an acknowledged result is lost"
        return len(kept["told"])


def straight(amends):
    """Return the policy of a study without kills."""
    one, number = policy(amends), 0
    while not one.done:
        arms = one.ask()
        one.tell(arms, [measured(number, i, arm) for i, arm in enumerate(arms.tolist())])
        number += 1
    return one


def check_end(path, amends):
    """Assert that a study equals one without kills once all mistakes are corrected."""
    with pb.Study.open(path) as study:
        for batch in range(study.status().n_asked if amends else 0):
            arms = [int(name) for name in study.batch(batch).names]
            wells = [at for at in range(len(arms)) if is_mistaken(batch, at)]
            values = [measured(batch, at, arms[at]) for at in wells]
            study.amend(batch, values, positions=wells, reason="what a kill has left")
        assert frozen(study.policy.get_state()) == frozen(straight(amends).get_state())
        study.verify()


def kill_many(n_kills, seed):
    """Return figures of `n` kills; every second study has amendments."""
    rng, kills = np.random.default_rng(seed), 0
    figures = {"studies": 0, "acknowledged": 0, "amended": 0, "to_the_end": 0}
    while kills < n_kills:
        with tempfile.TemporaryDirectory() as folder:
            path, done, amends = Path(folder, "study.db"), False, figures["studies"] % 2 == 0
            kept = {"asked": set(), "told": {}, "amended": 0, "amends": amends}
            pb.Study.create(path, policy(amends)).close()
            figures["studies"] += 1
            while not done and kills < n_kills:
                done = asyncio.run(one_life(Served(path), rng, kept, rng.exponential(0.25)))
                kills += 1
                told = check(path, kept)
            figures["acknowledged"] += told
            figures["amended"] += kept["amended"]
            if done:
                check_end(path, amends)
                figures["to_the_end"] += 1
    return figures | {"kills": kills}


if __name__ == "__main__":
    print(json.dumps(kill_many(*map(int, sys.argv[1:]))))
