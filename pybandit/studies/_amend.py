"""Amendments at the border: what of one changes anything, what is refused."""

import numpy as np

from pybandit.studies._journal import KNOWN, LATE
from pybandit.studies._tell import check_finite, check_may_lose, placed, well_of
from pybandit.studies.results import AmendResult


def amendment_of(wells, results, positions, reason, policy, names, withdrawn):
    """What is recorded of an amendment, perhaps of no result; and its `AmendResult`.

    `withdrawn` is as in `news_of`: of these wells results are recorded again.

    Raises
    ------
    ValueError, TypeError
        Where there is nothing to amend, or a result is refused; names batch, well and arm.
    """
    if not isinstance(reason, str):
        raise TypeError(f"reason must be text; got {type(reason).__name__}")
    if not reason.strip():
        raise ValueError(f"reason must say why a reading is another; got {reason!r}")
    at, values = placed(wells, results, positions, names)
    check_finite(wells, at, values, names)
    if wells.status == "abandoned":
        raise ValueError(f"batch_id must be that of a batch that was carried out; batch "
                         f"{wells.number} was abandoned")
    lost, before = np.isnan(values), wells.values[at]
    had = (wells.marks[at] == KNOWN) | (wells.marks[at] == LATE)
    without = ~had & ~lost
    if without.any():
        back = without & np.isin(at, list(withdrawn()))
        had, without = had | back, without & ~back
    if without.any():
        well = well_of(wells, at[int(without.argmax())], names)
        raise ValueError(f"positions must be those of results that are recorded; {well} has "
                         "none: tell it")
    if (lost & had).any():
        check_may_lose(wells, policy)
    policy._check_rewards(wells.arms[at], values, "drop")
    new = had & (lost | (values != before))
    result = AmendResult(n_amended=int(new.sum()), n_known=int((~new).sum()))
    return {"batch": wells.number, "positions": at[new], "before": before[new],
            "values": values[new], "reason": reason}, result
