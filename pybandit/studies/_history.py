"""Table of all wells of a study."""

import importlib.util

import numpy as np

from pybandit.studies._codec import flat
from pybandit.studies._journal import MARKS
from pybandit.studies._races import RacePolicy


def history_of(wells, tells, names, policy):
    """Return one row per well: a DataFrame if pandas is installed, else a dict of arrays.

    `wells` are all batches in order. `tells` has (batch, positions, time, who) for each event
    that reported or amended results.
    """
    wells = list(wells)
    starts = np.concatenate([[0], np.cumsum([one.arms.size for one in wells])]).astype(np.int64)
    times, people = np.full(starts[-1], np.nan), np.full(starts[-1], "", dtype=object)
    for batch, positions, time, who in tells:
        told = wells_told(starts, batch, positions)
        times[told], people[told] = time, who
    arms = _joined([one.arms for one in wells], np.int64)
    columns = {
        "batch": np.repeat(np.array([one.number for one in wells], dtype=np.int64),
                           np.diff(starts)),
        "position": np.arange(starts[-1]) - np.repeat(starts[:-1], np.diff(starts)),
        "arm": arms,
        "name": names[arms],
        "value": _joined([one.values for one in wells], np.float64),
        "state": _joined([_states_of(one) for one in wells], object),
        "told_at": times,
        "who": people,
    }
    if isinstance(policy, RacePolicy):
        items = policy.items_of((one.arms, one.status) for one in wells)
        columns["item"] = _joined(list(items), np.int64)
    if importlib.util.find_spec("pandas") is None:
        return columns
    import pandas as pd

    return pd.DataFrame(columns)


def wells_told(starts, batch, positions):
    """Return the rows of an event's wells in the table; batch i begins at row `starts[i]`."""
    if not (type(batch) is int and 0 <= batch < len(starts) - 1 and flat([positions], [np.int64])
            and ((positions >= 0) & (positions < starts[batch + 1] - starts[batch])).all()):
        raise IndexError(f"an event has results of wells that are not in batch {batch!r}")
    return starts[batch] + positions


def _states_of(wells):
    states = MARKS[wells.marks].astype(object)
    if wells.status == "abandoned":
        states[:] = "abandoned"
    return states


def _joined(arrays, dtype):
    return np.concatenate([np.empty(0, dtype=dtype), *arrays])
