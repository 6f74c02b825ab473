"""Races and sequences used by many threads, too early, or initialised twice."""

import contextlib
import threading
import time

import numpy as np
import pytest

import pybandit as pb
from pybandit.betting import _kernels as kernels

from betting.races import MAKERS, REWARDS, frozen, makers, play

N_THREADS = 8


def run_in_threads(work):
    """Run work(thread number) in 8 threads at once; return the exceptions."""
    errors, ready = [], threading.Barrier(N_THREADS)

    def run(number):
        ready.wait()
        try:
            work(number)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


@pytest.mark.parametrize("name", ["best", "top", "sides"])
def test_races_in_threads_record_every_block_once(name):
    """Eight threads report to one race; it ends like that of one thread."""
    alone = play(MAKERS[name](block_size=20, delta=1e-9), REWARDS)
    expected, refused = frozen(alone.get_state()), []
    for _ in range(20):
        race, states = MAKERS[name](block_size=20, delta=1e-9), []

        def work(number, race=race, states=states):
            done = False
            while not done:
                try:
                    arms, items = race.ask()
                    if number % 2:
                        race.tell(arms, items, REWARDS[items, arms])
                    else:
                        states.append(race.get_state())
                        race.recommend(), race.means, race.survivors, repr(race)
                        time.sleep(1e-3)
                    done = race.done
                except RuntimeError as error:
                    refused.append(str(error))
                    time.sleep(1e-4)  # let the thread that holds the guard run
                except ValueError as error:
                    if "is done and asks for nothing" in str(error):
                        return
                    assert "reported before" in str(error)

        assert run_in_threads(work) == []
        assert frozen(race.get_state()) == expected
        assert frozen(race._race.arrays) == frozen(alone._race.arrays)
        for state in states[::10]:
            assert frozen(type(race).from_state(state).get_state()) == frozen(state)
    assert all("in use by another thread" in words for words in refused)


@pytest.mark.parametrize("method", ["betting", "empirical-bernstein", "hoeffding", "asymptotic"])
def test_sequences_in_threads_have_consistent_states(method):
    """get_state returns the state before or after an update, never during one."""
    pieces = np.random.default_rng(1).random((12, 700))
    alone, known = pb.betting.ConfidenceSequence(population_size=10**6, method=method), {}
    known[0] = frozen(alone.get_state())
    for piece in pieces:
        alone.tell(piece)
        known[alone.n] = frozen(alone.get_state())
    shared, refused, ended = pb.betting.ConfidenceSequence(population_size=10**6,
                                                           method=method), [], threading.Event()

    def write():
        for piece in pieces:
            while True:
                try:
                    shared.tell(piece)
                    break
                except RuntimeError as error:
                    refused.append(str(error))
                    time.sleep(1e-4)  # let the thread that holds the guard run
        ended.set()

    def work(number):
        if number == 0:
            return write()
        while not ended.is_set():
            try:
                state = shared.get_state()
                assert frozen(state) == known[state["n"]]
                assert shared.n in known
            except RuntimeError as error:
                refused.append(str(error))
            time.sleep(1e-3)

    assert run_in_threads(work) == []
    assert frozen(shared.get_state()) == known[8400]
    assert all("in use by another thread" in words for words in refused)


def test_second_thread_is_refused():
    """While the kernel runs for one thread, any other gets an error."""
    sequence, n_refused = pb.betting.ConfidenceSequence(), 0
    values = np.random.default_rng(1).random(200_000)

    def write():
        while True:
            with contextlib.suppress(RuntimeError):
                return sequence.tell(values)

    writer = threading.Thread(target=write)
    writer.start()
    while writer.is_alive():
        for call in (sequence.get_state, lambda: sequence.lower, lambda: repr(sequence)):
            try:
                call()
            except RuntimeError as error:
                assert "in use by another thread" in str(error)
                n_refused += 1
        time.sleep(1e-3)
    writer.join()
    assert n_refused > 3 and sequence.n == 200_000


@makers
def test_second_init_of_a_race_raises(make):
    race = play(make(), REWARDS, 20)
    before = frozen(race.get_state())
    with pytest.raises(RuntimeError, match=f"{type(race).__name__} is already initialised"):
        race.__init__(3, 10, value_range=(0, 1), threshold=0.5) if hasattr(
            race, "threshold") else race.__init__(3, 10, value_range=(0, 1))
    assert frozen(race.get_state()) == before


def test_second_init_of_a_sequence_raises():
    sequence = pb.betting.ConfidenceSequence(population_size=100)
    sequence.tell([0.2, 0.4])
    before = frozen(sequence.get_state())
    with pytest.raises(RuntimeError, match="is already initialised"):
        sequence.__init__(population_size=50)
    assert frozen(sequence.get_state()) == before


@pytest.mark.parametrize("cls",
                         [pb.BettingRace, pb.BettingThreshold, pb.betting.ConfidenceSequence])
def test_uninitialised_objects_explain_themselves(cls):
    """Every attribute either raises an error that names the missing __init__, or does nothing."""
    empty = cls.__new__(cls)
    n_errors = 0
    for name in dir(cls):
        if name.startswith("_") and name not in ("__repr__", "__reduce__"):
            continue
        if name == "in_order":  # makes another object
            continue
        calls = {"tell": ([0], [0], [0.5]), "rewards": (0,),
                 "from_state": ({},)}
        try:
            value = getattr(empty, name)
            given = ([0.5],) if (cls, name) == (pb.betting.ConfidenceSequence, "tell") else (
                calls.get(name, ()))
            value(*given) if callable(value) else None
        except (RuntimeError, AttributeError) as error:
            assert cls.__name__ in str(error) and "__init__" in str(error), name
            n_errors += 1
        except ValueError as error:
            assert name == "from_state" and "state" in str(error)
    assert n_errors >= 6


def test_subclass_without_super_init_raises():
    class Forgetful(pb.BettingRace):
        def __init__(self):
            self.k = 1

    with pytest.raises(AttributeError, match="Forgetful has no .*__init__ was not called"):
        Forgetful().ask()
    with pytest.raises(AttributeError, match="'BettingRace' object has no attribute 'besst'"):
        _ = MAKERS["best"]().besst


def test_kernel_classes_check_their_arguments():
    with pytest.raises(TypeError, match="LeaderRace"):
        kernels.Race()
    for n_bets in (0, -1, 65, 1000):
        with pytest.raises(ValueError, match=rf"bets.*64.*{n_bets}"):
            kernels.Bets("product", n_bets)
    bets = kernels.Bets("product", 16)
    with pytest.raises(TypeError):
        kernels.LeaderRace(3, 10, None, (0.0, 1.0, 1.0), 0.1)
    race = kernels.LeaderRace(3, 10, bets, (0.0, 1.0, 1.0), 0.1)
    race.begin()
    for shape in ((1, 2), (1, 4), (0, 3)):
        with pytest.raises(ValueError, match=r"each of 3 arms"):
            race.tell(kernels.Books(3, 0.0), np.zeros(shape))
