"""All counts of a web test as text."""

import csv
import io

import numpy as np

from pybandit._shared.cells import flush, guarded, moment, plain
from pybandit.webtests._log import recorded

# a file of counts, with the time and the author of each batch
COLUMNS = "key", "arm", "trials", "sum", "told_at", "who"


def export(test, write):
    """Write all counts of a test as a table, as it is at one moment.

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
    table.writerow([*COLUMNS[:4], *columns[1:], *COLUMNS[4:]])
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
