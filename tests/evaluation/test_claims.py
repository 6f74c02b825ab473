"""Claims: only the process that claimed a cell pays for it, even if silent, unless it dies."""

import collections
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest

import pybandit as pb
from pybandit._shared import alive
from pybandit.evaluation import _store_file
from pybandit.evaluation._store_file import StoreFile
from pybandit.evaluation._store_names import Names

from evaluation.judges import GIVEN, MODELS, SCORES, Judge, N, in_blocks
from evaluation.test_calls import best, state
from evaluation.test_store import opened


def test_cell_has_one_claimant_at_a_time(tmp_path, monkeypatch):
    """A claim holds until its process has stored the score, releases the claim, or is dead."""
    one, two = (opened(tmp_path / "x.db") for _ in range(2))
    cells = [("a", 1), ("a", 2)]
    assert one.claim(cells) == cells == one.claim(cells)
    assert two.claim([("a", 1), ("a", 3)]) == [("a", 3)]
    more = [("a", 4), ("a", 5)]  # the first cells that the other process has not claimed
    assert two.claim([("a", 2), *more, ("a", 6)], 2) == more
    two.release([("a", 4), ("a", 5)])
    one["a", 1] = 0.5
    assert two.claim([("a", 1), ("a", 2)]) == []
    one.release([("a", 2), ("a", 3)])
    assert two.claim([("a", 2)]) == [("a", 2)] and one.claim([("a", 3)]) == []
    two.close()
    assert one.claim([("a", 2), ("a", 3)]) == [("a", 2), ("a", 3)]
    two = opened(tmp_path / "x.db")
    monkeypatch.setattr(_store_file, "SILENT", -1.0)  # now every sign of life counts as too old
    assert two.claim([("a", 2)]) == []
    monkeypatch.setattr(alive, "here", lambda: "elsewhere")
    assert two.claim([("a", 2)]) == [("a", 2)]  # a silent process on another host counts as dead
    monkeypatch.undo()
    assert one.claim([("a", 2)]) == []  # a process on another host gave a recent sign of life
    before = one._row("SELECT max(beat) FROM owners", ())
    monkeypatch.setattr(_store_file, "BEAT", -1.0)
    one.beat()
    assert one._row("SELECT max(beat) FROM owners", ()) > before
    one.close()
    two.close()


def test_reused_process_number_is_not_alive():
    own = alive.started(os.getpid())
    assert own and alive.is_alive(os.getpid(), own) and alive.is_alive(os.getpid(), "")
    assert not alive.is_alive(os.getpid(), own + "1") and not alive.is_alive(2**22 + 7, own)
    child = subprocess.Popen([sys.executable, "-c", "0"])
    began = alive.started(child.pid)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not alive.is_alive(child.pid, began)  # the process has ended, but is still a zombie
    child.wait()


# facts that best_of records about the evaluation
ABOUT = {"kind": "score", "value_range": "(0.0, 1.0)", "version": ""}


def claimed_elsewhere(store):
    """Start a process that claims all cells and then stays silent."""
    child = subprocess.Popen([sys.executable, "-c", f"""
import time
from pybandit.evaluation._store_names import Names
from pybandit.evaluation._store_file import StoreFile
cells = StoreFile({str(store)!r}, Names({MODELS!r}, None, {N}), False, about={ABOUT!r})
cells.claim([(model, item) for model in {MODELS!r} for item in range({N})])
print("claimed", flush=True)
time.sleep(1000)
"""], stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": ":".join(sys.path)})
    assert child.stdout.readline() == "claimed\n"
    return child


def test_silent_process_keeps_its_claims(tmp_path, monkeypatch):
    """A block may be scored for hours; claims of dead processes are free at once."""
    store = tmp_path / "evals.db"
    child = claimed_elsewhere(store)
    monkeypatch.setattr(_store_file, "SILENT", -1.0)
    try:
        with closing(StoreFile(store, Names(MODELS, None, N), False, about=ABOUT)) as other:
            assert other.claim([("0", 1)]) == []
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()
    began = time.monotonic()
    assert state(best(Judge(seconds=0.0).awaited, store=store)) == state(best(in_blocks()))
    assert time.monotonic() - began < 30


def connections_to(store):
    return [name for handle in os.listdir("/proc/self/fd")
            if (name := os.path.realpath(f"/proc/self/fd/{handle}")).startswith(str(store))]


@pytest.mark.parametrize("late", ["score", "raises"])
def test_calls_running_after_ctrl_c_are_not_repeated(tmp_path, late):
    store, calls = tmp_path / "evals.db", collections.Counter()
    lock, interrupted = threading.Lock(), threading.Event()

    def score(model, item):
        with lock:
            calls[model, item] += 1
            n = sum(calls.values())
            if n == 40:
                threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        if 33 <= n <= 40:
            interrupted.wait(10)
            time.sleep(0.1)
            if late == "raises":
                raise ConnectionError
        return float(SCORES[item, int(model)])

    with pytest.raises(KeyboardInterrupt):
        best(score, store=store, concurrency=8)
    running = dict(calls)
    with closing(sqlite3.connect(store)) as db:
        n_kept, n_claims = (db.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
                            for name in ("cells", "claims"))
    assert n_kept + n_claims == len(running) and n_claims
    interrupted.set()
    found = best(score, store=store, concurrency=8)
    assert state(found) == state(best(in_blocks()))
    again = sum(n > 1 for n in calls.values())
    assert again == 0 if late == "score" else 0 < again <= n_claims
    limit = time.monotonic() + 10
    while connections_to(store) and time.monotonic() < limit:
        time.sleep(0.05)
    assert not connections_to(store)
    with closing(sqlite3.connect(store)) as db:
        assert not db.execute("SELECT count(*) FROM claims").fetchone()[0]


def test_two_processes_in_blocks_pay_each_cell_once(tmp_path):
    """Each process keeps its claims while it scores a block."""
    program = f"""
import sys, time
import pybandit as pb
from evaluation.judges import GIVEN, MODELS, SCORES, N
from pybandit.evaluation import _store_file
_store_file.SILENT = 0.5
def score(model, items):
    with open({str(tmp_path / "log")!r}, "a") as file:
        file.writelines(f"{{model}} {{item}}\\n" for item in items)
    time.sleep(float(sys.argv[1]))
    return SCORES[items, int(model)]
pb.best_of(score, MODELS, N, store={str(tmp_path / "evals.db")!r},
           calls=pb.Calls(block_size=40), **GIVEN)
"""
    children = []
    for seconds in ("0.8", "0.01"):
        children.append(subprocess.Popen([sys.executable, "-c", program, seconds],
                                         env=os.environ | {"PYTHONPATH": ":".join(sys.path)}))
        limit = time.monotonic() + 30
        while not (tmp_path / "log").exists() and time.monotonic() < limit:
            time.sleep(0.01)
    assert [child.wait(60) for child in children] == [0, 0]
    calls = collections.Counter((tmp_path / "log").read_text().splitlines())
    assert len(calls) >= pb.best_of(SCORES, calls=pb.Calls(block_size=40), **GIVEN).n_pulls
    assert max(calls.values()) == 1
