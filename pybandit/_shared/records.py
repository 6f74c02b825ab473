"""Records: base class of results, which are frozen dataclasses."""

import math
from dataclasses import fields
from typing import Any

import numpy as np


def plain(value):
    """Convert a value for JSON: to lists, dicts, text, finite numbers and None."""
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
    """Base class of results, which are frozen dataclasses."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON, as lists, dicts, text, numbers and None.

        NaN and infinities, which JSON lacks, become None.
        """
        return {one.name: plain(getattr(self, one.name)) for one in fields(self)}
