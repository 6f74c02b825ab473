"""Records: frozen results with named fields, which can grow."""

import math
from dataclasses import fields
from typing import Any

import numpy as np


def plain(value):
    """Return a value as JSON takes it: lists, dicts, text, finite numbers and None."""
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(one) for one in value]
    return value.hex() if isinstance(value, bytes) else value


class Record:
    """Base class of frozen dataclasses that are results."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as lists, dicts, text, numbers and None, for JSON.

        NaN and infinities, which JSON does not have, are None.
        """
        return {one.name: plain(getattr(self, one.name)) for one in fields(self)}
