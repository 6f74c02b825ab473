"""The command line: `pybandit`, one file a command."""

from pybandit.cli._main import main

__all__ = ["main"]
