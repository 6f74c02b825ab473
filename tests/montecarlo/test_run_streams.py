"""Generators of runs equal those of SeedSequence.spawn; a run may keep its own."""

import copy
import pickle

import numpy as np
import pytest

import pybandit as pb
from pybandit.montecarlo._run_streams import RunStreams

SEEDS = [np.random.SeedSequence(1), np.random.SeedSequence([2**70, 5], spawn_key=(3, 2**33)),
         np.random.SeedSequence(7, pool_size=8)]


def draws(rng):
    """Return numbers of every kind of call of a bit generator."""
    return [rng.random(), rng.integers(1 << 40), rng.random(dtype=np.float32),
            rng.standard_normal(), rng.permutation(20).tolist(), rng.gamma(2.5),
            rng.random(dtype=np.float32), rng.bit_generator.random_raw()]


@pytest.mark.parametrize("seeds", SEEDS)
def test_streams_are_the_children_of_the_seed(seeds):
    seeds = copy.deepcopy(seeds)
    seeds.spawn(3)
    theirs, streams = copy.deepcopy(seeds), RunStreams(seeds)
    for _ in range(5):
        assert draws(streams.next()) == draws(np.random.default_rng(theirs.spawn(1)[0]))
    assert seeds.n_children_spawned == theirs.n_children_spawned == 8
    # children that are spawned in between count
    assert [child.spawn_key for child in streams.spawn(2)] == [
        child.spawn_key for child in theirs.spawn(2)]
    assert draws(streams.next()) == draws(np.random.default_rng(theirs.spawn(1)[0]))


def test_generator_is_used_again_unless_it_was_kept():
    streams = RunStreams(np.random.SeedSequence(1))
    first = streams.next().bit_generator
    assert not isinstance(first, np.random.PCG64)  # seeded by compiled code
    del first
    for keep in (lambda rng: rng, lambda rng: rng.bit_generator, lambda rng: rng.random,
                 lambda rng: rng.bit_generator.seed_seq):
        kept = keep(streams.next())
        state = streams.next().bit_generator.state
        assert getattr(getattr(kept, "bit_generator", kept), "state", None) != state


def test_objects_of_a_run_are_used_again_unless_it_keeps_them():
    streams = RunStreams(np.random.SeedSequence(2))
    assert len({id(streams.next()) for _ in range(20)}) == 1
    kept = [get(streams.next()) for get in (lambda rng: rng, lambda rng: rng.bit_generator,
                                            lambda rng: rng.bit_generator.seed_seq) for _ in "ab"]
    assert len(set(map(id, kept))) == 6


def test_kept_generators_go_on():
    streams, theirs = RunStreams(np.random.SeedSequence(4)), np.random.SeedSequence(4)
    kept = [streams.next() for _ in range(4)]
    assert [rng.random() for rng in kept] == [
        np.random.default_rng(child).random() for child in theirs.spawn(4)]


def test_generator_spawns_like_that_of_numpy():
    rng = RunStreams(np.random.SeedSequence(5)).next()
    same = np.random.default_rng(np.random.SeedSequence(5).spawn(1)[0])
    assert [draws(child) for child in rng.spawn(2)] == [draws(child) for child in same.spawn(2)]
    assert rng.bit_generator.seed_seq.spawn_key == same.bit_generator.seed_seq.spawn_key
    assert rng.spawn(1)[0].random() == same.spawn(1)[0].random()
    again = type(rng.bit_generator)(np.random.SeedSequence(9))
    assert again.random_raw() == np.random.PCG64(9).random_raw()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda rng: pickle.loads(pickle.dumps(rng))])
def test_copies_continue(copied):
    rng = RunStreams(np.random.SeedSequence(6)).next()
    rng.random(dtype=np.float32)  # half a word is left
    other = copied(rng)
    assert isinstance(other.bit_generator, np.random.PCG64) and draws(other) == draws(rng)


def test_state_can_be_set_jumped_and_advanced():
    rng = RunStreams(np.random.SeedSequence(8)).next()
    bits, same = rng.bit_generator, np.random.PCG64()
    same.state = bits.state
    assert same.state == bits.state
    assert bits.jumped(3).state == same.jumped(3).state
    assert bits.advance(1000).state == same.advance(1000).state
    bits.state = np.random.PCG64(3).state
    assert draws(rng) == draws(np.random.Generator(np.random.PCG64(3)))
    with pytest.raises((TypeError, ValueError, KeyError)):
        bits.state = {"bit_generator": "MT19937"}


@pytest.mark.parametrize("rng", [3, np.random.SeedSequence(3), "generator"])
def test_estimators_get_the_streams_of_an_executor(rng):
    """Runs here, in an executor and with several values per call draw from the same children."""
    from concurrent.futures import ThreadPoolExecutor

    def seeds():
        return np.random.default_rng(3) if rng == "generator" else copy.deepcopy(rng)

    estimators = [lambda rng: float(rng.random()), lambda rng: rng.normal(0.5)]
    here = pb.combine_estimators(estimators, 90, batch_size=4, rng=seeds())
    with ThreadPoolExecutor(3) as pool:
        there = pb.combine_estimators(estimators, 90, batch_size=4, rng=seeds(), executor=pool)
    assert repr(here.allocator.get_state()) == repr(there.allocator.get_state())


def test_seed_sequence_of_the_caller_is_advanced():
    seeds = np.random.SeedSequence(3)
    pb.combine_estimators([lambda rng: rng.random()], 25, rng=seeds)
    assert seeds.n_children_spawned == 26  # 25 runs and the allocator
