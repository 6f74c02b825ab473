"""Write all wells of a study as text, a few thousand at a time.

Only time and author of the results are held in memory for all wells at once.
"""

import csv
import io
import math
from array import array

import numpy as np

from pybandit._shared.cells import flush, guarded, moment
from pybandit._shared.database_errors import as_recorded
from pybandit.lab._normalise import recorded_readings
from pybandit.lab.controls import kept_by_batch
from pybandit.studies._history import wells_told
from pybandit.studies._journal import MARKS

COLUMNS = "plate", "well", "arm", "value", "state", "told_at", "who", "reward"
AT_ONCE = 8192  # wells


def export(study, plates, write, batch=None):
    """Write all wells of a study, as they are at one moment, as a long table.

    Parameters
    ----------
    study : Study
    plates : Plates
    write : callable
        Receives parts of the text, in order: CSV with the columns plate, well, arm, value (the
        reading; empty if there is none), state, told_at, who and reward (the number that the
        policy received). The controls of a batch follow its arms.
    batch : int, optional
        Write only the wells of this batch.

    Returns
    -------
    int
        Number of wells, controls included.

    Notes
    -----
    Reading a batch of the table again with `record` or `amend` changes nothing. Results that
    were reported from Python have no readings: `value` is then computed from the reward if
    rewards differ from readings at most in sign, and is empty otherwise.

    Takes O(wells) time, and memory for 24 bytes per well, 8 bytes per reading and the largest
    batch.
    """
    if batch is not None:
        study.batch(batch)  # raises an error if there is none
    return study._read(lambda _: _export(study, plates, write, batch))


def _export(study, plates, write, batch):
    sink = io.StringIO()
    table = csv.writer(sink, lineterminator="\n")
    table.writerow(COLUMNS)
    told, passed, n = _Reports(study), 0, 0
    names = np.array([guarded(name) for name in study._names.tolist()], dtype=object)
    kept = kept_by_batch(study)
    for wells in study._store.all_wells():
        if batch in (None, wells.number):
            of_batch = study._names[wells.arms]
            places = plates.places(wells.number, of_batch)
            readings = recorded_readings(plates, wells.number, of_batch, wells.values,
                                         kept.get(wells.number, {}))
            for start in range(0, wells.arms.size, AT_ONCE):
                cut = slice(start, min(start + AT_ONCE, wells.arms.size))
                table.writerows(_rows(wells, cut, passed, plates, names, told, places, readings))
                if sink.tell() > AT_ONCE:
                    flush(sink, write)
            controls = list(_control_rows(plates, wells.number, wells.arms.size, readings))
            table.writerows(controls)
            n += wells.arms.size + len(controls)
        passed += wells.arms.size
    flush(sink, write)
    return n


def _rows(wells, cut, passed, plates, names, told, places, readings):
    """Return rows of some wells of a batch; `passed` wells are in earlier batches."""
    plate_names, well_names = plates.names(wells.number, wells.arms.size), plates.layout.wells
    parts, positions = np.divmod(places[cut], plates.layout.n_wells)
    times, people = told.of(passed + cut.start, passed + cut.stop)
    states = (["abandoned"] * positions.size if wells.status == "abandoned"
              else MARKS[wells.marks[cut]].tolist())
    return zip([plate_names[part] for part in parts.tolist()],
               [well_names[position] for position in positions.tolist()], names[wells.arms[cut]],
               _texts(readings[places[cut]]), states, map(moment, times), people,
               _texts(wells.values[cut]), strict=True)


def _control_rows(plates, batch, size, readings):
    """Yield rows of the control wells on all plates of a batch of `size` arms."""
    labels = dict.fromkeys(plates.controls, guarded(plates.label))
    labels |= dict.fromkeys(plates.positives, guarded(plates.positive_label))
    for part, plate in enumerate(plates.names(batch, size)):
        start = part * plates.layout.n_wells
        for position in sorted(labels):
            value, = _texts(readings[[start + position]])
            yield (plate, plates.layout.wells[position], labels[position], value, "control", "",
                   "", "")


def _texts(values):
    return ["" if math.isnan(value) else repr(value) for value in values.tolist()]


class _Reports:
    """Time and author of each result; wells are counted over all batches."""

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
            with as_recorded(study.path, "log and batches do not match"):
                wells = wells_told(starts, batch, positions)
            self.times[wells], self.who[wells] = time, numbers[who]

    def of(self, start, end):
        """Return times and authors of a range of wells; lists."""
        return self.times[start:end].tolist(), [self.names[i] for i in
                                                self.who[start:end].tolist()]
