"""Whether another process of this machine is still there; see `_shared.alive`."""

from pybandit._shared.alive import here, is_alive, started

__all__ = ["here", "is_alive", "started"]
