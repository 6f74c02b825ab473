"""The status of a study as text for a terminal, and parts of it as JSON."""

import math

import numpy as np

from pybandit._shared.checks import listed
from pybandit.cli._text import aligned, short
from pybandit.lab._export import moment

SHOWN = 3  # plates whose controls status shows
NORMALISED = {True: "readings by their mean", "percent": "per cent of their mean",
              "inhibition": "per cent of inhibition"}


def status_lines(status, best, most, *, opened=None, plates=None, readings=(), counted=False):
    """Yield the lines of the status of a study.

    Parameters
    ----------
    status : Status
    best : Recommendation
    most : int
        Maximum number of arms shown.
    opened : BatchRecord or None
        The open batch.
    plates : Plates or None
        The plates of a screen.
    readings : sequence of PlateReadings
        Readings by plate; the controls of the last `SHOWN` plates are shown.
    counted : bool
        True for a web test.
    """
    unit = "plate" if plates else "batch"
    rows = [("study", f"{status.path}: {status.policy}, {status.n_arms:,} arms, "
                      f"{_number_words(status.k)} wanted"),
            *([("plates", _plate_words(plates))] if plates else ()),
            *[("rewards", made) for made in [plates and _transform_words(plates)] if made],
            ("spent", _spent_words(status))]
    if status.pulls_left is not None:
        rows.append(("left", f"{status.pulls_left:,} of {status.budget:,} pulls"))
    if status.batches_left is not None:
        rows.append(("left", f"{status.batches_left:,} of {status.max_batches:,} batches"))
    if status.survivors is not None and not status.done:
        rows.append(("in play", f"{len(status.survivors):,} arms"))
    if status.n_unmeasured:
        rows.append(("unseen", unmeasured_words(status)))
    if status.silent:
        rows.append(("silent", f"{listed(status.silent)}: no answer to their last pulls"))
    if status.done:
        rows.append(("now", "done: nothing more is asked for"))
    elif counted:
        rows.append(("now", "run split to divide the next trials"))
    elif opened is None:
        rows.append(("now", f"no {unit} is open: {'next' if plates else 'ask'} requests one"))
    else:
        rows.append(("now", _pending_words(opened, plates)))
    if status.n_late:
        rows.append(("late",
                     f"{status.n_late:,} results, which the policy takes after this {unit}"))
    rows += [("quality" if i == 0 else "", text) for i, text in enumerate(
        control_lines(readings[-SHOWN:], plates))]
    if counted and status.split is not None:
        rows.append(("split", split_words(status.split)))
    if status.n_amendments:
        rows.append(("amended", f"{status.n_amendments:,} times"))
    rows.append(("log", f"{status.n_events:,} events, the last at {moment(status.changed)}"))
    rows.append(("head", status.head))
    for name, text in rows:
        yield f"{name:8}{text}"
    if most:
        yield ""
        pulls = "trials" if counted else "wells" if plates else "results"
        yield from _table_of(status, best, most, pulls)


def split_words(check):
    """Describe the test of the split of visits in words."""
    if check.mismatch:
        return (f"visits are not split by the shares, p = {check.p_value:.2g}; the report and "
                "--json say more")
    return f"visits are split by the shares, as far as the test can tell: p = {check.p_value:.2g}"


def control_lines(readings, plates):
    """Yield a line per plate that describes its controls."""
    for one in readings:
        if not plates.controls and not plates.positives:
            return
        parts = [_controls(plates.label, one.controls)] * bool(plates.controls)
        parts += [_controls(plates.positive_label, one.positives)] * bool(plates.positives)
        parts += [f"Z' {one.z_prime:.2f}"] * (not math.isnan(one.z_prime))
        yield f"plate {one.name}: {', '.join(parts)}"


def _controls(label, found):
    spread = "" if math.isnan(found.std) else f" ± {found.std:.3g}"
    return f"{short(label)} {_number(found.mean)}{spread} ({found.n})"


def controls_as_json(readings):
    """Return the controls of plates as plain values."""
    def plain(value):
        return None if isinstance(value, float) and math.isnan(value) else value

    return [{"plate": one.name, "batch": one.batch, "files": one.files,
             "controls": {name: plain(value) for name, value in one.controls.to_dict().items()},
             "positives": {name: plain(value) for name, value in one.positives.to_dict().items()},
             "z_prime": plain(one.z_prime),
             "markers": {cell: int(wells.size) for cell, wells in one.markers.items()}}
            for one in readings]


def unmeasured_words(status):
    """Describe in words how many arms were not measured."""
    yet = "were never measured" if status.done else "not measured yet"
    return f"{status.n_unmeasured:,} of {status.n_arms:,} arms {yet}"


def _number_words(k):
    return "the best" if k == 1 else f"the {k:,} best"


def _plate_words(plates):
    words = [str(plates.layout)]
    if plates.controls:
        words.append(f"{len(plates.controls)} wells with {plates.label}")
    if plates.positives:
        words.append(f"{len(plates.positives)} with {plates.positive_label}")
    words += [f"filled {plates.fill} (seed {plates.fill_seed})"] * (plates.fill != "rows")
    words += ["edges free"] * plates.free_edges
    return ", ".join(words)


def _transform_words(plates):
    """Describe how a reading becomes a reward."""
    words = [NORMALISED.get(plates.normalise, "")] * bool(plates.normalise)
    return ", ".join(words + ["logarithm"] * plates.log + ["sign changed"] * plates.flip)


def _spent_words(status):
    text = f"{status.n_batches:,} batches, {status.n_pulls:,} pulls"
    return text + f", of which {status.n_lost:,} lost" * bool(status.n_lost)


def _pending_words(opened, plates):
    if plates is None:
        n = int((opened.states == "open").sum())
        return f"batch {opened.id} is open: {n:,} of {len(opened.names):,} results pending"
    names = plates.names(opened.id, len(opened.names))
    parts = plates.places(opened.id, opened.names) // plates.layout.n_wells
    waits = np.bincount(parts[opened.states == "open"], minlength=len(names)).tolist()
    out = [name for name, n in zip(names, waits, strict=True) if n]
    shown = ", ".join(out if len(out) <= 4 else [*out[:3], f"... ({len(out)})"])
    return f"plate {shown} is open: {sum(waits):,} of {len(opened.names):,} wells pending"


def _table_of(status, best, most, unit):
    """Yield the table of the best arms; those that have no result yet are only counted."""
    head = ("best" if status.done else "best by now", "mean", unit)
    found = [(short(name), _number(mean), f"{pulls:,}") for name, mean, pulls in
             zip(best.best_names, best.means.tolist(), best.pulls.tolist(), strict=True) if pulls]
    missing = len(best.best_names) - len(found)
    if not found:
        yield f"{head[0]}: no arm of the answer has a result yet"
        return
    yield from aligned([head, *found[:most]], "<>>")
    if len(found) > most:
        yield f"and {len(found) - most:,} more; --top shows them, --json has all"
    if missing:
        yield f"and {missing:,} more of the answer have no result yet"


def _number(value):
    return "-" if math.isnan(value) else f"{value:.4g}"
