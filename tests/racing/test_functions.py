"""Factors computed by a Python function: return values, errors, reentrancy and Ctrl-C."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import pybandit as pb

from racing.reference.problems import as_function

GOOD = np.random.default_rng(0).normal(size=(400, 3)) + [0.0, 1.0, 2.0]


class Unusual(Exception):
    pass


def test_an_exception_of_the_function_is_unchanged():
    error, calls = Unusual("mine", 42), []

    def function(indices, states):
        calls.append(len(indices))
        if len(calls) == 3:
            raise error
        return GOOD[np.ix_(indices, states)]

    log_prior = [2 * 400.0, 400.0, 0.0]
    with pytest.raises(Unusual) as caught:
        pb.race(pb.Factors(function, *GOOD.shape), log_prior, delta=1e-9, rng=1)
    assert caught.value is error and len(calls) == 3
    calls.clear()
    sampler = pb.RacingSampler(pb.Factors(function, *GOOD.shape), rng=1)
    with pytest.raises(Unusual) as caught:
        sampler.draw(10)
    assert caught.value is error
    states, _ = sampler.draw(10)
    assert np.all(states == 2)


@pytest.mark.parametrize(
    "function, kind, word",
    [
        (lambda n, i: np.zeros((len(n), len(i) + 1)), ValueError, "shape"),
        (lambda n, i: np.zeros(len(n)), ValueError, "shape"),
        (lambda n, i: np.zeros((len(n), 1)), ValueError, "shape"),
        (lambda n, i: 0.0, ValueError, "shape"),
        (lambda n, i: None, ValueError, "shape"),
        (lambda n, i: np.zeros((len(n), len(i)), dtype=complex), TypeError, "return value"),
        (lambda n, i: np.full((len(n), len(i)), np.nan), ValueError, "nan at factor"),
        (lambda n: n, TypeError, "argument"),
    ],
)
def test_bad_return_values_of_functions_are_rejected(function, kind, word):
    factors = pb.Factors(function, 500, 3)
    with pytest.raises(kind, match=word):
        pb.race(factors, rng=1)
    with pytest.raises(kind, match=word):
        pb.RacingSampler(factors, rng=1).draw(3)
    with pytest.raises(kind):
        pb.racing.exact_sample(factors, rng=1)


def test_functions_may_return_convertible_values():
    expected = pb.race(as_function(GOOD), rng=1)
    for convert in (np.asfortranarray, np.ndarray.tolist, lambda a: np.repeat(a, 2, 1)[:, ::2]):
        factors = pb.Factors(
            lambda n, i, convert=convert: convert(GOOD[np.ix_(n, i)]), *GOOD.shape
        )
        assert pb.race(factors, rng=1) == expected
    whole = pb.Factors(lambda n, i: np.zeros((len(n), len(i)), dtype=int) + i, 400, 3)
    assert pb.race(whole, rng=1).best == 2


def test_functions_may_keep_and_change_their_arguments():
    kept = []

    def function(indices, states):
        values = GOOD[np.ix_(indices, states)]
        kept.append(indices)
        indices[:] = -1
        states[:] = -1
        return values

    assert pb.race(pb.Factors(function, *GOOD.shape), rng=1) == pb.race(GOOD, rng=1)
    assert all(np.all(indices == -1) for indices in kept)


def test_a_function_may_not_draw_from_its_own_sampler():
    inner = []

    def function(indices, states):
        if not inner:
            inner.append(None)
            sampler.draw()
        return GOOD[np.ix_(indices, states)]

    sampler = pb.RacingSampler(pb.Factors(function, *GOOD.shape), rng=1)
    with pytest.raises(RuntimeError, match="already drawing"):
        sampler.draw()
    assert sampler.draw()[0] == 2


def test_a_function_may_use_another_sampler_and_the_same_generator():
    rng = np.random.default_rng(1)
    other = pb.RacingSampler(GOOD, rng=rng)
    done = []

    def function(indices, states):
        done.append(other.draw()[0])
        rng.normal()
        return GOOD[np.ix_(indices, states)]

    def work():
        done.append(pb.RacingSampler(pb.Factors(function, *GOOD.shape), rng=rng).draw(5))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(timeout=30)
    assert not thread.is_alive(), "deadlock"
    assert np.all(done[-1][0] == 2)


def interrupt_soon(delay=0.3):
    timer = threading.Timer(delay, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    return timer


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
@pytest.mark.parametrize("source", ["matrix", "function", "exact"])
def test_ctrl_c_stops_a_long_draw(source):
    rng = np.random.default_rng(1)
    factors = rng.normal(size=(20_000, 3))
    factors -= factors.mean(axis=0)  # so that the race reads everything
    given = as_function(factors) if source == "function" else factors
    more = {"looks": pb.racing.Looks(max_fraction=0.001)} if source == "exact" else {}
    sampler = pb.RacingSampler(given, delta=1e-6, rng=1, **more)
    sampler.draw(2)
    timer = interrupt_soon()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        sampler.draw(3_000_000)
    assert time.perf_counter() - start < 5.0
    timer.join()
    states, info = sampler.draw(20)
    assert states.shape == (20,) and info.n_evaluations.min() > 0
