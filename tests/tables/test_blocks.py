"""Blocks: values, cache, invalid arguments, and the order in which races read them."""

import copy
import itertools
import os
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pybandit as pb
from pybandit.tables import _cache
from pybandit.tables.order import BlockGenerator, BlockRows

from tables.reference.shuffle import block_rows

TABLE = np.arange(60.0).reshape(20, 3)
SIZES = np.array([5, 1, 7, 7])


def read(block, columns):
    return np.split(TABLE, np.cumsum(SIZES)[:-1])[block][:, columns]


def make(function=read, sizes=SIZES, **options):
    return pb.tables.Blocks(function, sizes, 3, **options)


@settings(max_examples=100, deadline=None)
@given(rows=st.lists(st.integers(0, 19), max_size=30), columns=st.sets(st.integers(0, 2)))
def test_values_equal_the_table(rows, columns):
    rows, columns = np.array(rows, dtype=np.int64), sorted(columns)
    found = make().values(rows, np.array(columns, dtype=np.int64))
    assert found.dtype == np.float64 and found.flags.c_contiguous
    assert np.array_equal(found, TABLE[rows][:, columns])


def test_only_missing_columns_of_a_block_are_read():
    calls = []

    def seen(block, columns):
        calls.append((block, columns.tolist()))
        columns[:] = -1  # the function may modify its argument
        return np.split(TABLE, np.cumsum(SIZES)[:-1])[block][:, calls[-1][1]]

    blocks = make(seen)
    blocks.values([0, 1, 6], [2])
    blocks.values([2, 7], [0, 2])
    assert calls == [(0, [2]), (2, [2]), (0, [0]), (2, [0])]
    assert np.array_equal(blocks.values(range(20), [0, 1, 2]), TABLE)


def test_cache_size_is_bounded(monkeypatch):
    """The last block stays, whatever its size; of the others, those read most recently."""
    monkeypatch.setattr(_cache, "MOST_KEPT", 7 * 3 * 8)
    calls = []

    def seen(block, columns):
        calls.append(block)
        return read(block, columns)

    blocks = make(seen)
    for row in (0, 5, 0, 6, 6, 0):
        blocks.values([row], [0, 1, 2])
    assert calls == [0, 1, 2, 0]


def test_partly_read_block_counts_fully(monkeypatch):
    """The memory of its unread columns may be allocated already."""
    monkeypatch.setattr(_cache, "MOST_KEPT", 7 * 3 * 8)
    blocks = make()
    for row in (0, 5, 6, 13):
        blocks.values([row], [1])
    assert len(blocks._cache._kept) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes that are copied")
def test_forked_child_can_read():
    """A thread of the parent holds the lock during the fork."""
    reading, done = threading.Event(), threading.Event()

    def function(block, columns):
        if block == 3 and threading.current_thread() is thread:
            reading.set()
            done.wait()
        return read(block, columns)

    blocks = make(function)
    thread = threading.Thread(target=blocks.values, args=([13], [0]))
    thread.start()
    reading.wait()
    child = os.fork()
    if not child:
        os._exit(not np.array_equal(blocks.values([0, 13], [0, 1]), TABLE[[0, 13], :2]))
    done.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


def test_error_in_read_changes_nothing():
    fails = [True]

    def function(block, columns):
        if fails[0]:
            raise KeyboardInterrupt
        return read(block, columns)

    blocks = make(function)
    with pytest.raises(KeyboardInterrupt):
        blocks.values([3], [0])
    fails[0] = False
    assert blocks.values([3], [0]) == 9.0


@pytest.mark.parametrize("returned, error", [
    (lambda part: part[1:], "must return shape"), (lambda part: part.astype(str), "real numbers"),
    (lambda part: None, "must return shape"), (lambda part: [[1.0], [2.0, 3.0]], "array"),
    (lambda part: np.ma.masked_greater(part, 0.0), "masked"),
    (lambda part: part * 1j, "real numbers")])
def test_result_of_read_is_checked(returned, error):
    blocks = make(lambda block, columns: returned(read(block, columns)))
    with pytest.raises((TypeError, ValueError), match=error):
        blocks.values([0], [0, 1])


@pytest.mark.parametrize("arguments, options, name", [
    ((None, SIZES, 3), {}, "read"), ((read, [5, 0], 3), {}, "sizes"),
    ((read, [2.5], 3), {}, "sizes"), ((read, [], 3), {}, "sizes"), ((read, 5, 3), {}, "sizes"),
    ((read, [2**53, 2**53], 3), {}, "sizes"), ((read, SIZES, 0), {}, "n_columns"),
    ((read, SIZES, 3), {"names": "ab"}, "names"), ((read, SIZES, 3), {"names": 3}, "names"),
    ((read, SIZES, 3), {"shuffled": np.ones(2)}, "shuffled")])
def test_refused(arguments, options, name):
    with pytest.raises((TypeError, ValueError), match=f"^{name} must"):
        pb.tables.Blocks(*arguments, **options)


@pytest.mark.parametrize("rows, columns, name", [
    ([20], [0], "rows"), ([-1], [0], "rows"), ([0.5], [0], "rows"), ([[0]], [0], "rows"),
    ([0], [3], "columns"), ([0], [1, 0], "columns"), ([0], [1, 1], "columns")])
def test_values_refuses_invalid_indices(rows, columns, name):
    with pytest.raises((TypeError, ValueError), match=f"^{name} must"):
        make().values(rows, columns)


def test_blocks_are_immutable_and_copyable():
    blocks = make(names="abc", shuffled=True)
    with pytest.raises(AttributeError):
        blocks.shuffled = False
    with pytest.raises(ValueError):
        blocks.sizes[0] = 3
    for other in (pickle.loads(pickle.dumps(blocks)), copy.deepcopy(blocks), copy.copy(blocks)):
        assert repr(other) == repr(blocks) and other.names == ("a", "b", "c") and other.shuffled
        assert np.array_equal(other.values([19], [0, 1]), TABLE[19:, :2])


def test_threads_take_turns(monkeypatch):
    monkeypatch.setattr(_cache, "MOST_KEPT", 1)
    inside, wrong = [], []

    def function(block, columns):
        inside.append(block)
        wrong.extend([block] * (len(inside) > 1))
        values = read(block, columns)
        inside.pop()
        return values

    blocks = make(function)

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(200):
            rows = rng.integers(20, size=4)
            wrong.extend([rows] * (not np.array_equal(blocks.values(rows, [0, 2]),
                                                      TABLE[rows][:, [0, 2]])))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@settings(max_examples=100, deadline=None)
@given(sizes=st.lists(st.integers(1, 9), min_size=1, max_size=8), data=st.data())
def test_block_rows_equal_reference(sizes, data):
    sizes = np.array(sizes)
    order = np.array(data.draw(st.permutations(range(sizes.size))))
    rows, expected = BlockRows(sizes, order), block_rows(sizes, order)
    assert rows.size == len(rows) == expected.size
    assert np.array_equal(rows.copy(), expected) and np.array_equal(np.asarray(rows), expected)
    some = np.array(data.draw(st.lists(st.integers(0, expected.size - 1))), dtype=np.int64)
    assert np.array_equal(rows[some], expected[some])
    assert np.array_equal(rows.places(expected), np.arange(expected.size))
    assert int(rows[0]) == expected[0] and rows.places(expected[-1]) == expected.size - 1
    first, last = sorted(data.draw(st.tuples(*[st.integers(0, expected.size)] * 2)))
    assert np.array_equal(rows[first:last], expected[first:last])
    assert np.array_equal(rows[first:], expected[first:])


def test_all_orders_of_blocks_are_drawn():
    """The generator equals NumPy's and shares its stream."""
    rng = np.random.default_rng(3)
    drawn = {tuple(BlockGenerator(rng, SIZES).order_of_items()[:]) for _ in range(400)}
    assert drawn == {tuple(block_rows(SIZES, order))
                     for order in itertools.permutations(range(4))}
    one, other = BlockGenerator(np.random.default_rng(5), SIZES), np.random.default_rng(5)
    assert np.array_equal(one.order_of_items()[:], block_rows(SIZES, other.permutation(4)))
    assert one.random() == other.random()
