"""One batch of a study, open or over."""

from typing import NamedTuple

import numpy as np

from pybandit.studies._journal import MARKS


class BatchRecord(NamedTuple):
    """What is recorded of a batch.

    Attributes
    ----------
    id : int
    names : list of str
        Of its arms.
    status : {"open", "complete", "closed", "abandoned"}
    values : ndarray of float64, shape (n,)
        NaN where not known.
    states : ndarray of str, shape (n,)
        "open", "known", "lost" or "late".
    """

    id: int
    names: list[str]
    status: str
    values: np.ndarray
    states: np.ndarray


def batch_of(study, batch_id):
    """The batch of an id; ``ValueError`` where there is none."""
    with study._reading():
        wells = study._wells(batch_id)
        return BatchRecord(wells.number, study._names[wells.arms].tolist(), wells.status,
                           wells.values.copy(), MARKS[wells.marks])
