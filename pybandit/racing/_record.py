"""Records: what results that are frozen dataclasses have in common."""

import dataclasses

import numpy as np


class Record:
    """Base of frozen, slotted dataclasses of numbers and arrays."""

    __slots__ = ()

    def to_dict(self):
        """Return all fields, for JSON: numbers, lists, and None for NaN and infinities."""
        return {field.name: plain(getattr(self, field.name)) for field in dataclasses.fields(self)}

    def __repr__(self):
        return words(self, [field.name for field in dataclasses.fields(self)])


def words(result, names):
    """A result and these attributes in one line; long arrays are abridged."""
    return (f"{type(result).__name__}("
            + ", ".join(f"{name}={_short(getattr(result, name))}" for name in names) + ")")


def plain(value):
    """A number or an array as JSON can hold it."""
    if isinstance(value, np.ndarray):
        return [plain(part) for part in value.tolist()]
    if isinstance(value, list):
        return [plain(part) for part in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _short(value):
    if not isinstance(value, np.ndarray):
        return repr(value)
    if value.ndim != 1:
        return f"<array of shape {value.shape}>"
    return "array(" + np.array2string(value, separator=", ", threshold=6, edgeitems=2,
                                      precision=6, max_line_width=10**6) + ")"
