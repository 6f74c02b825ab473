"""Sections of a report on a web test: arms, rates, batches; HTML."""

from html import escape

import numpy as np

from pybandit._shared.html import number
from pybandit.report._facts import ARMS, POINTS, by_means
from pybandit.report._figures import interval_figure, mean_figure, pull_figure
from pybandit.report._svg import figure, short
from pybandit.report._tables import (
    OWN_MEANS,
    PARTS,
    arm_tiles,
    count,
    name_of,
    no_answer,
    section,
    shown,
    table,
    tile_list,
)
from pybandit.webtests._report_lifts import names_of, rate_of, unit_of
from pybandit.webtests._split import mismatch_words

WILSON = (
    "The intervals are Wilson's: 95 % for each arm alone. They are <strong>not</strong> adjusted "
    "for repeated looks, for the split of trials, or for the selection of arms: an arm that leads "
    "when a test stops tends to look better than it is.")
SUMS = "There are no intervals: sums do not show how much single rewards vary."


def counted_tiles(facts):
    """Return tiles with visits, batches, and arms in the test."""
    counted = facts.counted
    rest = [(f"{unit_of(counted.keys)} recorded", f"{len(counted.keys):,}", ""), *arm_tiles(facts)]
    if counted.n_waiting:
        rest.append(("waiting trials", f"{counted.n_waiting:,}", "not yet asked for by the policy"))
    return tile_list("", [("visits", f"{int(counted.trials.sum()):,}", ""), *rest])


def counted_parts(facts):
    """Return sections with the answer, the course of the test, and the batches; a list."""
    return [_answer(facts), _over_time(facts), _batches(facts)]


def _mean_of(facts):
    return "rate" if facts.counted.are_successes else "mean"


def _answer(facts):
    if not facts.arms.n.any():
        return no_answer(facts)
    what = _mean_of(facts)
    drawing = interval_figure(_undecided(facts), what=what,
                              values=lambda value: rate_of(facts, value))
    caption = f"The {what} of all visits"
    caption += ", and 95 % interval of each variant alone." if facts.counted.are_successes else "."
    if facts.status.done:
        caption += " Filled: the answer."
    if drawing and "arrow" in drawing:
        caption += " An interval that leaves the figure ends in an arrow."
    notes = "".join(f"<p>{note}</p>" for note in _notes(facts)) + _bets(facts)
    return section("answer", "All variants", split_words(facts), _arm_table(facts),
                   figure(drawing, caption) if drawing else "",
                   f"<details><summary>How the numbers are computed</summary>{notes}</details>")


def _undecided(facts):
    """Return the facts without an answer if there is none yet, so that no arm is marked."""
    if facts.status.done or facts.counted.race is None:
        return facts
    everyone = np.concatenate([facts.chosen, facts.others]).astype(np.int64)
    return facts._replace(chosen=everyone[:0], others=everyone)


def split_words(facts):
    """Return the result of the test of the split of visits."""
    check = facts.status.split
    if check is None:
        return ""
    if check.mismatch:
        return f"<p><strong>Sample-ratio mismatch: {escape(mismatch_words(check))}.</strong></p>"
    return (f"<p>Visits were divided among the variants as planned (test of the split: "
            f"p = {check.p_value:.2g}; there is an alarm below .01).</p>")


def _notes(facts):
    """Return paragraphs on the meaning and the limits of the means."""
    counted, means = facts.counted, f"{_mean_of(facts)}s"
    pooled = (f"{means.capitalize()} are of all trials of an arm, pooled over the batches. If "
              "days differ, and arms are added or dropped or their shares change, pooled "
              f"{means} may mislead and even put the arms in the wrong order (Simpson's paradox).")
    pooled += "" if facts.own_means is None else OWN_MEANS
    if counted.n_waiting:
        n = int(counted.trials.sum())
        pooled += (f" The policy has asked for {n - counted.n_waiting:,} of {count(n, 'trial')}: "
                   f"its answer is based on these, and the {means} on all.")
    return pooled, _promise(counted.race, means), WILSON if counted.are_successes else SUMS


def _promise(race, means):
    if race is None:
        return ("The policy's own guarantee, if it has one, is about its answer as a whole, for "
                "arms that do not change.")
    return ("The race itself compares arms only within batches: it drops an arm when the wealth of "
            f"the bets against it, 1 at the start, reaches {race.threshold:.6g}. Its guarantee, a "
            f"wrong winner with probability at most {race.delta:.3g}, is about the arms that it "
            f"drops, not about {means} or intervals. The documentation of CountRace states its "
            "assumptions, also for arms that were added or retired because of results.")


def _words_of(facts):
    """Return the state of each arm in one word."""
    counted, status = facts.counted, facts.status
    words = np.where(counted.gone, "dropped", "" if status.done else "in the test").astype(object)
    for arm in np.flatnonzero(counted.gone).tolist():
        last = np.flatnonzero(counted.trials[:, arm])
        if last.size and last[-1] < len(counted.keys) - 1:
            words[arm] = f"dropped after {names_of(counted.keys)(last[-1])}"
    if counted.race is not None:
        words[counted.race.retired] = "retired"
    if status.done:
        # the last arm has not won if all others were retired
        has_won = counted.race is None or any(str(one).startswith("dropped") for one in words)
        word = "answer" if counted.race is None else "winner"
        words[facts.chosen] = word if has_won else "in the test"
    return words


def _arm_table(facts):
    """Return a table of all arms: the answer, the remaining arms, and the others."""
    counted, arms, words = facts.counted, facts.arms, _words_of(facts)
    sums, rows, others = counted.sums.sum(axis=0), [], by_means(arms, counted.gone)
    order = np.append(facts.chosen, others[~np.isin(others, facts.chosen)])
    for arm in order[:ARMS].tolist():
        mean = arms.means[arm]
        total = f"{sums[arm]:,.0f}" if counted.are_successes else number(sums[arm], 6)
        row = [name_of(facts.names[arm]), words[arm], f"{arms.n[arm]:,}", total,
               rate_of(facts, mean),
               rate_of(facts, mean - arms.below[arm]), rate_of(facts, mean + arms.above[arm])]
        row += [] if facts.own_means is None else [number(facts.own_means[arm])]
        rows.append(("other" if counted.gone[arm] else "", row))
    head = [facts.noun, "", "visits", "successes" if counted.are_successes else "sum",
            _mean_of(facts), "95 % low", "high"]
    head += ["policy's mean"] * (facts.own_means is not None)
    alone = "; low and high are of each variant alone, see the lifts above to compare them"
    return table(f"{shown(len(rows), arms.n.size, facts.noun)}, the best first"
                 + (alone if counted.are_successes else ""), head, rows, {0, 1})


def _bets(facts):
    """Return a table of the bets against each arm; "" if the policy is not a race."""
    race, words = facts.counted.race, _words_of(facts)
    if race is None:
        return ""
    rows = [("", [name_of(facts.names[arm]), _capital(race.capital[arm], words[arm])])
            for arm in range(min(facts.names.size, ARMS))]
    return table("Wealth of the bets against each arm", ["variant",
                 f"bets against (dropped at {race.threshold:.6g})"], rows, {0})


def _capital(capital, word):
    """Return the wealth of the bets against an arm; a dash for a retired arm."""
    if word == "retired":
        return number(np.nan)
    return number(capital) if np.isfinite(capital) else "∞"


def _over_time(facts):
    counted = facts.counted
    few = f" Drawn at {POINTS} of the batches." if len(counted.keys) > POINTS else ""
    drawings = [
        (mean_figure(facts, *means_so_far(counted, facts.followed), names_of(counted.keys),
                     f"{_mean_of(facts)} so far", lambda value: rate_of(facts, value)),
         f"The {_mean_of(facts)} of the leading variants over all visits up to each batch." + few),
        (pull_figure(_undecided(facts), "visits"), "Visits of each variant.")]
    figures = [figure(drawing, caption) for drawing, caption in drawings if drawing]
    if not figures:
        return ""
    return section("time", "Over time, and where the visits went",
                   f'<div class="figures">{"".join(figures)}</div>')


@np.errstate(invalid="ignore")
def means_so_far(counted, arms):
    """Return at most `POINTS` batches, and the means of arms up to each, shape (points, arms)."""
    n = len(counted.keys)
    at = np.unique(np.linspace(0, n - 1, min(POINTS, n)).astype(int))
    trials, sums = (one[:, arms].cumsum(axis=0)[at] for one in (counted.trials, counted.sums))
    return at, sums / trials


def _batches(facts):
    n = len(facts.counted.keys)
    if not n:
        return section("batches", "Batches", "<p>No counts yet.</p>")
    first = max(0, n - PARTS)
    rows = [("", [name_of(facts.counted.keys[batch]), *_cells(facts, slice(batch, batch + 1))])
            for batch in reversed(range(first, n))]
    if first:
        rows.append(("other", [f"{first:,} before", *_cells(facts, slice(first))]))
    arms, mean = facts.followed, _mean_of(facts)
    which = "each" if arms.size == facts.names.size else f"the {arms.size} leading ones"
    head = ["batch", "visits", mean, *(short(name) for name in facts.names[arms])]
    return section("batches", "Batches", _amended(facts.counted),
                   table(f"By batch, the last first: visits and {mean} of all variants, then "
                         f"{mean} and visits of {which}", head, rows, {0}))


def _amended(counted):
    """Return a table of corrected counts, the last first; "" if there are none."""
    found = counted.amendments
    if not found:
        return ""
    rows = [("", [str(one.event), name_of(one.key), name_of(one.name),
                  f"{number(one.sum_before, 6)} of {one.trials_before:,}",
                  f"{number(one.sum, 6)} of {one.trials:,}", name_of(one.reason),
                  name_of(one.who)]) for one in reversed(found[-PARTS:])]
    n_events = len({one.event for one in found})
    return ("<p>Counts were corrected, and the policy was run again on all batches. If a winner "
            "might have been declared both before and after a correction, the probability of a "
            f"wrong winner is at most {n_events + 1} times the guaranteed one. Nothing is proven "
            "if results determined the corrections: see <code>WebTest.amend_counts</code>.</p>"
            + table("Corrected counts, the last first",
                    ["event", "batch", "variant", "was", "is", "why", "who"], rows, {1, 2, 5, 6}))


def _cells(facts, batches):
    """Return trials and mean of some batches together, and the means of the leading arms."""
    trials, sums = (one[batches].sum(axis=0) for one in (facts.counted.trials, facts.counted.sums))
    means = sums / trials
    return [f"{trials.sum():,}", rate_of(facts, sums.sum() / trials.sum()),
            *(f"{rate_of(facts, means[arm])} of {trials[arm]:,}" if trials[arm] else number(np.nan)
              for arm in facts.followed)]
