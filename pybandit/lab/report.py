"""Write a screen or a plain study as one self-contained HTML page."""

import os
from html import escape

import numpy as np

from pybandit._shared.checks import listed, shown
from pybandit._shared.html import number
from pybandit.lab._report_controls import (
    amendment_table,
    control_table,
    control_words,
    marker_table,
)
from pybandit.lab._report_facts import FEWEST, OUTLYING, SUMMARISED, drawn_parts, facts_of
from pybandit.lab._report_plates import answer_figure, drift_figure, legend, plate_figure
from pybandit.lab._report_tables import UNITS, answer_table, part_table, tiles, well_table
from pybandit.lab.screen import Screen
from pybandit.report import page
from pybandit.report._facts import POINTS
from pybandit.report._figures import pull_figure, rank_figure
from pybandit.report._svg import figure
from pybandit.report._tables import (
    OWN_MEANS,
    count,
    name_of,
    no_answer,
    section,
    unmeasured_table,
)
from pybandit.studies import Study

NAMED, FEW = 5, 3  # arms named in a sentence; results below which a rank is uncertain
NORMALISED = {True: "divided by the mean of the plate's controls",
              "percent": "per cent of the mean of the plate's controls",
              "inhibition": "per cent of the way from the mean of the plate's controls to that of "
                            "its positive controls"}
SHORT_UNITS = {True: " times the controls' mean", "percent": " % of the controls' mean",
               "inhibition": " % inhibition"}
HOW = "How the numbers are computed"
INTERVALS = (
    "Means are of the results recorded in this study. The intervals are Student's: 95 % for "
    "each arm alone, from two results on. They are <strong>not</strong> adjusted for the "
    "selection of arms: a policy continues with arms that looked good, and the leaders are shown "
    "because they lead. Their means therefore tend to be too high, and their intervals hold less "
    "often than 95 %. The policy's own guarantee, if it has one, is about its answer as a whole.")


def write_report(study: Study | Screen, path: str | os.PathLike[str], *,
                 title: str | None = None) -> None:
    """Write a screen, or a plain study, as one HTML page.

    Parameters
    ----------
    study : Screen or Study
        May have no results yet, be open, or be done.
    path : str or path-like
        Page to write. An existing page is replaced; a crash leaves the old page or the new one.
    title : str, optional
        By default ``settings["title"]``, or "Screen", for a plain study the name of the policy, and
        the name of the file.

    Returns
    -------
    None

    Raises
    ------
    ValueError
        If `path` is a study or another database.
    StudyError
        If the study cannot be read.
    OSError
        If the page cannot be written.

    Notes
    -----
    The page has the answer with Student's intervals, the budget, ranks over the batches, pulls
    of the arms, the last plates as heat maps, and the log's digest. Long lists are cut: the
    last 24 plates are drawn, and 1,000 arms are listed. A well is outlying if its robust
    z-score, 0.6745 (x - median) / MAD on its plate [1]_, is beyond 3.5.

    Takes O(wells + arms x batches drawn) time.

    References
    ----------
    .. [1] B. Iglewicz and D. Hoaglin, How to Detect and Handle Outliers, 1993.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pybandit as pb
    >>> study = pb.Study.create(":memory:", pb.policies.Uniform(2, budget=4),
    ...                         arms=["tea", "coffee"])
    >>> _ = study.tell(study.ask().id, [0.1, 0.4, 0.2, 0.6])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = pathlib.Path(folder, "report.html")
    ...     pb.lab.write_report(study, page)
    ...     "coffee" in page.read_text("utf-8")
    True
    """
    facts = facts_of(_log_of(study))
    title = _title(study, facts) if title is None else title
    page.write_page(path, page.page(title, _content(facts, title)))


def page_text(study: Study | Screen) -> str:
    """Return the page that `write_report` writes."""
    return page.page(*titled_content(study)[:2])


def titled_content(study: Study | Screen) -> tuple[str, str, str]:
    """Return title and content of a report, and the digest of the study that it shows."""
    facts = facts_of(_log_of(study))
    title = _title(study, facts)
    return title, _content(facts, title), facts.status.head


def _title(study, facts):
    kind = facts.status.policy if facts.plates is None else "Screen"
    return page.title_of(study.settings, f"{kind}: {facts.path}")


def _log_of(study):
    if not isinstance(study, (Study, Screen)):
        raise TypeError(f"study must be a Study or a Screen; got {shown(study)}")
    return study if isinstance(study, Study) else study.study


@np.errstate(all="ignore")
def _content(facts, title):
    """Return the content of the page."""
    return page.content(
        title, _headline(facts), page.summary(facts.status, tiles(facts), facts.noun),
        _answer(facts), _over_time(facts), _plates(facts),
        page.record(facts, amendment_table(facts), "batch", lambda body: body.get("batch", "")))


def _headline(facts):
    """Return the answer in a sentence, its uncertain ranks, and the controls."""
    if not (facts.arms.n.any() and facts.chosen.size):
        return ""
    return f'<p class="headline">{_leader(facts)}</p>{_doubts(facts)}{control_words(facts)}'


def _answer(facts):
    if not facts.arms.n.any():
        return no_answer(facts)
    title = "The answer" if facts.status.done else "The answer so far"
    drawing = answer_figure(facts)
    caption = f"Mean and 95 % interval of each {facts.noun} alone. Filled: the answer"
    caption += f"; hollow: the next {facts.noun}s by mean." if facts.others.size else "."
    if drawing and "arrow" in drawing:
        caption += " An interval that leaves the figure ends in an arrow."
    caption += " Means of the leaders tend to be too high, because they were selected."
    notes, more = INTERVALS, ""
    if facts.own_means is not None:
        notes += OWN_MEANS
    if facts.n_unmeasured:
        more += f" {facts.n_unmeasured:,} more {facts.noun}s of the answer have no result yet."
    if facts.has_readings:
        notes += (" Means are of rewards, as the policy received them; the reading is the "
                  f"same on the scale of the readings: {_undone(facts.plates)}")
    if facts.is_partial:
        more += (" Results of the open batch are included here; the policy receives them when "
                  "the batch is over.")
    return section("answer", title, '<div class="figures">', answer_table(facts),
                   figure(drawing, caption) if drawing else "", "</div>",
                   f"<p>{more}</p>" * bool(more),
                   f"<details><summary>{HOW}</summary><p>{notes}</p></details>",
                   unmeasured_table(facts))


def _leader(facts):
    """Return the answer in a sentence."""
    first, n = facts.chosen[0], facts.chosen.size
    words = (f"{name_of(facts.names[first])}, {_level(facts, facts.arms.means[first])}"
             f"{count(facts.arms.n[first], 'result')}")
    so_far = "" if facts.status.done else " so far, not final"
    return f"{n:,} {facts.noun}s{so_far}; first {words}." if n > 1 else f"{words}{so_far}."


def _level(facts, mean):
    """Return a mean in words, on the scale of the readings."""
    if facts.plates is None:
        return f"mean {number(mean, 3)} of "
    value = float(facts.readings([mean])[0]) if facts.has_readings else mean
    word = "reading" if facts.has_readings else "mean"
    return f"{word} {number(value, 3)}{SHORT_UNITS.get(facts.plates.normalise, '')}, "


def _doubts(facts):
    """Return sentences on ranks that rest on few results, or look odd; "" if there are none."""
    arms, words = facts.arms, []
    few = facts.chosen[arms.n[facts.chosen] < FEW]
    if few.size:
        named = listed([f"{facts.names[arm]} ({arms.n[arm]:,})" for arm in few[:NAMED]])
        more = f" and {few.size - NAMED:,} more" if few.size > NAMED else ""
        words.append(f"Uncertain, with fewer than {FEW} results: {escape(named)}{more}; repeat "
                     "them before use.")
    first, last = facts.chosen[[0, -1]]
    if facts.status.survivors is not None and 2 * arms.n[first] <= arms.n[last]:
        words.append(f"{name_of(facts.names[first])} has fewer results than "
                     f"{name_of(facts.names[last])}: the method stops repeating one "
                     "when it accepts or drops it.")
    near = _near(facts)
    if near:
        words.append(f"The last {facts.noun} of the answer and the next {near:,} cannot be told "
                     "apart yet: their intervals overlap.")
    better = [arm for arm in facts.others.tolist()
              if arms.means[arm] > np.nanmin(arms.means[facts.chosen])]
    if better:
        one = better[0]
        words.append(f"{name_of(facts.names[one])} has a higher mean than another one of the "
                     f"answer, from {count(arms.n[one], 'result')}, and is not in it: the "
                     "method also considers how certain a mean is.")
    return f"<p>{' '.join(words)}</p>" if words else ""


def _near(facts):
    """Return how many of the next arms have an interval that overlaps that of the last chosen."""
    last, arms = facts.chosen[-1], facts.arms
    low = arms.means[last] - arms.below[last]
    ends = arms.means[facts.others] + arms.above[facts.others]
    return int((ends >= low).sum()) if facts.chosen.size > 1 and np.isfinite(low) else 0


def _undone(plates):
    made = ["sign"] * plates.flip + ["logarithm"] * plates.log
    words = [f"{' and '.join(made)} undone"] * bool(made)
    words += [UNITS[plates.normalise]] if plates.normalise else []
    return ", ".join(words) + ("; means become geometric means." if plates.log else ".")


def _over_time(facts):
    few = f" Drawn at {POINTS} of the batches." if len(facts.rank_batches) == POINTS else ""
    drawings = [
        (rank_figure(facts), f"Rank of the leading {facts.noun}s among all by the mean of the "
                             "results up to each batch; a late result belongs to its batch." + few),
        (pull_figure(facts), f"Results of each {facts.noun}, without lost ones."),
        (drift_figure(facts), "Median and middle half of each plate. It may rise because better "
                              f"{facts.noun}s are asked for, or because the assay drifts."),
    ]
    figures = [figure(drawing, caption) for drawing, caption in drawings if drawing]
    if not figures:
        return ""
    return section("time", f"Over time, and the results of each {facts.noun}",
                   f'<div class="figures">{"".join(figures)}</div>')


def _plates(facts):
    plates = facts.plates
    what = "batches" if plates is None else "plates"
    if not facts.parts:
        return section("plates", what.capitalize(), "<p>No batch was asked for yet.</p>")
    counted = (f"<p>Counted over the last {SUMMARISED:,} {what}.</p>"
               if facts.first_part else "")
    return section("plates", what.capitalize(), _layout(facts), _rule(facts),
                   "" if plates is None else _drawn(facts), counted, part_table(facts),
                   control_table(facts), marker_table(facts), well_table(facts))


def _rule(facts):
    """Return the rule for outlying wells."""
    on, well = ("in this study", "result") if facts.plates is None else ("on its plate", "well")
    colours = "" if facts.plates is None else (
        "Blue wells are below the median of their plate, orange ones above it. ")
    return (f"<p>{colours}A {well} is marked as outlying if it is far from the median {on}: a "
            f"fault, or {'a' if facts.plates else 'an'} {facts.noun} that is far better or worse "
            "than the others.</p><details><summary>How outlying ones are found</summary><p>"
            f"The robust z-score is z = 0.6745 (value {MINUS} median) / MAD, with the median and "
            f"the median absolute deviation of the values {on}. Outlying: |z| &gt; {OUTLYING}. "
            f"There is no score below {FEWEST} values, or if more than half of them are equal."
            "</p></details>")


def _drawn(facts):
    """Return the last plates as heat maps."""
    drawn, n_all = drawn_parts(facts), facts.first_part + len(facts.parts)
    some = f"<p>The last {len(drawn):,} of {n_all:,} plates are drawn.</p>"
    figures = "".join(figure(plate_figure(part, facts), f"Plate {escape(part.name)}")
                      for part in reversed(drawn))
    if not drawn:
        figures = f"<p>The plates are too large to be drawn: {facts.plates.layout}.</p>"
    return (some * (len(drawn) < n_all) + legend(facts.plates)
            + f'<div class="figures plates">{figures}</div>')


def _layout(facts):
    if facts.plates is None:
        bad = f" ({escape(facts.bad_settings)})" if facts.bad_settings else ""
        return f"<p>The study's settings are not those of plates{bad}.</p>" if bad else ""
    plates = facts.plates
    words = [f"{plates.layout} wells"]
    if plates.controls:
        words.append(f"{len(plates.controls)} of them {name_of(plates.label)}")
    if plates.positives:
        words.append(f"{len(plates.positives)} {name_of(plates.positive_label)}")
    made = [NORMALISED.get(plates.normalise, "")] * bool(plates.normalise)
    made += ["logarithm taken"] * plates.log + ["sign changed"] * plates.flip
    return (f"<p>Plates of {', '.join(words)}. Values are "
            f"{', '.join(['the readings', *made])}.</p>")


MINUS = "\N{MINUS SIGN}"
