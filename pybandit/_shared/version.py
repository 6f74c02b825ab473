"""The version, used by setup, the command line, and files that record it."""

__version__ = "0.1.0"
