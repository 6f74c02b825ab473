"""Speed of studies, compared with the same bytes in bare SQLite transactions and in synced files.

Run with ``make bench``. Files are in pytest's temporary folder. Times are wall-clock times,
because processor time does not include the disk. Targets: ask and tell of a plate of 384 wells
over 12,979 arms in 25 ms, over 10^6 arms in 5 ms, in memory in 0.3 ms; opening a study of 10^6
pulls in 1 s; importing 10^5 results in 2 s.
"""

import os
import shutil
import sqlite3
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

import pybandit as pb
from pybandit.studies._codec import encode

from native import record, size

N_GENES, K, WELLS, PLATES = 12_979, 100, 384, 800
N_BATCHES, N_RESULTS = size((100, 100_000), (2, 1000))


@pytest.fixture
def walled(benchmark):
    """Return minimum and median wall-clock time of `rounds` calls, as `timed` does."""

    def run(group, role, function, rounds):
        times = []
        benchmark.pedantic(function, rounds=1)
        if not benchmark.enabled:
            return
        for _ in range(rounds):
            begun = time.perf_counter()
            function()
            times.append(time.perf_counter() - begun)
        print(f"\n{group}: {role}: least {min(times) * 1e3:.3f} ms, "
              f"median {np.median(times) * 1e3:.3f} ms")
        record(group, role, float(np.median(times)))

    return run


def screen():
    return pb.policies.BatchSAR(N_GENES, K, batch_size=WELLS, max_batches=PLATES)


def changed_bytes():
    """Return the bytes that an ask and a tell write: two events, a batch twice, the state."""
    policy, rewards = screen(), np.random.default_rng(3).normal(size=WELLS)
    arms = policy.ask()
    policy.tell(arms, rewards)
    state = policy.get_state()
    of_state = b"".join(encode(state[part]) for part in ("pulls", "sums", "deviations", "progress"))
    plate = encode([arms, rewards, np.zeros(WELLS, dtype=np.uint8)])
    return 2 * plate, 2 * plate + of_state


def bare_transactions(path):
    """Write the same bytes in two durable transactions."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("CREATE TABLE bytes (one INTEGER PRIMARY KEY, body BLOB)")
    contents = changed_bytes()

    def run():
        for content in contents:
            db.execute("BEGIN IMMEDIATE")
            db.execute("INSERT OR REPLACE INTO bytes VALUES (?, ?)", (len(content), content))
            db.execute("COMMIT")

    return run


def bare_sync(path):
    """Write and sync the same bytes twice."""
    contents, file = changed_bytes(), os.open(path, os.O_CREAT | os.O_RDWR)

    def run():
        os.lseek(file, 0, os.SEEK_SET)
        for content in contents:
            os.write(file, content)
            os.fsync(file)

    return run


def plates(study):
    rewards = np.random.default_rng(3).normal(size=(97, WELLS))

    def run():
        batch = study.ask()
        study.tell(batch.id, rewards[batch.id % 97])

    return run


@pytest.mark.parametrize("role", ["fsync", "bare SQLite", "study"])
def test_a_plate(walled, tmp_path, role):
    path = str(tmp_path / "study.db")
    run = {"fsync": bare_sync, "bare SQLite": bare_transactions,
           "study": lambda path: plates(pb.Study.create(path, screen()))}[role](path)
    walled("ask and tell a plate, on the disk", role, run, 60)


def bare_events(path):
    """Append events of the size of those of an ask and a tell in two durable transactions."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("CREATE TABLE log (number INTEGER PRIMARY KEY, body BLOB)")
    contents = bytes(8 * WELLS), bytes(16 * WELLS)

    def run():
        for content in contents:
            db.execute("BEGIN IMMEDIATE")
            db.execute("INSERT INTO log (body) VALUES (?)", (content,))
            db.execute("COMMIT")

    return run


@pytest.mark.parametrize("place", ["on the disk", "in /dev/shm"])
def test_a_plate_of_many_arms(benchmark, tmp_path, place):
    """Time plates over 10^6 arms, whose state of 40 MB is stored every few hundred plates.

    Both write in turn, because syncs of one disk take .3 to 8 ms at different times. A file system
    in memory shows the time without them.
    """
    n_arms, n_plates = size(1_000_000, 20_000), size(500, 10)
    folder = tmp_path
    if place != "on the disk":
        if not os.path.isdir("/dev/shm"):
            pytest.skip("no /dev/shm")
        folder = Path(tempfile.mkdtemp(dir="/dev/shm"))
    study = pb.Study.create(str(folder / "study.db"), pb.policies.RoundRobin(
        n_arms, K, batch_size=WELLS, max_batches=10_000))
    roles = {"bare SQLite": bare_events(folder / "bare.db"), "study": plates(study)}
    seconds = dict.fromkeys(roles, 0.0)

    def in_turn():
        for _ in range(n_plates):
            for role, run in roles.items():
                begun = time.perf_counter()
                run()
                seconds[role] += time.perf_counter() - begun

    try:
        benchmark.pedantic(in_turn, rounds=1)
    finally:
        study.close()
        if folder != tmp_path:
            shutil.rmtree(folder)
    if benchmark.enabled:
        for role, total in seconds.items():
            record(f"a plate of {n_plates} over {n_arms:,} arms, {place}", role, total / n_plates)


@pytest.mark.parametrize("role", ["policy", "study"])
def test_a_plate_in_memory(walled, role):
    policy, rewards = screen(), np.random.default_rng(3).normal(size=(97, WELLS))

    def bare():
        policy.tell(policy.ask(), rewards[policy.n_batches % 97])

    run = bare if role == "policy" else plates(pb.Study.create(":memory:", screen()))
    walled("ask and tell a plate, in memory", role, run, 300)


@pytest.mark.parametrize("role", ["read the file", "open"])
def test_open_a_million_pulls(walled, tmp_path, role):
    path = str(tmp_path / "study.db")
    with pb.Study.create(path, pb.policies.RoundRobin(N_GENES, K, batch_size=10_000,
                                                      max_batches=200)) as study:
        for number in range(N_BATCHES):
            study.tell(study.ask().id, np.random.default_rng(number).normal(size=10_000))

    def read():
        with open(path, "rb") as file:
            file.read()

    def opened():
        with pb.Study.open(path) as study:
            assert study.status().n_pulls == N_BATCHES * 10_000

    walled("open a study of 10^6 pulls", role, read if role == "read the file" else opened, 10)


@pytest.mark.parametrize("role", ["bare SQLite", "study"])
def test_import_results(walled, tmp_path, role):
    """Import 10^5 results of one batch."""
    n, rewards = N_RESULTS, np.random.default_rng(3).normal(size=N_RESULTS)
    counter = iter(range(1000))

    def bare():
        db = sqlite3.connect(tmp_path / f"{next(counter)}.db")
        with db:
            db.execute("CREATE TABLE results (position INTEGER PRIMARY KEY, value REAL)")
            db.executemany("INSERT INTO results VALUES (?, ?)", enumerate(rewards.tolist()))
        db.close()

    def told():
        path = str(tmp_path / f"{next(counter)}.db")
        with pb.Study.create(path, pb.policies.RoundRobin(N_GENES, K, batch_size=n,
                                                          max_batches=2)) as study:
            study.tell(study.ask().id, rewards)

    walled("import 10^5 results", role, bare if role == "bare SQLite" else told, 3)
