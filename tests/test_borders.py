"""Odd values for every parameter of every public callable are accepted, or rejected by name."""

import signal
import zlib

import numpy as np
import pytest

from border_calls import ROOMS, UNCALLED, parameters_of
from public_classes import CLASSES, FUNCTIONS


class Hostile:
    """An object of an unexpected type, without repr, comparison or conversion."""

    __hash__ = None

    def __repr__(self):
        raise RuntimeError("no repr")

    def __array__(self, *_, **__):
        raise RuntimeError("no array")

    def __eq__(self, other):
        raise RuntimeError("no comparison")


def unaligned(values):
    memory = np.zeros(8 * len(values) + 1, dtype=np.uint8)[1:].view(np.float64)
    memory[:] = values
    return memory


def read_only(values):
    values = np.array(values)
    values.flags.writeable = False
    return values


HUGE = 2**62  # a size too large for memory, whose multiples overflow
VALUES = {
    "None": None, "text": "text", "empty text": "", "bytes": b"ab", "list": [], "dict": {1: 2},
    "set": {1}, "ragged": [1.0, [2.0]], "nested": [[0.1, 0.2], [0.3, 0.4]], "object": object(),
    "hostile": Hostile(), "nan": np.nan, "inf": np.inf, "-inf": -np.inf,
    "0": 0, "-1": -1, "2.5": 2.5, "1e300": 1e300, "tiny": 5e-324, "True": True,
    "2**62": HUGE, "-2**63": -(2**63), "2**63": 2**63, "10**30": 10**30, "10**5000": 10**5000,
    "complex": 1j, "NaN array": np.full(3, np.nan), "array of one": np.array([0.5]),
    "0-d": np.array(0.5), "2-d": np.full((2, 2), 0.5), "empty": np.zeros(0),
    "objects": np.array([None, "a"], dtype=object), "texts": np.array(["a", "b"]),
    "dates": np.array(["2020-01-01"], dtype="M8[D]"), "structured": np.zeros(2, dtype="i4,f8"),
    "big-endian": np.array([0.25, 0.5], dtype=">f8"), "float16": np.array([0.25, 0.5], "f2"),
    "masked": np.ma.array([0.2, 0.5], mask=[True, False]), "one masked": np.ma.masked,
    "read-only": read_only([0.25, 0.5]), "unaligned": unaligned([0.25, 0.5]),
    "read-only matrix": read_only([[0.1, 0.2], [0.3, 0.4]]),
    "reversed": np.array([0.5, 0.25])[::-1], "rng": np.random.default_rng(1),
    "function": lambda *_, **__: None, "generator": None,
}


class Slow(BaseException):
    """Raised if a call accepts a value and works for two seconds, which is a success."""


def stop(*_):
    raise Slow


def failure(function, given, name, label):
    """Return the defect in the reaction to a value, or None."""
    value = iter([0.5, 0.25]) if label == "generator" else VALUES[label]
    before = signal.signal(signal.SIGALRM, stop)
    # the alarm repeats, because an exception in a callback of the garbage collector is ignored
    signal.setitimer(signal.ITIMER_REAL, 2.0, 0.5)
    try:
        function(**given | {name: value})
    except (TypeError, ValueError) as error:
        # for shapes that disagree, the message may name either argument
        names = [name, *(given if "shape" in str(error) else ())]
        named = any(one in str(error) for one in names)
        return None if named else f"{type(error).__name__}: {error}"
    except (Slow, MemoryError, ImportError):
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return None


def first_column(shape):
    mask = np.zeros(shape or (1,), bool)
    mask[..., 0] = True
    return mask.reshape(shape)


CASES = [pytest.param(function, given, name, id=f"{room}-{function.__name__}-{name}")
         for room, calls in ROOMS.items() for function, given in calls.items()
         for name in parameters_of(function, given)]


def check(function, given, name, labels):
    failed = {label: reason for label in labels
              if (reason := failure(function, given, name, label))}
    assert not failed, "\n".join(f"{k}: {v}" for k, v in failed.items())


def test_every_public_callable_is_tested():
    here = {function for calls in ROOMS.values() for function in calls}
    missing = {name for name, one in {**CLASSES, **FUNCTIONS}.items() if one not in here}
    assert missing == UNCALLED


@pytest.mark.parametrize("room, function, given", [
    pytest.param(room, function, given, id=function.__name__)
    for room, calls in ROOMS.items() for function, given in calls.items()])
def test_usual_values_are_accepted(room, function, given):
    function(**given)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
@pytest.mark.parametrize("function, given, name", CASES)
def test_some_odd_values(function, given, name):
    """Tests a third of the values, chosen by the parameter's name; the slow test takes all."""
    start = zlib.crc32(f"{function.__name__} {name}".encode()) % 3
    check(function, given, name, list(VALUES)[start::3])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
@pytest.mark.parametrize("function, given, name", CASES)
def test_masked_arrays_are_rejected(function, given, name):
    """Masked values must not be used as numbers, in arrays of any shape."""
    masked = [np.ma.masked, VALUES["masked"]]
    try:
        usual = np.array(given.get(name), dtype=float)
    except (TypeError, ValueError):  # the usual value is not an array of numbers
        usual = np.empty(0)
    if usual.size and given.get(name) is not None:
        # mask a whole column, because a race need not reject values that it does not read
        masked.append(np.ma.array(usual, mask=first_column(usual.shape)))
    for value in masked:
        with pytest.raises((TypeError, ValueError)):
            function(**given | {name: value})


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
@pytest.mark.parametrize("function, given, name", CASES)
def test_all_odd_values(function, given, name):
    check(function, given, name, VALUES)
