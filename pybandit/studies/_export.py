"""All wells of a study as text, some thousands at a time: however many, the memory is that of
when each was told, and by whom."""

import csv
import io
import math
from array import array
from datetime import UTC, datetime
from functools import lru_cache

import numpy as np

from pybandit._shared.cells import guarded
from pybandit.studies import _counts
from pybandit.studies._count_log import recorded
from pybandit.studies._errors import as_recorded
from pybandit.studies._history import wells_told
from pybandit.studies._journal import MARKS

# what a file of counts has, and when they were told
COUNTED = "key", "arm", "trials", "sum", "told_at", "who"
COLUMNS = "plate", "well", "arm", "value", "state", "told_at", "who"
AT_ONCE = 8192  # wells


def export(study, plates, write):
    """Write all wells of a study as a long table, as it is at one moment; or all its counts.

    Parameters
    ----------
    study : Study
    plates : Plates
    write : callable
        Gets parts of the text, in order: CSV with the columns plate, well, arm, value (what
        the policy was told, empty where nothing was), state, told_at and who. Of a study that
        is told counts key, arm, trials, sum, told_at and who: a file of counts.

    Returns
    -------
    int
        How many wells, or rows of counts.

    Notes
    -----
    O(wells) time, 24 bytes a well and those of the largest batch.
    """
    return study._read(lambda _: (_export_counts(study, write) if is_counted(study) else
                                  _export(study, plates, write)))


def is_counted(study):
    """Whether a study is told counts."""
    return study._read(_counts.is_counted)


def _export_counts(study, write):
    sink = io.StringIO()
    table = csv.writer(sink, lineterminator="\n")
    found = recorded(study)
    columns = ["sums"] + ["squares"] * any("squares" in one.body for one in found.values())
    table.writerow([*COUNTED[:4], *columns[1:], *COUNTED[4:]])
    names, n = [guarded(name) for name in study._names.tolist()], 0
    for key, (_, when, who, body) in found.items():
        rows = [(guarded(key), names[arm], int(body["trials"][arm]),
                 *(plain(body[name][arm]) if name in body else "" for name in columns),
                 moment(when), guarded(who))
                for arm in np.flatnonzero(body["trials"]).tolist()]
        table.writerows(rows)
        n += len(rows)
        _flush(sink, write)
    _flush(sink, write)
    return n


def plain(value):
    """Return a number as text that is read as the same number."""
    return repr(float(value)).removesuffix(".0")


def _export(study, plates, write):
    sink = io.StringIO()
    table = csv.writer(sink, lineterminator="\n")
    table.writerow(COLUMNS)
    told, passed = _Told(study), 0
    names = np.array([guarded(name) for name in study._names.tolist()], dtype=object)
    for wells in study._store.all_wells():
        order = None
        if plates.fill != "rows":
            order = plates.places(wells.number, study._names[wells.arms])
        for start in range(0, wells.arms.size, AT_ONCE):
            cut = slice(start, min(start + AT_ONCE, wells.arms.size))
            table.writerows(_rows(wells, cut, passed, plates, names, told, order))
            if sink.tell() > AT_ONCE:
                _flush(sink, write)
        passed += wells.arms.size
    _flush(sink, write)
    return passed


def _flush(sink, write):
    write(sink.getvalue())
    sink.seek(0)
    sink.truncate()


def _rows(wells, cut, passed, plates, names, told, order):
    """Some wells of a batch, before which so many wells `passed`; its `order`, if drawn."""
    size = wells.arms.size
    plate_names, well_names = plates.names(wells.number, size), plates.layout.wells
    if order is None:
        parts, places = plates.at(np.arange(cut.start, cut.stop))
    else:
        parts, places = np.divmod(order[cut], plates.layout.n_wells)
    times, people = told.of(passed + cut.start, passed + cut.stop)
    states = (["abandoned"] * places.size if wells.status == "abandoned"
              else MARKS[wells.marks[cut]].tolist())
    return zip([plate_names[part] for part in parts.tolist()],
               [well_names[place] for place in places.tolist()], names[wells.arms[cut]],
               ["" if math.isnan(value) else repr(value) for value in wells.values[cut].tolist()],
               states, map(moment, times), people, strict=True)


class _Told:
    """When each well was told, and by whom; wells counted over all batches."""

    def __init__(self, study):
        starts = array("q", [0])
        for size in study._store.sizes():
            starts.append(starts[-1] + size)
        self.times, self.who = np.full(starts[-1], np.nan), np.zeros(starts[-1], dtype=np.int32)
        self.names, numbers = [""], {"": 0}
        for batch, positions, time, who in study._tells():
            if who not in numbers:
                numbers[who] = len(self.names)
                self.names.append(guarded(who))
            with as_recorded(study.path, "log or batches: they do not go together"):
                wells = wells_told(starts, batch, positions)
            self.times[wells], self.who[wells] = time, numbers[who]

    def of(self, start, end):
        """Times and names of some wells; lists."""
        return self.times[start:end].tolist(), [self.names[i] for i in
                                                self.who[start:end].tolist()]


@lru_cache(4096)
def moment(seconds):
    """A time in words, UTC; "" for none."""
    if math.isnan(seconds):
        return ""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
