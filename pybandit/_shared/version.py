"""The version, once: read by setup, the command line, and files that say who made them."""

__version__ = "0.1.0"
