"""Content of a report on a web test with several metrics; HTML."""

import numpy as np

from pybandit._shared.html import number
from pybandit.report import page
from pybandit.report._tables import name_of, section, table
from pybandit.webtests._report_counts import split_words
from pybandit.webtests._report_facts import facts_of
from pybandit.webtests._report_headline import answer, period
from pybandit.webtests._report_lifts import rate_of

MINUS = "\N{MINUS SIGN}"


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
        words = _limits(test, one) if one.is_guardrail else _winner(one)
        also = (f", but it is worse than allowed: see {name_of(harmed[one.winner])}"
                if one.winner in harmed else "")
        rows.append(f"<li><strong>{name_of(name)}</strong>: {words}{also}</li>")
    verdict = _verdict(test, results)
    first = next(iter(facts.values()))
    promise = (f"{period(first.counted.keys)}. With a probability of at least "
               f"{100 - 100 * test.delta:.3g} %, every \"won\", \"worse than allowed\" and "
               "\"within the limit\" on this page is right, for all metrics together, even "
               "if you look every day. All ranges hold together with the same probability, "
               "if a lift is the same on all days.")
    kind = "lifts" if verdict else "headline lifts"
    return (f'{verdict}<ul class="{kind}">{"".join(rows)}</ul><p class="soft">{promise}</p>'
            f"{split_words(first)}")


def _verdict(test, results):
    """Return a sentence if one arm won all goals and no guardrail is worse; otherwise ""."""
    goals = [one for one in results.values() if not one.is_guardrail]
    rails = [one for one in results.values() if one.is_guardrail]
    best = goals[0].winner
    if best is None or any(one.winner != best for one in goals) or any(
            best in one.harmed for one in rails):
        return ""
    words = f"{name_of(best)} won on {name_of(goals[0].name)}" if len(goals) == 1 else (
        f"{name_of(best)} won on every goal")
    unknown = [name_of(one.name) for one in rails if best not in one.safe]
    if best != test.names[0] and rails:
        words += (f". Not known yet: whether it is worse than allowed in {', '.join(unknown)}"
                  if unknown else ", and is within the limits of the guardrails")
    return f'<p class="headline">{words}.</p>'


def _winner(one):
    return "no winner yet" if one.winner is None else f"{name_of(one.winner)} won"


def _limits(test, one):
    """Return the state of the arms in a guardrail, in words."""
    rest = [arm for arm in test.names[1:] if arm not in (*one.harmed, *one.safe)]
    groups = [(one.harmed, "worse than allowed"), (one.safe, "within the limit"),
              (rest, "not known yet")]
    return "; ".join(f"{', '.join(map(name_of, arms))}: {word}" for arms, word in groups if arms)


def _rails(test, facts, results):
    """Return a table of the guardrails."""
    rails = {name: one for name, one in results.items() if one.is_guardrail}
    if not rails:
        return ""
    rows = []
    for name, one in rails.items():
        metric = test.metrics[name]
        for at, arm in enumerate(test.names):
            word = ("control" if not at else "worse than allowed" if arm in one.harmed else
                    "within the limit" if arm in one.safe else "not known yet")
            margin = _size(facts[name], metric.margin)
            limit = "" if not at else f"{'+' if metric.lower_is_better else MINUS}{margin}"
            rows.append(("", [name_of(name), name_of(arm), word,
                              rate_of(facts[name], one.means[at]), number(np.nan) if not at else
                              _signed(facts[name], one.means[at] - one.means[0]), limit]))
    points = any(facts[name].counted.are_successes for name in rails)
    return section(
        "guardrails", "Guardrails", "<p>Metrics that may get worse than those of "
        f"{name_of(test.names[0])} by at most the allowed change.</p>",
        table("Variants by guardrail" + "; points are percentage points" * points,
              ["metric", "variant", "state", "mean", "change", "allowed"], rows, {0, 1, 2}))


def _signed(facts, difference):
    """Return a difference of means with its sign."""
    sign = MINUS if difference < 0 else "+"
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
    return section("record", "The record", "<details><summary>Logs and digests</summary>"
                   "<p>Each metric has a log of its own. Its last digest shows later "
                   "that no earlier event was changed "
                   "(<code>pybandit study verify --head</code>). Counts that were told and "
                   "corrected are in the report of each metric.</p>",
                   table("Logs of the metrics", ["metric", "events", "batches", "last digest"],
                         rows, {0, 3}), "</details>")
