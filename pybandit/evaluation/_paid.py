"""What was paid for: scores by model and item, kept from the moment they are there.

A mapping that the user passes is written to after every call, so that one on the disk loses
nothing. Without one the calls are listed, and made a mapping of where an exception needs it.
"""

import os
import threading
import time
from collections.abc import MutableMapping
from itertools import islice

import numpy as np

from pybandit._shared.checks import shown
from pybandit.evaluation._keys import Keys

POLL = 0.05  # seconds between two looks at what others have paid for


class Paid:
    """Calls for what is not known, and keeps it; a cell is a number, or one for each part."""

    def __init__(self, cells, parts, keys=None):
        self.cells, self.parts, self.limits = cells, parts, (-np.inf, np.inf)
        self.keys = Keys() if keys is None else keys
        self.shared = hasattr(cells, "claim")  # with other processes
        self._ours = cells is None
        self._calls = []                  # not written to `cells`
        # nor these, of which some are of failures; threads bring late ones
        self._unwritten, self._failures, self._lock = {}, set(), threading.Lock()
        self._dropped = set()             # items whose scores did not go together
        for place in cells if isinstance(cells, dict) else list(islice(cells or (), 1)):
            self.keys.check(place, "store")

    def fill(self, values, key, items, call):
        """Values (parts, items): those that are known, and what call(items) gives of the rest."""
        # asked even where nothing is known: a mapping that takes no such keys says so before a call
        places = []
        if self.cells is not None:
            places = [self.keys.of((*key, item)) for item in items.tolist()]
        new = np.ones(items.size, dtype=bool)
        for row, place in enumerate(places):
            cell = self.cells.get(place)
            if cell is not None:
                values[:, row], new[row] = self._numbers(place, cell), False
        while new.any():
            ours = self._claimed(new, places)
            if ours.any():
                made = np.reshape(call(items[ours]), (len(self.parts), -1))
                self._calls.append((key, items[ours], made))
                if self.cells is not None:
                    self.cells.update(self._cells_of(*self._calls[-1]))
                    self._calls.pop()
                values[:, ours], new = made, new & ~ours
            else:  # another process is at all of them
                time.sleep(POLL)
            for row in np.flatnonzero(new).tolist() if new.any() else ():
                cell = self.cells.get(places[row])
                if cell is not None:
                    values[:, row], new[row] = self._numbers(places[row], cell), False

    def _claimed(self, new, places):
        """Which of the new cells are ours to pay for: all, but of a file that others share."""
        if not self.shared:
            return new
        mine = set(self.cells.claim([places[row] for row in np.flatnonzero(new)]))
        return np.array([is_new and place in mine
                         for is_new, place in zip(new.tolist(), places, strict=True)])

    def claim(self, places, most):
        """Claim places in a shared file, at most so many; return those that are ours to pay for."""
        by_key = {self.keys.of(place): place for place in places}
        return {by_key[key] for key in self.cells.claim(list(by_key), most)}

    def release(self, places):
        """Give up claims."""
        self.cells.release(list(map(self.keys.of, places)))

    def known(self, place):
        """The numbers of a place, one for each part, or None."""
        place = self.keys.of(place)
        cell = None if self.cells is None else self.cells.get(place)
        if cell is None:
            return None
        numbers = self._numbers(place, cell)
        return (numbers,) if len(self.parts) == 1 else numbers

    def keep(self, known, failed=()):
        """Numbers by place: in the mapping before this returns, or with the next ones.

        `failed` are those of no answers.
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
        """Where an item's scores differ by more than they may, nobody can say which is wrong."""
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
        error.add_note(f"all scores of item {item} are dropped: they will be asked for again")

    def give(self, error):
        """Hand what was paid for to an exception, and say so."""
        cells = self._handed()
        if not cells:
            return
        if cells is self.cells and self.shared:
            self._attach(error, cells.path)
            error.add_note(f"what had been paid for is in {cells.path}: call again with store=")
            return
        if not self._attach(error, cells):
            return
        error.add_note(f"{len(cells):,} {self.parts[0]}s had been paid for: they are in the "
                       "attribute `store` of this exception; call again with store= them, and "
                       "they are not asked for again")
        if self.shared:
            error.add_note(f"those could not be written to {self.cells.path}, which has the others")

    @staticmethod
    def _attach(error, store):
        """Set the attribute `store` of an exception; return False if it has no room for it."""
        try:
            error.store = store
        except (AttributeError, TypeError):
            return False
        return True

    def _handed(self):
        """The mapping that was given; a copy where it is ours, or could not be written to."""
        with self._lock:
            if self._calls:
                cells = {}
                for call in self._calls:
                    cells.update(self._cells_of(*call))
                return cells
            if not (self._ours or self._unwritten):
                return self.cells
            written = () if self.shared or self.cells is None else self.cells
            return {**dict(written), **self._unwritten}

    def keep_running(self, places):
        """Calls of these go on after the race: nobody else is to make them."""
        if self.shared:
            self.cells.keep_running(map(self.keys.of, places))

    def ended(self, place):
        """A call that went on has ended, whatever came of it."""
        if self.shared:
            self.cells.ended(self.keys.of(place))

    def close(self):
        """Give up the file, where there is one; calls that go on keep it."""
        if self.shared:
            self.cells.close()

    def _cells_of(self, key, items, made):
        """What may be told, by place: what is refused is asked for again."""
        low, high = self.limits
        fine = np.isfinite(made).all(axis=0) & (made[0] >= low) & (made[0] <= high)
        fine &= (made[1:] >= 0).all(axis=0)  # costs
        fine &= ~np.isin(items, list(self._dropped))
        cells = made[0].tolist() if len(made) == 1 else zip(*made.tolist(), strict=True)
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
            raise ValueError("store must be left out beside a table of scores, which cost nothing; "
                             f"got {shown(store)}")
        return None
    if store is None or isinstance(store, MutableMapping):
        return Paid(store, source.paid.parts, source.keys)
    if not isinstance(store, (str, os.PathLike)):
        raise TypeError("store must be the path of a file, or a mapping that can be written to, "
                        f"of scores by (model, item); got {shown(store)}")
    return Paid(_opened(store, source, race, calls, options), source.paid.parts, source.keys)


def _opened(store, source, race, calls, options):
    """Return the `Cells` of a file, which must be of this evaluation."""
    from pybandit.evaluation._cell_names import Names
    from pybandit.evaluation._cells import Cells  # SQLite, loaded only if there is a file

    name = os.fsdecode(store)
    if name in ("", ":memory:") or "\0" in name:  # not files for SQLite, or names it cuts
        raise ValueError("store must be the path of a file, which is on the disk; a mapping keeps "
                         f"scores in memory; got {shown(store)}")
    if source.keys.names is None:
        raise ValueError('models must be names beside a store on the disk, as ["a", "b", ...]: '
                         "numbers would change their meaning with the order; got "
                         f"{source.n_arms}")
    about = {"kind": source.paid.parts[0], "value_range": str(race.value_range),
             "version": calls.version or ""}
    return Cells(store, Names(source.keys.names, source.keys.labels, source.n_real_items),
                 len(source.paid.parts) == 2, None if options is None else options.failed, about)
