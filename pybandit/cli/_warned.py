"""Warnings of the library, as lines of a command."""

import contextlib
import sys
import warnings


@contextlib.contextmanager
def warned(command):
    """Print the warnings of the body on stderr, once each."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(one.message) for one in found):
        print(f"pybandit {command}: warning: {text}", file=sys.stderr)
