"""The batches of counts by key, without reading the log again for each new one."""

from pybandit.webtests._log import put


class Keys:
    """Batches of the events that were read so far.

    The log of a file only grows, but for what is taken back of a transaction that fails: what
    was read stays good as long as the last event of it is where it was.

    Attributes
    ----------
    found : dict of str to Recorded
        In the order of the log.
    """

    def __init__(self):
        self._forget()

    def _forget(self):
        self._last, self.found = (-1, b""), {}

    def known(self, recorder):
        """Return `found`, of all events that there are now."""
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
