"""Warnings that point to the user's line that called pybandit."""

import sys
import warnings

from pybandit._shared.errors import PybanditWarning


def warn(message, category=PybanditWarning):
    """Warn, with the location of the first frame outside pybandit."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and (
            frame.f_globals.get("__name__", "").partition(".")[0] == "pybandit"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
