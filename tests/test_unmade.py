"""Compiled objects whose `__init__` did not run, or runs twice, raise and never crash."""

import faulthandler
import importlib
import os
import pathlib

import numpy as np
import pytest

import pybandit as pb

ROOMS = ("racing", "betting", "montecarlo")
PACKAGE = pathlib.Path(pb.__file__).parent
ARGUMENTS = [(), (0,), (1, np.random.default_rng(0)), (None,), (np.zeros((2, 2)),),
             ([0], [0]), ([0], [0], [0.5])]
# Attributes inherited from `object`, which use no memory of the class.
INHERITED = set(dir(object)) - {"__init__", "__reduce__", "__reduce_ex__", "__repr__", "__eq__"}


def compiled_classes():
    for room in ROOMS:
        for path in sorted((PACKAGE / room).glob("*.pyx")):
            module = importlib.import_module(f"pybandit.{room}.{path.stem}")
            for name, one in sorted(vars(module).items()):
                if isinstance(one, type) and one.__module__ == module.__name__ and not (
                        one.__flags__ & 1 << 9):  # the flag of heap types: a class in Python
                    yield pytest.param(one, id=f"{path.stem}.{name}")


def touch(one, name):
    """Read an attribute, set it, and call it if it is callable."""
    try:
        value = getattr(one, name)
    except Exception:
        return
    for arguments in ARGUMENTS if callable(value) else ():
        try:
            value(*arguments)
        except Exception:
            pass
    for given in (None, 0, np.zeros(3)):
        try:
            setattr(one, name, given)
        except Exception:
            pass


def last_words(work):
    """Run work in a forked process; return its output and its exit status."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        faulthandler.disable()
        try:
            os.close(reader)
            work(lambda text: os.write(writer, f"{text}\n".encode()))
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader) as words:
        lines = words.read().splitlines()
    return lines, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("owner", list(compiled_classes()))
def test_attributes_of_an_uninitialised_object_do_not_crash(owner):
    def work(say):
        for name in sorted(set(dir(owner)) - INHERITED):
            say(name)
            try:
                one = owner.__new__(owner)
            except TypeError:
                return  # __new__ of this class requires arguments
            touch(one, name)
            del one

    lines, status = last_words(work)
    assert status == 0, f"{owner.__name__}.{lines[-1]} ended with {status}"


@pytest.mark.parametrize("owner", [pb.RacingSampler, pb.racing.AcceptanceTest])
def test_error_names_the_missing_initialisation(owner):
    class Forgetful(owner):
        def __init__(self, *_):
            pass

    one = Forgetful(np.zeros((3, 2)))
    for call in (lambda: one.n_factors, lambda: one.schedule,
                 one.draw if owner is pb.RacingSampler else one.test):
        with pytest.raises(RuntimeError, match=r"Forgetful is not initialised: its __init__ has "
                                               r"not run; .* super\(\).__init__"):
            call()


@pytest.mark.parametrize("one", [
    pb.RacingSampler(np.zeros((30, 2)), rng=1), pb.racing.AcceptanceTest(np.zeros(30), rng=1)])
def test_second_initialisation_is_rejected(one):
    call = one.draw if isinstance(one, pb.RacingSampler) else one.test
    call()
    given = np.zeros((10, 5)) if isinstance(one, pb.RacingSampler) else np.zeros(10)
    with pytest.raises(RuntimeError, match="is already initialised"):
        one.__init__(given)
    assert one.n_factors == 30
    call()


def test_factor_function_cannot_initialise_its_sampler_again():
    matrix = np.random.default_rng(1).normal(size=(500, 3))

    def function(n, i):
        if again:
            again.pop()
            sampler.__init__(np.zeros((10**6, 2)))
        return matrix[n][:, i]

    def ratios(n, i):
        if again:
            again.pop()
            test.__init__(np.zeros(10**6))
        return matrix[n, :1]

    sampler = pb.RacingSampler(pb.Factors(function, 500, 3), rng=1)
    test = pb.racing.AcceptanceTest(pb.Factors(ratios, 500, 1), rng=1)
    for call in (sampler.draw, lambda: sampler.draw(3), test.test):
        again = [1]
        with pytest.raises(RuntimeError, match="in use"):
            call()
        call()
        assert sampler.n_factors == test.n_factors == 500
