"""Cells of text files with scores, results or arms: delimiters, missing values, formulas."""

import math
import re
from datetime import UTC, datetime
from functools import lru_cache

DELIMITERS = (",", ";", "\t")
LOST = ("", "na", "n/a", "#n/a", "nan", "null", "none")
# A spreadsheet runs cells that begin like this as formulas.
FORMULA = re.compile(r"'*[=+\-@\t\r]")


def guarded(text):
    """Return a cell that a spreadsheet shows as text: an apostrophe precedes a formula.

    Numbers are unchanged. `unguarded` is the inverse.
    """
    return "'" + text if FORMULA.match(text) and not _is_number(text) else text


def unguarded(text):
    """Return the text that was given to `guarded`."""
    return text[1:] if text[:1] == "'" and FORMULA.match(text) else text


def _is_number(text):
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False


def plain(value):
    """Return a number as text that is read as the same number."""
    return repr(float(value)).removesuffix(".0")


def flush(sink, write):
    """Pass the text of an `io.StringIO` to `write`, and empty it."""
    write(sink.getvalue())
    sink.seek(0)
    sink.truncate()


@lru_cache(4096)
def moment(seconds):
    """Return a time as text, UTC; "" for NaN."""
    if math.isnan(seconds):
        return ""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
