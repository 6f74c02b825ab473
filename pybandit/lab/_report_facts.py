"""Content of a report on a screen or a study: arms, ranks, plates."""

import os
from typing import Any, NamedTuple

import numpy as np

from pybandit.lab._normalise import readings_of
from pybandit.lab.controls import readings_of as kept_of
from pybandit.lab.plates import Plates
from pybandit.report._facts import LEVEL, POINTS, ArmStatistics, standing_of
from pybandit.studies._journal import LATE, LOST, OPEN

# Maximum numbers on a page.
PLATES, DRAWN_WELLS, SUMMARISED = 24, 40_000, 1000
# A modified z-score beyond OUTLYING is outlying (Iglewicz and Hoaglin 1993). Below FEWEST wells
# the median absolute deviation is unreliable.
OUTLYING, FEWEST = 3.5, 8


class Part(NamedTuple):
    """One plate, or one batch if the study has no plates.

    `z` are the robust z-scores of its values, NaN if there is none; `places` are the positions
    of its wells on the plate.
    """

    name: str
    arms: np.ndarray
    values: np.ndarray
    marks: np.ndarray
    places: np.ndarray
    z: np.ndarray

    @property
    def outlying(self):
        """Mask of outlying wells; array of bool."""
        return np.abs(self.z) > OUTLYING


class Facts(NamedTuple):
    """All data that a report shows.

    The fields from `chosen` to `followed` are those of `Standing`. `is_partial` is True if an
    open batch has results. `ranks` has shape (points, followed) and is NaN before an arm's first
    result. `parts` are the last plates, and `first_part` is the number of plates before them.
    `plates` is None if the study's settings have none. `kept` are the stored readings.
    """

    path: str
    status: Any
    names: np.ndarray
    chosen: np.ndarray
    n_unmeasured: int
    others: np.ndarray
    unmeasured: np.ndarray
    own_means: np.ndarray | None
    followed: np.ndarray
    is_partial: bool
    arms: ArmStatistics
    rank_batches: np.ndarray
    ranks: np.ndarray
    plates: Plates | None
    bad_settings: str
    parts: list
    first_part: int
    marks: np.ndarray
    n_abandoned: int
    events: list
    version: str
    kept: list
    amendments: list

    @property
    def has_readings(self):
        """True if rewards are on another scale than the readings, normalised or not."""
        return self.plates is not None and bool(self.plates.log or self.plates.flip)

    @property
    def noun(self):
        """The word for an arm."""
        return "arm" if self.plates is None else "sample"

    def readings(self, rewards):
        """Return rewards on the scale of the readings; ndarray."""
        return readings_of(np.asarray(rewards, dtype=np.float64), self.plates)


# NaN and infinity, from no or one result or from results near the largest number, become dashes
@np.errstate(all="ignore")
def facts_of(study):
    """Return all data of a report, read at one moment."""
    (status, best, names, wells, own_means, own_n, is_partial, events, version, amendments,
     kept_readings, plates, bad_settings) = study._read(
         lambda progress: _read_at_once(study, progress))
    kept = [one for one in wells if one.status != "abandoned"]
    arms, values, marks = (_joined(kept, name) for name in ("arms", "values", "marks"))
    found = _arms_of(arms, values, len(names))
    standing = standing_of(best, found, own_n, own_means)
    batches, ranks = _ranks_of(kept, standing.followed, len(names))
    parts, first = _parts_of(kept, plates, values, names)
    return Facts(os.path.basename(study.path), status, names, *standing, is_partial, found,
                 batches, ranks, plates, bad_settings, parts, first, marks,
                 len(wells) - len(kept), events, version, kept_readings, amendments)


def _read_at_once(study, progress):
    status = study.status()
    is_partial = progress.open is not None and not np.isnan(progress.open.values).all()
    return (status, study.recommend(), study._names, list(study._store.all_wells()),
            progress.policy.means.copy(), progress.policy.pulls.copy(), is_partial,
            list(study.log(max(0, status.n_events - 8))), next(study.log()).body["version"],
            study.amendments(), *_plates_of(study))


def _plates_of(study):
    """Return stored readings, plates, and the error if the settings of plates are invalid."""
    if "plates" not in study.settings:
        return [], None, ""
    try:
        return kept_of(study), Plates.of(study.settings), ""
    except ValueError as error:
        # the user's settings have something else under this name
        return [], None, str(error)


def _joined(wells, name):
    kinds = {"arms": np.int64, "values": np.float64, "marks": np.uint8}
    return np.concatenate([np.empty(0, kinds[name]), *[getattr(one, name) for one in wells]])


def _arms_of(arms, values, n_arms):
    from scipy.special import stdtrit  # here, because importing it takes a tenth of a second

    known = ~np.isnan(values)
    arms, values = arms[known], values[known]
    n = np.bincount(arms, minlength=n_arms)
    means = np.bincount(arms, values, n_arms) / n
    squares = np.bincount(arms, (values - means[arms]) ** 2, n_arms)
    half = stdtrit(n - 1.0, 0.5 + LEVEL / 2) * np.sqrt(squares / (n - 1) / n)
    half = np.where(n > 1, half, np.nan)
    return ArmStatistics(n, means, half, half)


def _ranks_of(wells, followed, n_arms):
    """Return batches, and the ranks of arms by their means so far; at most `POINTS` batches."""
    wells = [one for one in wells if not np.isnan(one.values).all()]
    last = np.unique(np.linspace(0, len(wells) - 1, min(POINTS, len(wells))).astype(int))
    sums, n, ranks, start = np.zeros(n_arms), np.zeros(n_arms), [], 0
    for end in last + 1:
        arms, values = (_joined(wells[start:end], name) for name in ("arms", "values"))
        known = ~np.isnan(values)
        n += np.bincount(arms[known], minlength=n_arms)
        sums += np.bincount(arms[known], values[known], n_arms)
        means = sums / n
        ahead = [np.nan if np.isnan(means[arm]) else 1 + (means > means[arm]).sum()
                 for arm in followed]
        ranks.append(ahead)
        start = end
    numbers = np.array([wells[i].number for i in last], dtype=np.int64)
    return numbers, np.array(ranks, dtype=float).reshape(len(last), len(followed))


def _parts_of(wells, plates, values, names):
    """Return the last parts, and the number of parts before them."""
    sizes = [1 if plates is None else plates.n_plates(one.arms.size) for one in wells]
    first = max(0, sum(sizes) - SUMMARISED)
    scale = None if plates is not None else robust_scale(values)
    parts, passed = [], 0
    for one, size in zip(wells, sizes, strict=True):
        wells = None if plates is None else plates.places(one.number, names[one.arms])
        for part in range(max(0, first - passed), size):
            parts.append(_part_of(one, part, plates, scale, wells))
        passed += size
    return parts, first


def _part_of(one, part, plates, scale, wells):
    if plates is None:
        name, cut, places = str(one.number), slice(None), np.arange(one.arms.size)
    else:
        name = plates.names(one.number, one.arms.size)[part]
        cut = np.flatnonzero(wells // plates.layout.n_wells == part)
        places = wells[cut] % plates.layout.n_wells
    values = one.values[cut]
    median, spread = robust_scale(values) if scale is None else scale
    z = (values - median) / spread
    return Part(name, one.arms[cut], values, one.marks[cut], places, z)


def robust_scale(values):
    """Return the median and 1.4826 times the median absolute deviation; NaN if unreliable."""
    values = values[~np.isnan(values)]
    if values.size < FEWEST:
        return np.nan, np.nan
    median = np.median(values)
    spread = np.median(np.abs(values - median)) / 0.6744897501960817
    return median, spread if spread > 0 and np.isfinite(spread) else np.nan


def n_of(marks):
    """Return the numbers of open, lost and late wells."""
    return tuple(int((marks == mark).sum()) for mark in (OPEN, LOST, LATE))


def drawn_parts(facts):
    """Return the last plates, which are drawn; none for batches without plates."""
    if facts.plates is None:
        return []
    drawn, n_wells = [], 0
    for part in reversed(facts.parts[-PLATES:]):
        n_wells += facts.plates.layout.n_wells
        if n_wells > DRAWN_WELLS:
            break
        drawn.append(part)
    return drawn[::-1]


def well_of(facts, place):
    """Return the name of a well."""
    return f"{place + 1}" if facts.plates is None else facts.plates.layout.wells[place]
