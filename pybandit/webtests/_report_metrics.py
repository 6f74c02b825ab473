"""Content of a report on a web test with several metrics; HTML."""

import numpy as np

from pybandit._shared.html import number
from pybandit.report import page
from pybandit.report._tables import name_of, section, table
from pybandit.webtests._report_counts import split_words
from pybandit.webtests._report_facts import facts_of
from pybandit.webtests._report_headline import answer, period
from pybandit.webtests._report_lifts import rate_of


def metrics_title(test):
    """Return the default title of the page."""
    return f"Web test {test.path}"


@np.errstate(all="ignore")
def metrics_content(test, title):
    """Return the content of the page: the answers, each goal, the guardrails, the record."""
    facts = {name: facts_of(one) for name, one in test.tests.items()}
    results = test.results()
    goals = [section(name, name_of(name), answer(facts[name])) for name, one in results.items()
             if not one.is_guardrail]
    return page.content(title, _top(test, facts, results), *goals, _rails(test, facts, results),
                        _record(facts))


def _top(test, facts, results):
    """Return the state of each metric, the check of the split, and the guarantee."""
    harmed = {arm: name for name, one in results.items() for arm in one.harmed}
    rows = []
    for name, one in results.items():
        words = one.summary().removeprefix(f"{name}: ").removesuffix(".")
        open_yet = [arm for arm in test.names[1:] if arm not in (*one.harmed, *one.safe)]
        if one.is_guardrail and (one.harmed or one.safe) and open_yet:
            words += f"; {', '.join(open_yet)}: not known yet"
        also = (f", but it is harmed: see {name_of(harmed[one.winner])}"
                if one.winner in harmed else "")
        rows.append(f"<li><strong>{name_of(name)}</strong>: {name_of(words)}{also}</li>")
    first = next(iter(facts.values()))
    promise = (f"{period(first.counted.keys)}. With a probability of at least "
               f"{100 - 100 * test.delta:.3g} %, every winner and every harm on this page is "
               "right, for all metrics together, even if you look every day. All ranges hold "
               "together with the same probability, if a lift is the same on all days.")
    return (f'<ul class="headline lifts">{"".join(rows)}</ul><p class="soft">{promise}</p>'
            f"{split_words(first)}")


def _rails(test, facts, results):
    """Return a table of the guardrails."""
    rails = {name: one for name, one in results.items() if one.is_guardrail}
    if not rails:
        return ""
    rows = []
    for name, one in rails.items():
        metric = test.metrics[name]
        for at, arm in enumerate(test.names):
            word = ("control" if not at else "harmed" if arm in one.harmed else
                    "safe" if arm in one.safe else "not known yet")
            margin = _size(facts[name], metric.margin)
            limit = "" if not at else f"{margin} {'more' if metric.lower_is_better else 'less'}"
            rows.append(("", [name_of(name), name_of(arm), rate_of(facts[name], one.means[at]),
                              number(np.nan) if not at else
                              _signed(facts[name], one.means[at] - one.means[0]), limit, word]))
    return section(
        "guardrails", "Guardrails", "<p>Metrics that must not get worse than the control's by more "
        "than a margin. <em>Harmed</em>: they are worse by more. <em>Safe</em>: they are not.</p>",
        table("Arms by guardrail", ["metric", "arm", "mean", "difference", "margin", "state"],
              rows, {0, 1, 5}))


def _signed(facts, difference):
    """Return a difference of means with its sign."""
    sign = "\N{MINUS SIGN}" if difference < 0 else "+"
    return f"{sign}{_size(facts, abs(difference))}" if np.isfinite(difference) else number(np.nan)


def _size(facts, difference):
    """Return a difference of means, in percentage points if they are rates of successes."""
    if not facts.counted.are_successes:
        return number(difference)
    return f"{100 * difference:.3g} points"


def _record(facts):
    """Return the digests of the logs."""
    rows = [("", [name_of(name), f"{one.status.n_events:,}", f"{len(one.counted.keys):,}",
                  f"<code>{one.status.head}</code>"]) for name, one in facts.items()]
    return section("record", "The record", "<p>Each metric has a log of its own. Its last digest "
                   "shows later that no earlier event was changed "
                   "(<code>pybandit study verify --head</code>). Counts that were told and "
                   "corrected are in the report of each metric.</p>",
                   table("Logs of the metrics", ["metric", "events", "batches", "last digest"],
                         rows, {0, 3}))
