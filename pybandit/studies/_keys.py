"""The keys under which counts are recorded, without reading the log again for each batch."""

import numpy as np

from pybandit.studies._codec import flat
from pybandit.studies._errors import StudyDamaged


class Keys:
    """The event of each key, of the events that were read so far.

    The log of a file only grows, but for what is taken back of a transaction that fails: what
    was read stays good as long as the last event of it is where it was.
    """

    def __init__(self):
        self._forget()

    def _forget(self):
        self._last, self._numbers = (-1, b""), {}

    def number(self, recorder, key):
        """The number of the event that recorded counts under a key, or None."""
        last = self._last[0]
        rows = recorder._store.events(max(last, 0))
        row = rows.fetchone() if last >= 0 else None
        if last >= 0 and (row is None or (row[0], row[5]) != self._last):
            self._forget()
            rows = recorder._store.events()
        for number, kind, _, _, body, digest in rows:
            if kind == "counts":
                self._numbers.setdefault(counts_of(recorder, number, body)["key"], number)
            self._last = number, digest
        return self._numbers.get(key)


def counts_of(recorder, number, body):
    """What an event says of counts: key, trials and sums are of their types."""
    entry = recorder._entry(f"event {number}", body)
    key, columns = entry.get("key"), (entry.get("trials"), entry.get("sums"))
    if not (type(key) is str and flat(columns, (np.int64, np.float64))
            and columns[0].size <= recorder._names.size):
        raise StudyDamaged(f"{recorder._store.path} is damaged: log: event {number} is none of "
                           "counts")
    return entry
