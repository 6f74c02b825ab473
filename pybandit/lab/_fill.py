"""Order in which the arms of a batch fill its wells.

Each order is a permutation that depends only on a seed, the batch and the arms. It is drawn
with SHAKE-256, which is the same on every machine and in every version of NumPy, so the
layout of a plate can still be computed years later.
"""

import hashlib

import numpy as np

ORDERS = "rows", "shuffled", "apart"
FAR = 0.5  # fraction of the largest possible distance that suffices


def filled(order, seed, batch, names, plates, rows, columns):
    """Return the slot of each arm.

    Parameters
    ----------
    order : {"rows", "shuffled", "apart"}
        In the given order; at random; or at random such that wells with the same arm lie on
        different plates and far from each other.
    seed, batch : int
    names : sequence
        Names of the batch's arms.
    plates, rows, columns : ndarray of int64, shape (n,)
        Plate, row and column of each slot; plates ascending.

    Returns
    -------
    ndarray of int64, shape (n,)
        A permutation.
    """
    if order == "rows":
        return np.arange(len(names))
    keys = _drawn(seed, batch, len(names))
    if order == "shuffled":
        return np.argsort(keys, kind="stable")
    _, arms = np.unique(np.asarray(names, dtype=object).astype(str), return_inverse=True)
    slots = np.empty(len(names), dtype=np.int64)
    for plate, pulls in enumerate(_dealt(arms, keys, np.bincount(plates))):
        there = np.flatnonzero(plates == plate)
        slots[pulls] = there[_spread(arms[pulls], rows[there], columns[there], keys[there])]
    return slots


def _drawn(seed, batch, n):
    """Return n random 64-bit integers."""
    digest = hashlib.shake_256(f"pybandit {seed} {batch}".encode()).digest(8 * n)
    return np.frombuffer(digest, dtype="<u8")


def _dealt(arms, keys, rooms):
    """Return the pulls of each plate; pulls of one arm go to the plates in turn."""
    counts = np.bincount(arms)
    # arms with the most pulls first, ties in random order; pulls of one arm are adjacent
    pulls = np.lexsort((np.arange(arms.size), arms, keys[arms], -counts[arms]))
    dealt, plate = [[] for _ in rooms], 0
    for pull in pulls.tolist():
        while len(dealt[plate]) == rooms[plate]:
            plate = (plate + 1) % len(rooms)
        dealt[plate].append(pull)
        plate = (plate + 1) % len(rooms)
    return [np.array(one, dtype=np.int64) for one in dealt]


def _spread(arms, rows, columns, keys):
    """Return the well of each pull on one plate."""
    wells, free = np.empty(arms.size, dtype=np.int64), np.ones(arms.size, dtype=bool)
    drawn = np.argsort(keys, kind="stable")
    _, kinds, counts = np.unique(arms, return_inverse=True, return_counts=True)
    for kind in np.argsort(-counts, kind="stable"):
        nearest = np.full(arms.size, np.inf)
        for pull in np.flatnonzero(kinds == kind):
            left = drawn[free[drawn]]
            away = nearest[left]
            well = left[int((away >= FAR * away.max()).argmax())]
            free[well], wells[pull] = False, well
            nearest = np.minimum(nearest, np.hypot(rows - rows[well], columns - columns[well]))
    if counts.max() > 1:
        _separate(wells, kinds, rows, columns, FAR * np.sqrt(arms.size / counts.max()))
    return wells


def _separate(wells, kinds, rows, columns, enough):
    """Swap the pulls closest to others of their arm, until `enough` apart or no swap helps."""
    same = (kinds[:, None] == kinds) & ~np.eye(kinds.size, dtype=bool)
    there = np.stack([rows[wells], columns[wells]]).astype(float)

    def away(places):
        """Return the distance from each place to the nearest other well with the same arm."""
        return np.where(same, np.hypot(*(places[:, :, None] - there[:, None])), np.inf).min(1)

    for _ in range(kinds.size):
        nearest = away(there)
        worst = int(nearest.argmin())
        if nearest[worst] >= enough:
            return
        moved = np.hypot(*(there[:, :, None] - there[:, None, same[worst]])).min(1)
        gain = np.minimum(moved, away(np.repeat(there[:, [worst]], kinds.size, axis=1)))
        gain[same[worst]] = gain[worst] = 0.0
        other = int(gain.argmax())
        if gain[other] <= nearest[worst]:
            return
        wells[[worst, other]] = wells[[other, worst]]
        there[:, [worst, other]] = there[:, [other, worst]]
