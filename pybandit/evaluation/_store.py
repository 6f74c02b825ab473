"""Store paid scores by model and item as soon as a call returns them.

A mapping of the caller is written to after every call, so that a mapping on the disk loses
nothing. Without one, results are kept in a list, which becomes a mapping if an exception is to
carry them.
"""

import os
import threading
import time
from collections.abc import MutableMapping
from itertools import islice

import numpy as np

from pybandit._shared.checks import shown
from pybandit.evaluation._keys import Keys

POLL = 0.05  # seconds between two look-ups of scores that other processes pay for


class Paid:
    """Paid scores of one evaluation; a cell is a number, or a tuple with one number per part."""

    def __init__(self, cells, parts, keys=None):
        self.cells, self.parts, self.limits = cells, parts, (-np.inf, np.inf)
        self.keys = Keys() if keys is None else keys
        self.shared = hasattr(cells, "claim")  # a file: other processes may use it too
        self._owned = cells is None
        self._calls = []                  # results of blocks, not yet written to `cells`
        # scores of single calls that are not yet written; late ones come from threads
        self._unwritten, self._failures, self._lock = {}, set(), threading.Lock()
        self._dropped = set()             # items whose scores contradicted each other
        for place in cells if isinstance(cells, dict) else list(islice(cells or (), 1)):
            self.keys.check(place, "store")

    def fill(self, values, key, items, call):
        """Fill values (parts, items) from the store; call `call(items)` for the others."""
        # look up keys even in an empty mapping: an unsuitable mapping then fails before a call
        places = []
        if self.cells is not None:
            places = [self.keys.of((*key, item)) for item in items.tolist()]
        new = np.ones(items.size, dtype=bool)
        for row, place in enumerate(places):
            cell = self.cells.get(place)
            if cell is not None:
                values[:, row], new[row] = self._numbers(place, cell), False
        while new.any():
            claimed = self._claimed(new, places)
            if claimed.any():
                results = np.reshape(call(items[claimed]), (len(self.parts), -1))
                self._calls.append((key, items[claimed], results))
                if self.cells is not None:
                    self.cells.update(self._cells_of(*self._calls[-1]))
                    self._calls.pop()
                values[:, claimed], new = results, new & ~claimed
            else:  # other processes are paying for all of them
                time.sleep(POLL)
            for row in np.flatnonzero(new).tolist() if new.any() else ():
                cell = self.cells.get(places[row])
                if cell is not None:
                    values[:, row], new[row] = self._numbers(places[row], cell), False

    def _claimed(self, new, places):
        """Return a mask of the new cells that this process pays for.

        These are all new cells, unless the store is a file.
        """
        if not self.shared:
            return new
        mine = set(self.cells.claim([places[row] for row in np.flatnonzero(new)]))
        return np.array([is_new and place in mine
                         for is_new, place in zip(new.tolist(), places, strict=True)])

    def claim(self, places, most):
        """Claim at most `most` of these places in a shared file; return the claimed ones."""
        by_key = {self.keys.of(place): place for place in places}
        return {by_key[key] for key in self.cells.claim(list(by_key), most)}

    def release(self, places):
        """Give up claims."""
        self.cells.release(list(map(self.keys.of, places)))

    def known(self, place):
        """Return the numbers of a place, one per part, or None."""
        place = self.keys.of(place)
        cell = None if self.cells is None else self.cells.get(place)
        if cell is None:
            return None
        numbers = self._numbers(place, cell)
        return (numbers,) if len(self.parts) == 1 else numbers

    def keep(self, known, failed=()):
        """Store numbers by place before returning.

        If that fails, they are stored together with the next numbers. `failed` are the places
        whose calls failed.
        """
        with self._lock:
            self._unwritten.update({self.keys.of(place): (numbers[0] if len(self.parts) == 1
                                                          else numbers)
                                    for place, numbers in known.items()
                                    if place[-1] not in self._dropped})
            self._failures.update(map(self.keys.of, failed))
            if not self._unwritten:
                return
            if self.cells is None:
                self.cells = {}
            self.cells.update(*((self._unwritten, self._failures) if self.shared
                                else (self._unwritten,)))
            self._unwritten, self._failures = {}, set()

    def drop_refused(self, error):
        """Drop the scores of an item if an exception says that they differ too much.

        Any of them may be wrong.
        """
        item = getattr(error, "refused_item", None) if isinstance(error, ValueError) else None
        if item is None:
            return
        with self._lock:
            self._dropped.add(item)
            label = self.keys.item(item)
            if self.shared:
                self.cells.drop(label)
            for cells in (self._unwritten, () if self.shared else self.cells or ()):
                for place in [place for place in cells if place[-1] == label]:
                    del cells[place]
        error.add_note(f"all scores of item {item} are dropped: the next run requests them again")

    def give(self, error):
        """Attach the paid scores to an exception, with a note."""
        cells = self._handed()
        if not cells:
            return
        if cells is self.cells and self.shared:
            self._attach(error, cells.path)
            error.add_note(f"all paid scores are in {cells.path}: call again with store=")
            return
        if not self._attach(error, cells):
            return
        error.add_note(f"{len(cells):,} {self.parts[0]}s had been paid for: they are in the "
                       "attribute `store` of this exception; pass it as store= to the next call, "
                       "and they are not paid for again")
        if self.shared:
            error.add_note(f"these could not be written to {self.cells.path}, which has the others")

    @staticmethod
    def _attach(error, store):
        """Set the attribute `store` of an exception; return False if it takes no attributes."""
        try:
            error.store = store
        except (AttributeError, TypeError):
            return False
        return True

    def _handed(self):
        """Return the caller's mapping, or a new dict if there is none or a write failed."""
        with self._lock:
            if self._calls:
                cells = {}
                for call in self._calls:
                    cells.update(self._cells_of(*call))
                return cells
            if not (self._owned or self._unwritten):
                return self.cells
            written = () if self.shared or self.cells is None else self.cells
            return {**dict(written), **self._unwritten}

    def keep_running(self, places):
        """Keep the claims of places whose calls go on after the race."""
        if self.shared:
            self.cells.keep_running(map(self.keys.of, places))

    def ended(self, place):
        """Note that a call which outlived the race has ended, with or without an answer."""
        if self.shared:
            self.cells.ended(self.keys.of(place))

    def close(self):
        """Close the file, if there is one; it stays open for calls that go on."""
        if self.shared:
            self.cells.close()

    def _cells_of(self, key, items, results):
        """Return the cells of a call that the race accepts; others are requested again."""
        low, high = self.limits
        fine = np.isfinite(results).all(axis=0) & (results[0] >= low) & (results[0] <= high)
        fine &= (results[1:] >= 0).all(axis=0)  # costs
        fine &= ~np.isin(items, list(self._dropped))
        cells = results[0].tolist() if len(results) == 1 else zip(*results.tolist(), strict=True)
        return {self.keys.of((*key, item)): cell for item, cell, keep in
                zip(items.tolist(), cells, fine.tolist(), strict=True) if keep}

    def _numbers(self, place, cell):
        wanted = "a number" if len(self.parts) == 1 else f"a tuple ({', '.join(self.parts)})"
        try:
            if len(self.parts) == 1:
                return float(cell)
            first, second = cell
            return float(first), float(second)
        except (TypeError, ValueError):
            raise TypeError(f"store must hold {wanted} for each (model, item); got {shown(cell)} "
                            f"for {place}") from None


def store_of(store, source, race, calls, options):
    """Return the `Paid` scores of a source; None for a table, whose scores cost nothing."""
    if calls.version is not None and not isinstance(store, (str, os.PathLike)):
        raise ValueError("version must be left out without a store in a file; got "
                         f"{shown(calls.version)}")
    if source.paid is None:
        if store is not None:
            raise ValueError("store must be left out with a table of scores, which cost nothing; "
                             f"got {shown(store)}")
        return None
    if store is None or isinstance(store, MutableMapping):
        return Paid(store, source.paid.parts, source.keys)
    if not isinstance(store, (str, os.PathLike)):
        raise TypeError("store must be the path of a file, or a mapping that can be written to, "
                        f"of scores by (model, item); got {shown(store)}")
    return Paid(_opened(store, source, race, calls, options), source.paid.parts, source.keys)


def _opened(store, source, race, calls, options):
    """Return the `StoreFile` of a file, which must belong to this evaluation."""
    from pybandit.evaluation._store_file import StoreFile  # SQLite, loaded only if there is a file
    from pybandit.evaluation._store_names import Names

    name = os.fsdecode(store)
    if name in ("", ":memory:") or "\0" in name:  # SQLite opens no file for these, or cuts the name
        raise ValueError("store must be the path of a file on the disk; for scores in memory, pass "
                         f"a dict; got {shown(store)}")
    if source.keys.names is None:
        raise ValueError('models must be names if store is a file, such as ["a", "b"]: '
                         "the meaning of numbers depends on the order; got "
                         f"{source.n_arms}")
    about = {"kind": source.paid.parts[0], "value_range": str(race.value_range),
             "version": calls.version or ""}
    return StoreFile(store, Names(source.keys.names, source.keys.labels, source.n_real_items),
                 len(source.paid.parts) == 2, None if options is None else options.failed, about)
