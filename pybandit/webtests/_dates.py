"""Days and hours as keys of counts: a day has one key in whatever format it is written.

Other keys do not change. ``03/01/2025`` is a date only if the whole file, or the caller,
determines whether the day or the month comes first.
"""

import re
from datetime import UTC, datetime, timedelta, timezone

MONTHS = {name: number for number, names in enumerate(
    ("jan january", "feb february", "mar march", "apr april", "may", "jun june", "jul july",
     "aug august", "sep sept september", "oct october", "nov november", "dec december"), 1)
    for name in names.split()}
TIME = (r"(?:(?:T|,?\s+)(?P<hour>\d{1,2})(?:[:h](?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d+)?"
        r")?|h|(?=\s*[ap]\.?m|$))\s*(?P<half>[ap])?(?:\.?m\.?)?\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}"
        r"(?::?\d{2})?)?)?")
WEEKDAY = r"(?:[a-z]+day|mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun)"
DATES = [re.compile(pattern + TIME, re.IGNORECASE) for pattern in (
    r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})",
    r"(?P<year>(?:19|20)\d{2})(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])",
    r"(?P<year>\d{4})年(?P<month>\d{1,2})月(?P<day>\d{1,2})日",
    # with dots the day always comes first
    r"(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4}|\d{2})",
    rf"(?:{WEEKDAY},?\s+)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[-\s](?P<name>[a-z]+)\.?[-,\s]+"
    r"(?P<year>\d{4}|\d{2})",
    rf"(?:{WEEKDAY},?\s+)?(?P<name>[a-z]+)\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+"
    r"(?P<year>\d{4})")]
HOURS = re.compile(r"(?P<year>(?:19|20)\d{2})(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])"
                   r"(?P<hour>[01]\d|2[0-3])")
UNORDERED = re.compile(r"(?P<one>\d{1,2})(?P<mark>[-/])(?P<two>\d{1,2})(?P=mark)"
                       r"(?P<year>\d{4}|\d{2})" + TIME, re.IGNORECASE)
WEEK = re.compile(r"(\d{4})-?W(\d{1,2})", re.IGNORECASE)


def is_date(key):
    """Return True if a key is a day or an hour as `date_key` writes it."""
    return re.fullmatch(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?Z?)?", key) is not None


def day_first_in(texts):
    """Return True if the day comes first in dates like 03/01/2025; None if it is unknown.

    Raises
    ------
    ValueError
        If some dates have the day first and others the month; the message names one of each.
    """
    first, last = None, None
    for text in texts:
        found = UNORDERED.fullmatch(text.strip())
        if found and int(found["one"]) > 12:
            first = text
        elif found and int(found["two"]) > 12:
            last = text
    if first is not None and last is not None:
        raise ValueError(f"dates must all have the day first or all the month; got {first!r} and "
                         f"{last!r}")
    return None if first is last is None else first is not None


def date_key(text, day_first=None):
    """Return the key of a day or an hour, or any other text without leading and trailing blanks.

    Days are written ``2025-01-03`` and hours ``2025-01-03T14:00``. If the text names a time zone,
    the key is in UTC and ends in ``Z``. Midnight without a zone is the day.

    Parameters
    ----------
    text : str
    day_first : bool or None
        True if the day comes first in dates like 03/01/2025; None if unknown.

    Raises
    ------
    ValueError
        If the date does not exist or is ambiguous.
    """
    given, text = text.strip(), " ".join(text.split())
    week = WEEK.fullmatch(text)
    if week:
        return f"{week[1]}-W{int(week[2]):02}"
    found = UNORDERED.fullmatch(text)
    if found:
        return _written(text, found, _ordered(text, found, day_first))
    for pattern in (HOURS, *DATES):
        found = pattern.fullmatch(text)
        parts = found.groupdict() if found else {}
        if found and parts.get("name", "jan").casefold() in MONTHS:
            month = MONTHS[parts["name"].casefold()] if "name" in parts else int(parts["month"])
            return _written(text, found, (_year(found), month, int(found["day"])))
    return given


def _year(found):
    return int(found["year"]) + 2000 * (len(found["year"]) == 2)


def _ordered(text, found, day_first):
    """Return year, month and day of a date like 03/01/2025."""
    one, two = int(found["one"]), int(found["two"])
    if len(found["year"]) == 2 and found["mark"] == "-":
        raise ValueError(f"dates must have a year of four digits; got {text!r}")
    if day_first is None and one != two and max(one, two) <= 12:
        year = _year(found)
        raise ValueError(f"dates must say which part is the day; got {text!r}: write "
                         f"{year}-{two:02}-{one:02} or {year}-{one:02}-{two:02}")
    if day_first is None:
        day_first = one > 12
    day, month = (one, two) if day_first else (two, one)
    return _year(found), month, day


def _written(text, found, date):
    """Return the key of a date and the time of a match."""
    parts = found.groupdict()
    hour, minute, second = (int(parts.get(name) or 0) for name in ("hour", "minute", "second"))
    if parts.get("half"):
        hour = hour % 12 + 12 * (parts["half"].casefold() == "p")
    try:
        moment = datetime(*date, hour, minute, second)
    except ValueError as error:
        raise ValueError(f"dates must exist; got {text!r}: {error}") from None
    zone = parts.get("zone")
    if zone:
        moment = _in_utc(moment, zone)
    if not zone and not (hour or minute or second):
        return f"{moment:%Y-%m-%d}"
    form = "%Y-%m-%dT%H:%M" + ":%S" * bool(second) + "Z" * bool(zone)
    return moment.strftime(form)


def _in_utc(moment, zone):
    if zone[0] in "+-":
        digits = zone[1:].replace(":", "").ljust(4, "0")
        offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
        moment = moment.replace(tzinfo=timezone(-offset if zone[0] == "-" else offset))
        return moment.astimezone(UTC)
    return moment
