"""Names of `_shared.alive`, for files of scores."""

from pybandit._shared.alive import here, is_alive, started

__all__ = ["here", "is_alive", "started"]
