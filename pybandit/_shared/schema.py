"""Declare the contents of saved states, and check a state completely before it is restored.

A class lists its entries, each with its kind, shape and range, and its invariants. Shapes and
limits of ranges are numbers or names: names of sizes of the object that is restored, or of earlier
entries. A size without a value yet is taken from the first array that has it. An invariant is a
function of all sizes and entries; its docstring is the error message, with names in braces.

    SCHEMA = Schema([integer("stage", 0, "n_stages"), finite("sums", shape=("n_arms",))],
                    invariants=[stages_fit_pulls])
"""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

KINDS = {np.int64: ("iu", "integers"), np.float64: ("iuf", "numbers"),
         np.bool_: ("biu", "flags"), np.uint64: ("iu", "integers")}


@dataclass(frozen=True)
class Entry:
    """One entry of a state. If dtype is None, any value is accepted here.

    `only_if` names a size or an earlier entry. If its value is False or None, this entry must be
    None.
    """

    name: str
    dtype: Any
    low: Any = None
    high: Any = None
    shape: tuple = ()
    nan: bool = False
    only_if: str | None = None

    def taken(self, values, known):
        """Return the checked entry of `values`, a number or a new array."""
        if self.name not in values:
            raise ValueError(f"state must hold {self.name}; got none")
        if self.only_if is not None and known[self.only_if] in (None, False):
            if values[self.name] is not None:
                raise ValueError(f"state must hold no {self.name} without {self.only_if}; got "
                                 f"{repr(values[self.name])[:60]}")
            return None
        if self.dtype is None:
            return values[self.name]
        low, high = _found(self.low, known), _found(self.high, known)
        array = self._as_array(values[self.name], known, low, high)
        self._check_range(array, low, high)
        array = array.astype(self.dtype, copy=False)
        return array if array.ndim else array.item()

    def _as_array(self, value, known, low, high):
        try:
            array = np.array(np.asarray(value), order="C")  # one copy, which is checked and used
        except (ValueError, TypeError, OverflowError):
            array = np.asarray(None)
        if array.ndim == len(self.shape):
            for size, length in zip(self.shape, array.shape, strict=True):
                if isinstance(size, str):
                    known.setdefault(size, length)
        shape = tuple(known.get(size, size) for size in self.shape)
        if array.shape != shape:
            raise ValueError(f"state must hold {self.name} of shape {shape}; got {array.shape}")
        kinds, words = KINDS[self.dtype]
        if array.dtype.kind not in kinds:
            shown = repr(value)
            raise ValueError(f"state must hold {self._expected(low, high)}: {words} are "
                             f"required; got {shown[:60]}")
        if array.dtype.kind == "f":  # limits are 64-bit numbers
            with np.errstate(over="ignore"):
                array = array.astype(np.float64, copy=False)
        return array

    def _check_range(self, array, low, high):
        # comparisons with NaN are false
        bad = ~((array >= low) & (array <= high))
        if self.nan:
            bad &= ~np.isnan(array.astype(float))
        if bad.any():
            at = f" at index {int(np.argmax(bad.ravel()))}" if array.ndim else ""
            raise ValueError(f"state must hold {self._expected(low, high)}; got "
                             f"{array[bad].flat[0]}{at}")

    def _expected(self, low, high):
        if (low, high) == FINITE:
            return f"finite numbers in {self.name}"
        return f"{self.name} in [{low}, {high}]"


def _found(end, known):
    """Return a limit: a number, or the value of a name."""
    while isinstance(end, str):
        end = known[end]
    return end


LARGEST = np.finfo(np.float64).max
FINITE = -LARGEST, LARGEST


def integer(name, low, high, shape=(), only_if=None):
    """Declare an integer, or an array of integers, in [low, high]."""
    return Entry(name, np.int64, low, high, shape, only_if=only_if)


def finite(name, low=-LARGEST, high=LARGEST, shape=()):
    """Declare a finite number, or an array of finite numbers, in [low, high]."""
    return Entry(name, np.float64, low, high, shape)


def number(name, low=-np.inf, high=np.inf, shape=(), nan=True, only_if=None):
    """Declare a number or an array, possibly infinite, and possibly NaN unless `nan` is False."""
    return Entry(name, np.float64, low, high, shape, nan, only_if)


def flag(name, shape=()):
    """Declare a flag, or an array of flags."""
    return Entry(name, np.bool_, 0, 1, shape)


class _Stream(Entry):
    """The state of a PCG64. An even increment might repeat one number indefinitely."""

    def taken(self, values, known):
        """Also check that the increment is odd, as it is after seeding."""
        words = super().taken(values, known)
        if not words[3] & np.uint64(1):
            raise ValueError(f"state must hold a stream with an odd increment in {self.name}; got "
                             f"{words[3]} at index 3")
        return words


def stream(name="stream"):
    """Declare the state of a policy's stream, as `generators.stream_state` returns it."""
    return _Stream(name, np.uint64, 0, 2**64 - 1, (6,))


def anything(name):
    """Declare an entry that is checked elsewhere."""
    return Entry(name, None)


class Schema:
    """The entries and invariants of a class's state.

    Parameters
    ----------
    entries : list of Entry
        Entries of the state itself, or of its part "progress" if `base` is given.
    base : Schema, optional
        Schema of the base class.
    invariants : list of callable
        Functions of a namespace of sizes and entries; each docstring states the requirement.
    """

    def __init__(self, entries, base=None, invariants=()):
        self.top = base.top if base else tuple(entries)
        self.progress = base.progress + tuple(entries) if base else ()
        self.invariants = (base.invariants if base else ()) + tuple(invariants)

    def checked(self, state, sizes):
        """Return the checked entries by name, from which an object is restored."""
        known = self._taken("progress", ((state, self.top), (state.get("progress"),
                                                             self.progress)), sizes)
        # entries that are not declared are passed on unchanged
        return {**state["progress"], **known}

    def checked_part(self, name, part, sizes):
        """Return the checked entries of `part`, a dict in a state; for a schema without a base."""
        return self._taken(name, ((part, self.top),), sizes)

    def _taken(self, name, parts, sizes):
        known = dict(sizes)
        for part, entries in parts:
            if not isinstance(part, dict):
                raise ValueError(f"state must hold {name}, a dict; got {repr(part)[:60]}")
            for entry in entries:
                known[entry.name] = entry.taken(part, known)
        everything = SimpleNamespace(**known)
        for holds in self.invariants:
            with np.errstate(all="ignore"):  # values that overflow violate an invariant
                held = holds(everything)
            if not held:
                words = " ".join(holds.__doc__.split()).format_map(known)
                raise ValueError(f"state must hold {words}; it does not")
        return known


def check_size(options, pulls):
    """Refuse a wrong number of arms or estimators before memory is allocated for them."""
    if "n_arms" in options and np.shape(pulls) != (options["n_arms"],):
        raise ValueError(f"state must hold pulls of shape ({options['n_arms']},); got "
                         f"{np.shape(pulls)}")


def made_from(cls, state):
    """Return a new object of a class with the options of a state, not restored yet."""
    if not isinstance(state, dict):
        raise ValueError(f"state must be a dict, as get_state makes it; got {repr(state)[:60]}")
    absent = {"type", "options", "progress"} - set(state)
    if absent:
        raise ValueError(f"state must hold {', '.join(sorted(absent))}; got none")
    if state["type"] != cls.__name__:
        raise ValueError(f"state must be that of a {cls.__name__}; got one of a {state['type']}")
    options = state["options"]
    if not isinstance(options, dict) or not all(isinstance(name, str) for name in options):
        raise ValueError(f"state must hold options, a dict; got {repr(options)[:60]}")
    check_size(options, state.get("pulls"))
    try:
        return cls(**options)
    except (TypeError, MemoryError, OverflowError, np.linalg.LinAlgError) as error:
        raise ValueError(f"state must hold valid options of a {cls.__name__}: {error}"
                         ) from error
