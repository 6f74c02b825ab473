"""Changed states are rejected with a reason, or restore an object that keeps its promises.

The bytes choose a class, a time in a run, and the changes to the state.
"""

import copy
import math

import numpy as np

import pybandit as pb
from fuzz.source import Choices

from betting.test_counts import grown
from betting.test_mutated_states import (
    RACES,
    SEQUENCES,
    assert_counts_work,
    assert_race_works,
    assert_sequence_works,
    class_of,
)
from policies.every_class import EVERY, FAST, played
from policies.mutations import assert_keeps_its_promises

MOMENTS = (0, 1, 3, 8, 20)
ODD = [None, "x", "", b"x", True, [], {}, (), [1, 2], [[1], [1, 2]], (0, 1), (1, 0), 1j,
       np.zeros(0), np.zeros((2, 3)), np.ones(3, dtype=bool), np.array(["a"]), np.array([None]),
       np.zeros(3, dtype=complex), np.int8(1), np.float32(0.5), np.ma.masked,
       np.array("2020-01-01", dtype="M8[D]")]
KNOWN = {}


def policies_of(name):
    """Return the class of a policy, and its states at some times of a run."""
    if name not in KNOWN:
        runs = [played(EVERY[name](), stop, lost=0.1 * (stop % 3)) for stop in MOMENTS]
        KNOWN[name] = type(runs[0]), [run.get_state() for run in runs]
    return KNOWN[name]


def places_of(part):
    """Yield (dict, name) for every entry, also of nested dicts."""
    for name in sorted(part, key=str):
        yield part, name
        value = part[name]
        if isinstance(value, (tuple, list)) and value:
            value = value[-1]
        if isinstance(value, dict):
            yield from places_of(value)


def another_entry(bits, value, array):
    """Return a replacement of a number, near it or far from it."""
    kind = bits.below(6)
    if kind == 0:
        return bits.real()
    if kind == 1:
        return bits.integer()
    if kind == 2 and array.size:
        return array.flat[bits.below(array.size)]
    if kind == 3 and isinstance(value, (float, np.floating)):
        return math.nextafter(value, bits.of([-np.inf, np.inf]))
    step = bits.of([-1, 1, 2, -2, 5, 100])
    if isinstance(value, (float, np.floating)):
        return value + step
    return int(value) + step if isinstance(value, (int, np.integer)) else bits.integer()


def changed_array(bits, array):
    """Return a changed array: other entries, order, length, type or shape."""
    kind = bits.below(14)
    if kind < 7 and array.size:
        made, at = array.copy(), bits.below(array.size)
        value = another_entry(bits, made.flat[at], made)
        try:
            made.flat[at] = value
        except (OverflowError, ValueError, TypeError, np.exceptions.ComplexWarning):
            made = made.astype(object)
            made.flat[at] = value
        return made
    n = max(1, array.shape[0]) if array.ndim else 1
    if array.dtype.kind not in "biuf":
        return array[::-1]
    with np.errstate(all="ignore"):
        return [lambda: array[bits.below(n):], lambda: np.roll(array, 1 + bits.below(n)),
                lambda: array[::-1], lambda: np.concatenate([array, array[:1]]),
                lambda: array.astype(bits.of([">f8", ">i8", "f4", "i4", "u8", "?", "O"])),
                lambda: array.tolist(), lambda: array.reshape(1, *array.shape)][kind - 7]()


def change(bits, state, others):
    """Change one entry of a state in place."""
    places = list(places_of(state))
    if not places:
        return
    part, name = bits.of(places)
    kind, value = bits.below(16), part[name]
    if kind == 0:
        part[name] = bits.of(ODD)
    elif kind == 1:
        del part[name]
    elif kind == 2:  # take an entry from another time of the run, or from another run
        found = [entry[at] for other in others for entry, at in places_of(other) if at == name]
        if not found:
            return
        part[name] = copy.deepcopy(bits.of(found))
    elif kind == 3:
        other, at = bits.of(places)
        part[name] = copy.deepcopy(other.get(at))
    elif kind == 4:
        part[bits.of(["", "n_arms", "x", "stream", 3])] = bits.integer()
    elif kind == 5:
        part[name] = bits.real()
    elif kind == 6:
        part[name] = bits.integer()
    elif isinstance(value, np.ndarray) and value.dtype != object and value.ndim:
        part[name] = changed_array(bits, value)
    elif isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        part[name] = another_entry(bits, value, np.zeros(0))
    elif isinstance(value, bool):
        part[name] = not value


def changed(bits, states):
    """Return one of the states after one to four changes."""
    state = copy.deepcopy(bits.of(states))
    for _ in range(1 + bits.below(4)):
        change(bits, state, states)
    return state


def restored(cls, state):
    """Return the restored object, or None if the state is rejected with a reason."""
    try:
        return cls.from_state(state)
    except (ValueError, TypeError) as error:
        assert len(str(error)) > 10, repr(error)
    except MemoryError:  # the state may hold a huge number of arms that no other entry contradicts
        pass
    return None


def policies(content):
    """Restore a policy or an allocator."""
    bits = Choices(content)
    cls, states = policies_of(bits.of(FAST))
    policy = restored(cls, changed(bits, states))
    if policy is not None:
        assert_keeps_its_promises(policy)


REFITTING = [name for name in EVERY if name not in FAST]


def refitting(content):
    """Restore a policy that refits its kernel; 1 in 8 plays, because a fit takes 20 ms."""
    bits = Choices(content)
    plays = bits.below(8) == 0
    cls, states = policies_of(bits.of(REFITTING))
    policy = restored(cls, changed(bits, states))
    if policy is not None and plays:
        assert_keeps_its_promises(policy)


def races(content):
    """Restore a race by betting, for the best arm, against a threshold or within a budget."""
    bits = Choices(content)
    name = bits.of(sorted(RACES))
    race = restored(class_of(name), changed(bits, RACES[name]))
    if race is not None:
        assert_race_works(race, 1 + bits.below(16))


def sequences(content):
    """Restore a confidence sequence."""
    bits = Choices(content)
    sequence = restored(pb.betting.ConfidenceSequence, changed(bits, SEQUENCES))
    if sequence is not None:
        assert_sequence_works(sequence)


COUNTS = [grown().get_state(), pb.CountRace(3).get_state()]


def counts(content):
    """Restore a race on counts."""
    bits = Choices(content)
    race = restored(pb.CountRace, changed(bits, COUNTS))
    if race is not None:
        assert_counts_work(race)


def tables(content):
    """Restore the rows that a pickled environment has used."""
    bits = Choices(content)
    table = pb.environments.TableBandit([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    table.pull([0, 1, 0])
    seen = table.__reduce__()[-1]
    given = bits.of([changed_array(bits, seen), bits.of(ODD), bits.integer(),
                     [bits.integer() for _ in range(bits.below(5))]])
    try:
        table.__setstate__(given)
    except (ValueError, TypeError, OverflowError) as error:
        assert len(str(error)) > 10
        assert table.__reduce__()[-1].tolist() == seen.tolist()
        return
    assert set(table.pull([0, 1, 2] * 3)) <= {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}


# classes whose states are changed here; the state of a study is its file (see databases.py), and
# that of a running verdict its arguments and scores, checked as such
CLASSES = ({type(make()) for make in EVERY.values()} | {class_of(name) for name in RACES} |
           {pb.betting.ConfidenceSequence, pb.CountRace, pb.environments.TableBandit, pb.Study,
            pb.evaluation.RunningVerdict})
