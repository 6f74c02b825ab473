"""Text that commands print: warnings, short names, tables."""

import contextlib
import sys
import warnings

NAME_WIDTH = 40  # characters


@contextlib.contextmanager
def warned(command):
    """Print the warnings of the body on stderr, once each."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(one.message) for one in found):
        print(f"pybandit {command}: warning: {text}", file=sys.stderr)


def short(name):
    """Return a name on one line, cut after `NAME_WIDTH` characters."""
    name = " ".join(name.split())
    return name if len(name) <= NAME_WIDTH else name[:NAME_WIDTH - 1] + "…"


def aligned(rows, signs):
    """Yield the lines of a table of text; `signs` has < or > for each column."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(f"{cell:{sign}{width}}" for cell, sign, width in
                        zip(row, signs, widths, strict=True)).rstrip()
