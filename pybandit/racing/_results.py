"""Functions shared by the results of races, tests and chains.

Compiled results call these functions instead of inheriting them: a type with a base class has no
freelist and takes twice as long to create.
"""

import dataclasses

import numpy as np

from pybandit._shared import records
from pybandit._shared.records import plain


class Record(records.Record):
    """Base class of frozen, slotted dataclasses of numbers and arrays."""

    __slots__ = ()

    def __repr__(self):
        return words(self, [field.name for field in dataclasses.fields(self)])


def values_of(result):
    """Return the fields of a compiled result, in the order of its constructor."""
    return tuple([getattr(result, name) for name in result.__match_args__])


def same(result, other):
    """Return True if two compiled results are equal; NotImplemented if their types differ."""
    if type(other) is not type(result):
        return NotImplemented
    return all(map(np.array_equal, values_of(result), values_of(other)))


def as_dict(result):
    """Return the fields of a compiled result, for JSON."""
    return dict(zip(result.__match_args__, map(plain, values_of(result)), strict=True))


def words(result, names):
    """Return a one-line repr of a result with these attributes; long arrays are abridged."""
    return (f"{type(result).__name__}("
            + ", ".join(f"{name}={_short(getattr(result, name))}" for name in names) + ")")


def _short(value):
    if not isinstance(value, np.ndarray):
        return repr(value)
    if value.ndim != 1:
        return f"<array of shape {value.shape}>"
    return "array(" + np.array2string(value, separator=", ", threshold=6, edgeitems=2,
                                      precision=6, max_line_width=10**6) + ")"
