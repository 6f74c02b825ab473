"""Tables of controls, markers and amendments in a report; HTML."""

import math
from html import escape

from pybandit.lab._report_tables import UNITS
from pybandit.report._tables import count, name_of, table

ROWS = 24  # maximum number per table


def control_table(facts):
    """Return the controls of the last plates with Z'; "" if no readings are stored."""
    plates, readings = facts.plates, facts.kept
    if not readings or not (plates.controls or plates.positives):
        return ""
    head, rows = ["plate", "file"], []
    kinds = [(plates.label, "controls")] * bool(plates.controls)
    kinds += [(plates.positive_label, "positives")] * bool(plates.positives)
    for label, _ in kinds:
        head += [label, "sd", "wells"]
    for one in reversed(readings[-ROWS:]):
        cells = [escape(one.name), name_of(one.files[-1])]
        for _, kind in kinds:
            found = getattr(one, kind)
            cells += [_number(found.mean), _number(found.std), str(found.n)]
        rows.append(("", [*cells, _number(one.z_prime)] if len(kinds) == 2 else cells))
    notes = ""
    if len(kinds) == 2:
        head.append("Z\N{PRIME}")
        notes = (f"<p>Z\N{PRIME} = 1 \N{MINUS SIGN} 3 (sd + sd) / |difference of the means| of "
                 f"{name_of(plates.label)} and {name_of(plates.positive_label)}, from readings "
                 "before normalisation: above 0.5 the assay separates them well, at 0 and below "
                 "it does not.</p>")
    shown = "" if len(readings) <= ROWS else f", the last {ROWS} of {count(len(readings), 'plate')}"
    return notes + table(f"Controls{shown}", head, rows, {0, 1})


def control_words(facts):
    """Return what the controls read, on the scale of the readings in the answer; a paragraph."""
    plates, known = facts.plates, [one for one in facts.kept or () if one.controls.n]
    if not known or not plates.controls:
        return ""
    both = [one for one in known if one.positives.n] if plates.positives else []
    made, of = plates.normalise, "all plates" if len(known) > 1 else "1 plate"
    whole = {True: 1.0, "percent": 100.0, "inhibition": 0.0}.get(made)
    level = f"{_number(_mean([one.controls.mean for one in known]))} (mean of {of})"
    words = [f"{name_of(plates.label)} {level if whole is None else f'{whole:g}'}"]
    if both:
        means = [one.positives.mean / (one.controls.mean / whole if whole else 1.0)
                 for one in both]
        level = f"{_number(_mean(means))} (mean of {of})"
        words.append(f"{name_of(plates.positive_label)} "
                     f"{'100' if made == 'inhibition' else level}")
    unit = f", {UNITS[made]}" if made else ""
    found = [one.z_prime for one in both if math.isfinite(one.z_prime)]
    quality = f" Z\N{PRIME} is {min(found):.2g} to {max(found):.2g}." if found else ""
    return f"<p>Controls read{unit}: {'; '.join(words)}.{quality}</p>"


def _mean(values):
    return sum(values) / len(values)


def marker_table(facts):
    """Return the wells with a marker or a limit, by kind; "" if there are none."""
    found = {}
    for one in facts.kept or ():
        for cell, wells in one.markers.items():
            is_limit = not math.isnan(one.values[wells[0]])
            n, plates = found.get((cell, is_limit), (0, []))
            found[cell, is_limit] = n + wells.size, [*plates, one.name]
    rows = [("", [name_of(cell), "the limit" if is_limit else "lost", str(n),
                  name_of(", ".join(plates[:4]) + ", ..." * (len(plates) > 4))])
            for (cell, is_limit), (n, plates) in sorted(found.items())[:ROWS]]
    shown = f", {ROWS} of {len(found):,} kinds" if len(found) > ROWS else ""
    return rows and table(f"Wells with a marker{shown}", ["marker", "read as", "wells", "plates"],
                          rows, {0, 1, 3}) or ""


def amendment_table(facts):
    """Return the corrected results, the last first; "" if there are none."""
    found = facts.amendments
    if not found:
        return ""
    rows = [("", [str(one.event), str(one.batch), name_of(one.name), _number(one.before),
                  _number(one.value), name_of(one.reason), name_of(one.who)])
            for one in reversed(found[-ROWS:])]
    shown = "" if len(found) <= ROWS else f", the last {ROWS} of {len(found):,}"
    head = ["event", "batch", facts.noun, "was", "is", "why", "who"]
    return table(f"Amended results{shown}", head, rows, {2, 5, 6})


def _number(value):
    return "\N{EN DASH}" if math.isnan(value) else f"{value:.4g}"
