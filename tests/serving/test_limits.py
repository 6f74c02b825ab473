"""Limits of requests: size by kind, total memory, and short waits of the event loop."""

import asyncio
import json
import math
import os
import sys
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pybandit as pb
from pybandit.serving import _limits
from pybandit.serving._limits import (
    HELD,
    PER_RESULT,
    PIECE,
    SMALL,
    BodyMemory,
    Busy,
    TooLarge,
    check_bytes,
    parsed,
)
from pybandit.serving._worker_threads import Lane
from serving.served import READ, call, exchange, request, running, serving

N = 60_000
LONG = b"1," * PIECE
NUMBERS = st.one_of(st.none(), st.integers(-2**63, 2**63), st.floats(allow_nan=False,
                                                                     allow_infinity=False))
BODIES = st.fixed_dictionaries({"batch_id": st.integers(0, 10**6),
                                "results": st.lists(NUMBERS, max_size=30)},
                               optional={"positions": st.lists(st.integers(0, 99), max_size=9),
                                         "reason": st.text(max_size=30) | st.booleans()})


def filled(value):
    return {name: [math.inf if one is None or one != one else one for one in part]
            if isinstance(part, list) else part for name, part in value.items()}


@pytest.mark.parametrize("body", [
    b'{"results": [' + b"1," * _limits.MOST_RESULTS + b"1]}",
    b"{" + b",".join(b'"%c": [%s1]' % (97 + i, LONG) for i in range(5)) + b"}"],
    ids=["entries", "fields"])
def test_entries_and_fields_are_counted(body):
    with pytest.raises(ValueError, match="must have at most"):
        parsed(body)


@given(BODIES, st.integers(1, 60), st.sampled_from([None, 2]), st.booleans())
def test_parsing_in_parts_equals_json(value, piece, indent, ascii_only):
    """Parts of any size give the same object, or an error for a number longer than a part."""
    body = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode("utf-8",
                                                                            "surrogatepass")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_limits, "PIECE", piece)
        try:
            found = parsed(body)
        except ValueError:
            assert piece < 60
            return
    assert filled(found) == filled(value)


@pytest.mark.parametrize("body", [
    b'{"results": [' + LONG, b'{"results": [' + LONG + b"1", b'{"results": [' + LONG + b"]}",
    b'{"results": [' + LONG + b"1]", b'{"results": [' + LONG + b"1]} 1",
    b'{"results": [' + LONG + b"1],}", b'{"results": [' + LONG + b",1]}",
    b'{"results": [' + LONG + b'"a"]}', b'{"results": [' + LONG + b"NaN]}",
    b'{"results": [' + LONG + b"[]]}", b'{"results": [' + LONG + b"{}]}",
    b'{"results": [' + b"[]," * PIECE + b"[]]}", b"[" * 3 * PIECE, b"{" * 3 * PIECE,
    b'{"results": {' + b'"a":' * PIECE, b'{"a": "' + b"x" * 3 * PIECE + b'"}',
    b'{"a": ' + b"1" * 3 * PIECE + b"}", b'{"results": [' + b"1" * 3 * PIECE + b"]}",
    b'{"a": [' + LONG + b'1], "a": 1}', b'{"a": [' + LONG + b'1], "b": "\xff"}',
    b" " * 3 * PIECE, b'{"a": {"b": [' + LONG + b"1]}}", b"\xff" * 3 * PIECE,
    b"[" * PIECE, b'{"a":' * (PIECE // 5), b'{"results":' + b"[" * 9000 + b"]" * 5000])
def test_nested_bodies_are_rejected(body):
    with pytest.raises((ValueError, RecursionError)):
        parsed(body)


def test_limits_depend_on_kind():
    check_bytes("/ask", SMALL)
    check_bytes("/tell", SMALL + 7 * PER_RESULT, 7)
    check_bytes("/tell", HELD, 10**9)
    with pytest.raises(TooLarge, match="the body of /ask must be at most 16,384 bytes; got 16,385"):
        check_bytes("/ask", SMALL + 1)
    with pytest.raises(TooLarge, match="at most 16,832 bytes: 16,384, and 64 for each of "
                                       r"7 results \(the largest batch plus 1\); got 16,833"):
        check_bytes("/tell", SMALL + 7 * PER_RESULT + 1, 7)
    with pytest.raises(TooLarge):
        check_bytes("/tell", HELD + 1, 10**9)


def test_the_longest_results_fit():
    """Doubles of 24 digits and positions, one per line."""
    n, value = 50_000, -2.2250738585072014e-308
    text = json.dumps({"batch_id": 10**9, "results": [value] * n,
                       "positions": list(range(10**6 - n, 10**6)), "missing": "drop"}, indent=4)
    check_bytes("/tell", len(text), n)
    assert parsed(text.encode())["results"] == [value] * n


def test_large_bodies_wait_for_room():
    async def main():
        room, order = BodyMemory(3 * SMALL, patience=5.0), []

        async def hold(i):
            async with room.for_body(2 * SMALL):
                order.append(i)
                assert room.held <= room.most
                await asyncio.sleep(0.01)

        await asyncio.gather(*(hold(i) for i in range(5)))
        assert order == list(range(5)) and room.held == 0
        room.patience = 0.01
        async with room.for_body(2 * SMALL):
            async with room.for_body(SMALL):
                pass  # small bodies never wait
            with pytest.raises(Busy, match="too many large bodies"):
                await hold(9)
        await hold(6)

    asyncio.run(main())


def test_a_lane_outlives_errors():
    async def main():
        lane = Lane()
        lane.start()
        for error in (MemoryError, ValueError, SystemExit):
            with pytest.raises(error):
                await lane.do(lambda error=error: (_ for _ in ()).throw(error()))
        assert await lane.do(threading.get_ident) != threading.get_ident()
        waiting = [asyncio.create_task(lane.do(lambda i=i: i)) for i in range(9)]
        await asyncio.sleep(0)
        await lane.stop()
        assert await asyncio.gather(*waiting) == list(range(9))
        with pytest.raises(RuntimeError, match="a thread of the server has ended"):
            await lane.do(int)

    asyncio.run(main())


def peak_of(server):
    with open(f"/proc/{server.process.pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024


def while_reading(server, work):
    """Return the result of `work`, and the longest time that a reader waited meanwhile."""
    found, times = [], []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    while thread.is_alive() or len(times) < 3:
        start = time.perf_counter()
        assert call(server.port, "GET", "/recommend", token=READ)[0] == 200
        times.append(time.perf_counter() - start)
    return found[0], max(times)


@pytest.fixture
def large(tmp_path):
    pb.Study.create(tmp_path / "study.db",
                    pb.policies.RoundRobin(N, 1, batch_size=N, max_batches=10**9)).close()
    with serving(tmp_path / "study.db") as server:
        assert call(server.port, "POST", "/ask", {})[0] == 200
        yield server


def test_too_large_body_is_rejected_unread(large):
    """28 MB of [],[], blocked the event loop for 3.7 s and took 1.7 GB."""
    before = peak_of(large)
    body = b'{"batch_id": 0, "results": [' + b"[]," * 9_300_000 + b"[]]}"
    for path in ("/tell", "/amend", "/ask", "/close_batch", "/login"):
        (status, _, answer), longest = while_reading(
            large, lambda path=path: exchange(large.port, request("POST", path, body)))
        assert status == 413 and b"must be at most" in answer
        assert longest < 1.5
    print(f"413: {longest:.3f} s, {peak_of(large) - before:.0f} MB more")
    assert peak_of(large) < before + 50


def test_malformed_arrays_do_not_delay_readers(large):
    """Eight at a time, each of the maximum size of a tell."""
    size, before = SMALL + PER_RESULT * N - 100, peak_of(large)
    for part in (b"[],", b"{},", b"1,", b"null,", b'"a",', b"1" * 4000 + b","):
        body = b'{"batch_id": 0, "results": [' + part * (size // len(part)) + b"1]}"
        statuses = []

        def tell(body=body, statuses=statuses):
            threads = [threading.Thread(target=lambda: statuses.append(
                exchange(large.port, request("POST", "/tell", body))[0])) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        _, longest = while_reading(large, tell)
        assert statuses == [400] * 8
        assert longest < 1.5
        print(f"{part[:9]}: {longest:.3f} s, {peak_of(large) - before:.0f} MB more")
    assert peak_of(large) < before + 400


def test_tell_of_large_batch_is_recorded(large):
    values = [i / N for i in range(N)]
    assert call(large.port, "POST", "/tell", {"batch_id": 0, "results": values}) == (
        200, {"n_new": N, "n_known": 0, "complete": True})


CLIENTS = """
import sys, threading
from serving.served import exchange, request
port, size = int(sys.argv[1]), int(sys.argv[2])
parts = [b"[],", b"1,", b"null,", b'"a",', b"-1.5e-300,"]
def tell(part):
    body = b'{"batch_id": 0, "results": [' + part * (size // len(part)) + b"1]}"
    assert exchange(port, request("POST", "/tell", body))[0] == 400
threads = [threading.Thread(target=tell, args=(part,)) for part in 2 * parts]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def test_event_loop_runs_while_bodies_are_parsed(tmp_path):
    """Measures how late the loop wakes, without clients."""
    pb.Study.create(tmp_path / "study.db",
                    pb.policies.RoundRobin(N, 1, batch_size=N, max_batches=10**9)).close()
    late = []

    async def tick():
        while True:
            due = time.perf_counter() + 0.002
            await asyncio.sleep(0.002)
            late.append(time.perf_counter() - due)

    async def main():
        async with running(tmp_path / "study.db") as server:
            await server.writer.record(lambda study: study.ask())
            ticking = asyncio.create_task(tick())
            clients = await asyncio.create_subprocess_exec(
                sys.executable, "-c", CLIENTS, str(server.port), str(SMALL + PER_RESULT * N - 100),
                env=os.environ | {"PYTHONPATH": ":".join(sys.path)})
            assert await clients.wait() == 0
            ticking.cancel()

    asyncio.run(main())
    late.sort()
    print(f"the loop woke {1e3 * late[-1]:.0f} ms late at most, {1e3 * late[len(late) // 2]:.1f} "
          f"in the median, of {len(late)}")
    assert late[-1] < 0.5 and late[len(late) // 2] < 0.1
