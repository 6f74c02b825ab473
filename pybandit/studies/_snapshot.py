"""Snapshots of a study: the policy's state after some event, and the progress at that time.

The log is complete; a snapshot only saves replaying it from the first event. A small state is
stored with every event. A larger one is stored once the log has grown by a share of its size, so
that an event costs a constant share of its own size on average, or once replaying the events since
the last snapshot takes as long as a snapshot. The events since then are replayed when the study is
opened.
"""

import time
from typing import NamedTuple

import numpy as np

from pybandit.studies._codec import decode, encode
from pybandit.studies._journal import Progress, Wells
from pybandit.studies._rows import check_batch, check_late

SMALL = 1 << 16       # bytes of a state that is stored with every event
SHARE = 16            # a larger one is stored once the log has grown by size / SHARE bytes,
PATIENCE = 0.1        # or once its events took so many seconds, and as many as the last snapshot


class Snapshot(NamedTuple):
    """A stored state.

    `n_events` is the number of events that it includes, `state` the digest of the policy's state.
    `progress` holds the rest of the study's progress, encoded; it is empty if later events are
    stored with a new snapshot.
    """

    n_events: int
    state: bytes
    progress: bytes


class Pace:
    """Decides when the next snapshot is due.

    Attributes
    ----------
    size : int
        Bytes of the last snapshot.
    seconds : float
        Time that it took.
    n_bytes : int
        Bytes of the events since then.
    spent : float
        Seconds for which the policy has worked on these events.
    """

    def __init__(self, size=0, seconds=0.0, n_bytes=0, spent=0.0):
        self.size, self.seconds, self.n_bytes, self.spent = size, seconds, n_bytes, spent

    def add(self, n_bytes, seconds):
        """Count an event."""
        self.n_bytes += n_bytes
        self.spent += seconds

    @property
    def is_small(self):
        return self.size <= SMALL

    @property
    def is_due(self):
        return (self.is_small or SHARE * self.n_bytes >= self.size
                or self.spent >= max(PATIENCE, self.seconds))


class Clock:
    """Measures the wall-clock time of a block, in seconds."""

    def __enter__(self):
        self.started = time.perf_counter()
        return self

    def __exit__(self, *error):
        self.seconds = time.perf_counter() - self.started


def encoded_progress(progress):
    """Return the bytes of a study's progress without its policy."""
    wells = progress.open
    return encode({
        "n_batches": progress.n_batches, "asked": bool(progress.asked),
        "open": wells and [wells.number, wells.arms, wells.values, wells.marks],
        "late": [list(one) for one in progress.late]})


def decoded_progress(path, content, policy):
    """Return the `Progress` with this policy; raise an error if the content is invalid."""
    known = decode(content)
    opened = None
    if known["open"] is not None:
        number, arms, values, marks = known["open"]
        check_batch(path, number, "open", (arms, values, marks), policy.n_arms)
        opened = Wells(number, arms, "open", values, marks)
    for arms, values in known["late"]:
        check_late(path, (arms, values), policy.n_arms)
    late = [(np.asarray(arms), np.asarray(values)) for arms, values in known["late"]]
    return Progress(policy, int(known["n_batches"]), opened, bool(known["asked"]), late)
