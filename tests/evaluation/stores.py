"""Evaluations that are killed, or that two processes share, with a local server of scores.

Run as a program::

    python tests/evaluation/stores.py kill N seed   # at least N kills; prints JSON
    python tests/evaluation/stores.py share seed    # two processes at once
"""

import asyncio
import contextlib
import json
import multiprocessing
import os
import signal
import sqlite3
import sys
import tempfile
import time

import numpy as np

import pybandit as pb

N, K = 900, 8


def table(seed):
    return np.round(np.random.default_rng(seed).random((N, K)) * np.linspace(0.75, 0.9, K), 6)


def serve(seed, log, port_of, seconds, together):
    """Serve scores: each line (caller, model and item) is answered after a random time.

    Calls are recorded in `log`. No call is answered before `together` callers have called.
    """
    scores, rng = table(seed), np.random.default_rng(seed)
    callers, all_there = set(), asyncio.Event()

    async def answer(reader, writer):
        with contextlib.suppress(ConnectionError):  # a caller was killed
            while line := await reader.readline():
                who, model, item = map(int, line.split())
                os.write(log, b"%d %d %d\n" % (who, model, item))
                callers.add(who)
                if len(callers) >= together:
                    all_there.set()
                await all_there.wait()
                await asyncio.sleep(seconds * rng.lognormal())
                writer.write(b"%.6f\n" % scores[item, model])
        writer.close()

    async def main():
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port_of.send(server.sockets[0].getsockname()[1])
        async with server:
            await server.serve_forever()

    asyncio.run(main())


def evaluate(port, store, who, ended=None):
    """Run best_of with scores from the server; send the result to `ended`."""
    idle = []

    async def score(name, item):
        model = int(name)
        # one question at a time per connection
        reader, writer = idle.pop() if idle else await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"%d %d %d\n" % (who, model, item))
        value = float(await reader.readline())
        idle.append((reader, writer))
        return value

    result = pb.best_of(score, list(map(str, range(K))), N, value_range=(0, 1), rng=5,
                        store=store, calls=pb.Calls(concurrency=64), progress=False)
    if ended is not None:
        ended.send(summary(result))
    return result


def summary(result):
    return [part.tolist() for part in (result.best_arms, result.pulls, result.means, result.items)]


def kept(store):
    if not os.path.exists(store):
        return set()
    with contextlib.closing(sqlite3.connect(store)) as db:
        try:
            return {(int(model), int(item))
                    for model, item in db.execute("SELECT arm, item FROM cells")}
        except sqlite3.OperationalError:  # the table does not exist yet
            return set()


class Server:
    """A server process, and the calls that it received."""

    def __init__(self, folder, seed, seconds, together=1):
        self.seed, self.log = seed, os.path.join(folder, "calls")
        handle = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        here, there = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=serve,
                                               args=(seed, handle, there, seconds, together))
        self.process.start()
        self.port = here.recv()

    def calls(self):
        with open(self.log) as lines:
            return [tuple(map(int, line.split())) for line in lines]

    def stop(self):
        self.process.terminate()
        self.process.join()


def kill(n, seed):
    """Kill evaluations, one after the other, at least n times.

    Scores in the store must not be requested again.
    """
    rng, figures = np.random.default_rng(seed), dict(kills=0, runs=0, repeated=0, out_at_kills=0,
                                                     calls=0, timed=0, seconds=0.0)
    while figures["kills"] < n:
        with tempfile.TemporaryDirectory() as folder:
            server = Server(folder, seed + figures["runs"], 0.002)
            try:
                one_evaluation(server, os.path.join(folder, "evals.db"), rng, n, figures)
            finally:
                server.stop()
    figures["calls_a_second"] = round(figures.pop("timed") / figures.pop("seconds"))
    return figures


def one_evaluation(server, store, rng, n, figures):
    found, n_seen = None, 0
    while found is None:
        before, seconds = kept(store), 0.0
        here, there = multiprocessing.Pipe()
        child = multiprocessing.Process(target=evaluate, args=(server.port, store, 0, there))
        child.start()
        if figures["kills"] < n:
            size, is_early = os.path.getsize(server.log), rng.random() < 0.1
            while not is_early and child.is_alive() and size == os.path.getsize(server.log):
                time.sleep(0.001)  # wait for its first call, except for one evaluation in ten
            began = time.perf_counter()
            time.sleep(float(rng.exponential(0.15)))
            if child.is_alive() and not here.poll():
                os.kill(child.pid, signal.SIGKILL)
                figures["kills"] += 1
                seconds = time.perf_counter() - began
        elif here.poll(120):
            found = here.recv()
        child.join()
        if found is None and here.poll():
            found = here.recv()
        calls = [call[1:] for call in server.calls()]
        figures["timed"] += (len(calls) - n_seen) * (seconds > 0)
        figures["seconds"] += seconds
        new, n_seen = set(calls[n_seen:]), len(calls)
        assert not new & before, "stored scores were requested again"
        figures["out_at_kills"] += len(new - kept(store))
    figures["runs"] += 1
    figures["calls"] += len(calls)
    figures["repeated"] += len(calls) - len(set(calls))
    alone = pb.best_of(table(server.seed), value_range=(0, 1), rng=5, progress=False)
    assert found == summary(alone), "the result differs from that of an uninterrupted run"


def share(seed):
    """Run two evaluations at the same time on one new file."""
    with tempfile.TemporaryDirectory() as folder:
        server, store = Server(folder, seed, 0.01, 2), os.path.join(folder, "evals.db")
        try:
            pipes = [multiprocessing.Pipe() for _ in range(2)]
            children = [multiprocessing.Process(target=evaluate,
                                                args=(server.port, store, who, there))
                        for who, (_, there) in enumerate(pipes)]
            for child in children:
                child.start()
            found = [here.recv() for here, _ in pipes]
            for child in children:
                child.join()
            calls = server.calls()
        finally:
            server.stop()
        alone = pb.best_of(table(seed), value_range=(0, 1), rng=5, progress=False)
        assert found == [summary(alone)] * 2
        return dict(calls=len(calls), cells=len({call[1:] for call in calls}),
                    by=[sum(who == one for who, *_ in calls) for one in range(2)])


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    print(json.dumps(globals()[sys.argv[1]](*map(int, sys.argv[2:]))))
