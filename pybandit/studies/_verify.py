"""Check that a study's file is the result of its log, bit for bit."""

import re

from pybandit._shared.checks import shown
from pybandit._shared.errors import StudyDamagedError
from pybandit.studies._codec import encode
from pybandit.studies._journal import BrokenLog, replay
from pybandit.studies._snapshot import encoded_progress
from pybandit.studies.results import VerifyResult

HEAD = re.compile("[0-9a-fA-F]{64}")


def verified(store, policy_type, head=None):
    """Check a store within a transaction; return a `VerifyResult` or raise StudyDamagedError."""

    def demand(holds, what):
        if not holds:
            raise StudyDamagedError(f"{store.path} is damaged: {what}")

    if head is not None and not (isinstance(head, str) and HEAD.fullmatch(head)):
        raise ValueError(f"head must be a digest of 64 hexadecimal digits, as in Status.head; got "
                         f"{shown(head)}")
    verdict = store.db.execute("PRAGMA integrity_check(1)").fetchone()[0]
    demand(verdict == "ok", f"SQLite says: {' '.join(verdict.split())}")
    seen, stored = set(), store.head()

    def rows():
        for row in store.events():
            seen.add(row[5])
            yield row

    def compare_state(n_events, progress):
        """Compare the stored state with that after the events it includes."""
        if not store.durable or n_events != stored.included:
            return
        replayed, state = progress.policy.get_state(), store.state(stored)
        for part in replayed.keys() | state.keys():
            demand(part in replayed and part in state
                   and encode(replayed[part]) == encode(state[part]),
                   f"state: {part} does not follow from the log")
        demand(stored.progress in (b"", encoded_progress(progress)),
               "head: progress does not follow from the log")

    try:
        progress, batches, n_events, digest = replay(
            rows(), lambda first: policy_type.from_state(first["state"]), compare_state)
    except BrokenLog as error:
        raise StudyDamagedError(f"{store.path} is damaged: {error}") from error
    demand(stored.n_events == n_events and stored.digest == digest,
           f"head or log: the log ends with event {n_events - 1}, digest {digest.hex()}; head has "
           f"{stored.n_events - 1}, {stored.digest.hex()}")
    demand((stored.n_batches, stored.asked) == (progress.n_batches, progress.asked),
           "head: it does not follow from the log")
    demand(head is None or bytes.fromhex(head) in seen,
           f"log: it has no event with the digest {head}: events recorded before it are missing")
    _compare_batches(store, batches, demand)
    demand(encode(store.late()) == encode(progress.late), "late: it does not follow from the log")
    n_batches = progress.n_batches + getattr(progress.policy, "n_recorded", 0)
    return VerifyResult(n_events=n_events, n_batches=n_batches,
                        n_pulls=progress.policy.n_pulls, head=digest.hex())


def _compare_batches(store, batches, demand):
    n_stored = 0
    for wells in store.all_wells():
        n_stored += 1
        demand(wells.number in batches and wells.same(batches[wells.number]),
               f"batches: batch {wells.number} does not follow from the log")
    demand(n_stored == len(batches),
           f"batches: there are {n_stored}, not {len(batches)} as in the log")
