"""`pybandit webtest plan`: how long a test takes, or power curves."""

import argparse
import math
import sys

from pybandit.cli._actions import add_action
from pybandit.cli._types import at_least, number_of, picture, probability

POWERS = 0.5, 0.8, 0.9


def add_plan(parts):
    part = add_action(parts, "plan", plan, "simulate tests: days to a winner, and how often it "
                                           "is wrong; equal rates are an A/A check",
                      place=False)
    part.add_argument("--rates", required=True, metavar="P,P,...", type=_rates,
                      help="assumed conversion rates: 4%%,4.5%%,5%% or .04,.045,.05; with --lifts, "
                           "the one of the present page")
    part.add_argument("--lifts", metavar="L,L,...", type=_lifts,
                      help="power curves of two pages for these lifts, such as 5%%,10%%,20%%")
    part.add_argument("--visits", required=True, type=at_least(1), metavar="N",
                      help="visits of all pages per day, or per recorded batch")
    part.add_argument("--delta", type=probability, default=0.05, metavar="P",
                      help="maximum probability of a wrong winner (default %(default)s)")
    part.add_argument("--days", type=at_least(1), default=200, metavar="N",
                      help="maximum number of days (default %(default)s)")
    part.add_argument("--runs", type=at_least(1), default=200, metavar="N",
                      help="number of simulated tests (default %(default)s)")
    part.add_argument("--seed", type=at_least(0), default=1, metavar="N",
                      help="seed of the simulations (default %(default)s)")
    part.add_argument("--plot", type=picture, metavar="PNG",
                      help="write a plot of the share of tests with a winner over the days")


def _shares_of(text):
    return [number_of(part[:-1]) / 100 if part.endswith("%") else number_of(part)
            for part in map(str.strip, text.split(","))]


def _rates(text):
    rates = _shares_of(text)
    if not all(0.0 < rate < 1.0 for rate in rates):
        raise argparse.ArgumentTypeError(f"must be rates above 0 and below 1; got {text}")
    return rates


def _lifts(text):
    lifts = _shares_of(text)
    if not all(-1.0 < lift < math.inf and lift for lift in lifts):
        raise argparse.ArgumentTypeError(f"must be lifts above -100% and not 0; got {text}")
    return lifts


def plan(arguments):
    options = dict(delta=arguments.delta, n_runs=arguments.runs, max_batches=arguments.days,
                   rng=arguments.seed)
    if arguments.lifts is not None:
        return _curves(arguments, options)
    if len(arguments.rates) < 2:
        raise ValueError("--rates must be at least two rates without --lifts; got "
                         f"{arguments.rates[0]:g}")
    return _days_of(arguments, options)


def _curves(arguments, options):
    from pybandit.cli._out import say
    from pybandit.webtests import power_curves

    if len(arguments.rates) > 1:
        raise ValueError("--rates must be one rate with --lifts; got "
                         f"{', '.join(f'{rate:g}' for rate in arguments.rates)}")
    curves = power_curves(arguments.rates[0], arguments.lifts, arguments.visits, **options)
    visits = {str(power): [None if math.isinf(n) else n for n in curves.needed(power).tolist()]
              for power in POWERS}
    say(arguments, {"lifts": arguments.lifts, "visits": visits, "power": curves.power.tolist(),
                    "z_test_visits": curves.z_test.tolist(), "runs": arguments.runs},
        curves.summary())
    return _drawn(arguments, curves)


def _days_of(arguments, options):
    from pybandit.cli._out import say
    from pybandit.webtests import plan_counts

    result = plan_counts(arguments.rates, arguments.visits, **options)
    days = {q: result.quantile(q) for q in (0.1, 0.5, 0.9)}
    low, high = result.wrong_interval
    known = {"days": {str(q): None if math.isinf(day) else day for q, day in days.items()},
             "n_wrong": result.n_wrong, "n_undecided": result.n_undecided, "runs": arguments.runs,
             "wrong_interval": [low, high],
             "z_test_days": None if math.isinf(result.z_test) else result.z_test,
             "estimate_days": None if math.isinf(result.estimate) else result.estimate,
             "reason": result.reason or None}
    lines = [f"{name:12}{text}" for name, text in [
        ("days", ", ".join(f"{q:.0%} by {_day(day, arguments.days)}"
                           for q, day in days.items())),
        ("wrong", f"{result.n_wrong} of {arguments.runs} tests: {low:.1%} to {high:.1%}, promised "
                  f"at most {arguments.delta:g}"),
        ("no winner", f"{result.n_undecided} of {arguments.runs}, in {arguments.days} days"),
        *[("why", result.reason)] * bool(result.reason),
        ("z-test", "never: the best rates are equal" if math.isinf(result.z_test) else
         f"{math.ceil(result.z_test):,} days, fixed beforehand, looked at once (Bonferroni, power "
         ".8)")]]
    say(arguments, known, "\n".join(lines))
    return _drawn(arguments, result)


def _day(day, most):
    return f"none in {most}" if math.isinf(day) else f"day {day:,.0f}"


def _drawn(arguments, result):
    """Write the plot, if one is wanted; return the exit status."""
    if arguments.plot is None:
        return 0
    from pybandit._shared.drawing import new_figure, save
    from pybandit._shared.files import reason_of

    figure, ((axis,),) = new_figure(7.0, 4.2)
    result.plot(axis)
    try:
        save(figure, arguments.plot)
    except OSError as error:
        print(f"pybandit webtest plan: --plot must be a file that can be written; got "
              f"{arguments.plot!r}: {reason_of(error)}", file=sys.stderr)
        return 2
    return 0
