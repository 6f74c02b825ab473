"""Fields, identifiers, scores and choices of log files, for all readers."""

import hashlib
import json
import math
from typing import Any, NamedTuple

from pybandit._shared.errors import UnreadableFileError
from pybandit.tables._text import listed, short

KINDS = {dict: "an object", list: "a list", str: "text", bool: "true or false",
         int: "an integer", float: "a number", type(None): "null"}


class Choice(NamedTuple):
    """Options for log files.

    Attributes
    ----------
    metric, filter : tuple of str
        Names of the metric and the filter to read, one per task.
    failed : {None, "skip"} or float
        The score of failed items; "skip" leaves out items without a score; None refuses them.
    """

    metric: Any = ()
    filter: Any = ()
    failed: Any = None


class Score(NamedTuple):
    """A score of a model on an item of a log file.

    Attributes
    ----------
    model, item : str
    value : float
        NaN if it is lost.
    line : int or None
        The line of the file.
    task : str
    epoch : object
    content : (str, object) or None
        The form and the content of the item. Contents of the same form are compared between
        files. None if the file has no content.
    is_missing : bool
        For a NaN value: True if the log has no record of the item, False if the log says that
        the item failed. False if there is a score.
    measure : tuple of str
        The metric and the filter of the score.
    lower : bool or None
        True if the log states that lower scores are better; None if it states nothing.
    """

    model: str
    item: str
    value: float
    line: Any = None
    task: str = ""
    epoch: Any = None
    content: Any = None
    is_missing: bool = False
    measure: Any = ()
    lower: Any = None


def field(value, *names, kind):
    """Return the field of this name in an object, or of several names in nested objects."""
    for name in names:
        if not isinstance(value, dict) or name not in value:
            raise UnreadableFileError(f"must have a field {'.'.join(names)}; got {short(value)}")
        value = value[name]
    if not isinstance(value, kind):
        raise UnreadableFileError(f"{'.'.join(names)} must be {KINDS[kind]}; got {short(value)}")
    return value


def objects(values, what):
    """Return a list of objects.

    Raises UnreadableFileError if `values` is not a list, or has another value; the message then
    has the place of that value.
    """
    if not isinstance(values, list):
        raise UnreadableFileError(f"{what} must be a list; got {short(values)}")
    for at, value in enumerate(values, 1):
        if not isinstance(value, dict):
            raise UnreadableFileError(f"{what} must be objects; got {short(value)} at place {at}")
    return values


def identifier(value, what):
    """Return a name or a number as text."""
    if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
        raise UnreadableFileError(f"{what} must be text or an integer; got {short(value)}")
    return str(value)


def score_of(value):
    """Return a number as a float, NaN for null, or the reason why it is not a score, as text."""
    if value is None:
        return math.nan
    if isinstance(value, (bool, int, float)):
        try:
            return float(value)
        except OverflowError:
            return "an integer of more than 308 digits"
    return f"{KINDS.get(type(value), 'something else')}, {short(value)}"


def checked_score(score, metric, place):
    """Return the float of `score_of`; raise UnreadableFileError for other values."""
    if isinstance(score, str):
        raise UnreadableFileError(f"{place}: metric {short(metric)} must be a number for each "
                                  f"item; got {score}: such a metric has no score per item")
    return score


def chosen(what, option, names, given, default=None):
    """Return the name to read among `names`: the only one, the default, or the one given.

    Parameters
    ----------
    what : str
        Names in words, for messages: "metrics of task sums".
    option : {"metric", "filter"}
    names : iterable of str
    given : tuple of str
        Names that the caller gave; exactly one must be among `names`.
    default : str, optional
    """
    names = list(dict.fromkeys(names))
    if not names:
        raise UnreadableFileError(f"there must be {what}; got none")
    if not given:
        if default is not None or len(names) == 1:
            return names[0] if default is None else default
        raise UnreadableFileError(f"there are several {what}: {listed(names)}; {option}= or "
                                  f"--{option} selects one")
    among = [name for name in names if name in given]
    if len(among) == 1:
        return among[0]
    wrong = "several of them" if among else "none of them"
    raise UnreadableFileError(f"{option} must name one of the {what}: {listed(names)}; got "
                              f"{listed(list(given))}, {wrong}")


def digest(value):
    """Return a short key that is equal for equal JSON values."""
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
