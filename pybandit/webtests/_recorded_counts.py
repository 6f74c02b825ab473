"""Present counts of the batches in a study's log, by their keys."""

import csv
import io
from typing import NamedTuple

import numpy as np

from pybandit._shared.cells import flush, guarded, moment, plain
from pybandit._shared.checks import MOST_PULLS
from pybandit._shared.errors import StudyDamagedError
from pybandit.studies._codec import flat

KINDS = "counts", "amend"
COLUMNS = "trials", "sums", "squares"


class Recorded(NamedTuple):
    """A batch of counts: number, time, author and body of its last event."""

    event: int
    when: float
    who: str
    body: dict


def put(found, recorder, row):
    """Add an event of the log to `found`, a dict of batches by key; other events are skipped."""
    number, kind, when, who, content, _ = row
    if kind not in KINDS:
        return
    body = counts_of(recorder, number, content)
    if (body["key"] in found) != (kind == "amend"):
        raise StudyDamagedError(f"{recorder._store.path} is damaged: log: event {number} does not "
                                "fit the counts before it")
    found[body["key"]] = Recorded(number, when, who, body)


def recorded(recorder):
    """Return all batches, a dict of `Recorded` by key, in the order of the log."""
    found = {}
    for row in recorder._store.events():
        put(found, recorder, row)
    return found


class Keys:
    """Cache of the batches in a log.

    A log only grows, except when a failed transaction is rolled back. The cache is therefore valid
    as long as the last event that it has read is still in its place.

    Attributes
    ----------
    found : dict of str to Recorded
        Batches by key, in the order of the log.
    """

    def __init__(self):
        self._forget()

    def _forget(self):
        self._last, self.found = (-1, b""), {}

    def known(self, recorder):
        """Return `found`, brought up to date with the log."""
        last = self._last[0]
        rows = recorder._store.events(max(last, 0))
        row = rows.fetchone() if last >= 0 else None
        if last >= 0 and (row is None or (row[0], row[5]) != self._last):
            self._forget()
            rows = recorder._store.events()
        for row in rows:
            put(self.found, recorder, row)
            self._last = row[0], row[5]
        return self.found


def amendments(recorder):
    """Yield, for each amendment, the corrected `Recorded` and the body before the correction."""
    found = {}
    for row in recorder._store.events():
        before = found.copy() if row[1] == "amend" else None
        put(found, recorder, row)
        if before is not None:
            key = counts_of(recorder, row[0], row[4])["key"]
            yield found[key], before[key].body


def counts_of(recorder, number, content):
    """Return the body of an event of counts, checked: key, trials, sums, optional squares."""
    entry = recorder._entry(f"event {number}", content)
    columns = [entry.get(name) for name in COLUMNS if name != "squares" or name in entry]
    kinds = (np.int64, np.float64, np.float64)[:len(columns)]
    if not (type(entry.get("key")) is str and type(entry.get("reason", "")) is str
            and flat(columns, kinds) and columns[0].size <= recorder._names.size
            and (columns[0] >= 0).all() and (columns[0] <= MOST_PULLS).all()
            and all(np.isfinite(one).all() for one in columns[1:])):
        raise StudyDamagedError(f"{recorder._store.path} is damaged: log: event {number} does not "
                                "hold counts")
    return entry


def wide(body, n_arms):
    """Return trials, sums and squares (or None) of `n_arms` arms; 0 before an arm was added."""
    def padded(values):
        return None if values is None else np.append(
            values, np.zeros(n_arms - values.size, dtype=values.dtype))

    return tuple(padded(body.get(name)) for name in COLUMNS)


def same(one, other):
    """Return a mask of the arms whose counts are equal in two batches.

    If only one batch has squares, the sums of the other count as its squares.
    """
    equal = (one[0] == other[0]) & (one[1] == other[1])
    if one[2] is not None or other[2] is not None:
        equal &= _squares(one) == _squares(other)
    return equal


def _squares(columns):
    return columns[1] if columns[2] is None else columns[2]


def export(test, write):
    """Write all counts of a test, as they are at one moment, as a table.

    Parameters
    ----------
    test : WebTest
    write : callable
        Receives parts of the text, in order: CSV with the columns key, arm, trials, sum, squares
        (if any are recorded), told_at and who.

    Returns
    -------
    int
        Number of rows.
    """
    return test._read(lambda _: _export(test.study, write))


def _export(study, write):
    sink = io.StringIO()
    table = csv.writer(sink, lineterminator="\n")
    found = recorded(study)
    columns = ["sums"] + ["squares"] * any("squares" in one.body for one in found.values())
    table.writerow(["key", "arm", "trials", "sum", *columns[1:], "told_at", "who"])
    names, n = [guarded(name) for name in study._names.tolist()], 0
    for key, (_, when, who, body) in found.items():
        rows = [(guarded(key), names[arm], int(body["trials"][arm]),
                 *(plain(body[name][arm]) if name in body else "" for name in columns),
                 moment(when), guarded(who))
                for arm in np.flatnonzero(body["trials"]).tolist()]
        table.writerows(rows)
        n += len(rows)
        flush(sink, write)
    flush(sink, write)
    return n
