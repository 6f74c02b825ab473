"""Tables of a report on batches: the answer, plates, notable wells; HTML."""

from html import escape

import numpy as np

from pybandit._shared.html import number
from pybandit.lab._report_facts import n_of, well_of
from pybandit.report._facts import ARMS
from pybandit.report._tables import (
    PARTS,
    arm_tiles,
    name_of,
    pull_tile,
    shown,
    table,
    tile,
    tile_list,
)
from pybandit.studies._journal import LATE, LOST

WELLS = 25  # maximum number of rows
UNITS = {True: "in parts of the controls' mean", "percent": "in per cent of the controls' mean",
         "inhibition": "in per cent of inhibition"}


def tiles(facts):
    """Return tiles with the spent and remaining parts of the budget."""
    status = facts.status
    n_open, n_lost, n_late = n_of(facts.marks)
    batches = tile("batches", f"{status.n_batches:,}", status.max_batches, status.n_batches)
    wells = "pulls" if facts.plates is None else "wells"
    spent = pull_tile(status, wells)
    rest = [(f"{wells} lost", f"{n_lost:,}", "counted as spent"),
            (f"{wells} late", f"{n_late:,}", f"{status.n_late:,} not yet reported to the policy"
             if status.n_late else "counted as lost before"),
            (f"{wells} pending", f"{n_open:,}", "" if status.open_batch is None
             else f"in batch {status.open_batch}")]
    if facts.n_abandoned:
        rest.append(("batches abandoned", f"{facts.n_abandoned:,}", "nothing spent"))
    return tile_list(spent + batches, arm_tiles(facts) + rest)


def answer_table(facts):
    """Return a table of the arms found and the next ones, with intervals."""
    arms, chosen, other = facts.arms, facts.chosen[:ARMS], facts.others
    rows = []
    for kind, group in (("", chosen), ("other", other)):
        for arm in group:
            mean, half = arms.means[arm], arms.below[arm]
            ends = (number(mean - half), number(mean + half)) if np.isfinite(half) else "––"
            place = f"{len(rows) + 1}" if not kind else ""
            row = [place, name_of(facts.names[arm]), *_state(facts, arm, not kind),
                   f"{arms.n[arm]:,}", number(mean), *_reading(facts, mean, half), *ends]
            row += [] if facts.own_means is None else [number(facts.own_means[arm])]
            rows.append((kind, row))
    caption = f"The answer: {shown(len(chosen), facts.chosen.size, facts.noun)}"
    caption += f"; in grey the next {len(other)} by their means" if len(other) else ""
    unit = UNITS.get(facts.plates and facts.plates.normalise)
    caption += f"; means {unit}" if unit and not facts.has_readings else ""
    state = ["state"] * _has_states(facts)
    head = ["", facts.noun, *state, "results", "mean", *reading_head(facts), "95 % from", "to"]
    # results and readings stay on the left: a phone shows them, and intervals are scrolled to
    head += ["policy's mean"] * (facts.own_means is not None)
    return table(caption, head, rows, {head.index(one) for one in (facts.noun, "state", "reading")
                                       if one in head})


def _has_states(facts):
    """Return True if some arms are not tested any more, and others are."""
    survivors = facts.status.survivors
    return (survivors is not None and not facts.status.done
            and 0 < len(survivors) < facts.names.size)


def _state(facts, arm, is_chosen):
    """Return the state of an arm in a list; empty if all arms have the same."""
    if not _has_states(facts):
        return []
    if arm in facts.status.survivors:
        return ["still tested"]
    return ["accepted" if is_chosen else "dropped"]


def reading_head(facts):
    """Return the heading of the column of readings in a list; empty if there is no such column."""
    return ["reading"] * facts.has_readings


def _reading(facts, mean, half=np.nan):
    """Return a mean and its interval on the scale of the readings, in a list as `reading_head`."""
    if not facts.has_readings:
        return []
    middle, *ends = facts.readings([mean, mean - half, mean + half]).tolist()
    if not np.isfinite(half):
        return [number(middle)]
    return [f"{number(middle)} ({number(min(ends), 3)} to {number(max(ends), 3)})"]


def part_table(facts):
    """Return a table of the last plates, with one row for all before them."""
    last, before = facts.parts[-PARTS:], facts.parts[:-PARTS]
    rows = []
    for part in reversed(last):
        median = float(np.nanmedian(part.values)) if _known(part) else np.nan
        rows.append(("", [escape(part.name), f"{part.arms.size:,}", *_counts([part]),
                          number(median), *_reading(facts, median)]))
    if before:
        rows.append(("other", [f"{len(before):,} before", f"{sum(p.arms.size for p in before):,}",
                               *_counts(before), "", *[""] * facts.has_readings]))
    what = "plate" if facts.plates is not None else "batch"
    n = facts.first_part
    caption = f"By {what}, the last first" + (f"; {n:,} earlier ones are not counted" if n else "")
    wells = "wells" if facts.plates is not None else "pulls"
    head = [what, wells, "results", "late", "lost", "pending", "outlying", "median"]
    return table(caption, head + reading_head(facts), rows, {0})


def _known(part):
    return int((~np.isnan(part.values)).sum())


def _counts(parts):
    marks = np.concatenate([part.marks for part in parts])
    n_open, n_lost, n_late = n_of(marks)
    known, outlying = sum(map(_known, parts)), sum(int(p.outlying.sum()) for p in parts)
    return [f"{n:,}" for n in (known, n_late, n_lost, n_open, outlying)]


def well_table(facts):
    """Return a table of outlying, late and lost wells, the last first; "" if there are none."""
    kinds = {"outlying": lambda part: part.outlying,
             "late": lambda part: (part.marks == LATE) & ~part.outlying,
             "lost": lambda part: part.marks == LOST}
    rows, counts = [], []
    for word, which in kinds.items():
        wells = [(part, i) for part in reversed(facts.parts)
                 for i in np.flatnonzero(which(part)).tolist()]
        rows += [("", _well_row(facts, part, i, word)) for part, i in wells[:WELLS]]
        if wells:
            shown = f", of which {WELLS} here" if len(wells) > WELLS else ""
            counts.append(f"{len(wells):,} {word}{shown}")
    if not rows:
        return ""
    what = "plate" if facts.plates is not None else "batch"
    head = [what, "well", facts.noun, "value", *reading_head(facts), "z", ""]
    if facts.plates is None:
        head[1] = "place"
    return table(f"{'Pulls' if facts.plates is None else 'Wells'} to look at, the last first: "
                 f"{'; '.join(counts)}", head, rows, {0, 1, 2, len(head) - 1})


def _well_row(facts, part, i, word):
    if word == "outlying" and part.marks[i] == LATE:
        word += ", late"
    return [escape(part.name), well_of(facts, int(part.places[i])),
            name_of(facts.names[part.arms[i]]), number(float(part.values[i])),
            *_reading(facts, part.values[i]), number(float(part.z[i]), 3), word]
