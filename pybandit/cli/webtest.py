"""`pybandit webtest`: a test of pages that is told counts, a day at a time."""

import argparse
import math
import os

from pybandit.cli._actions import add_action, add_command, add_log_actions
from pybandit.cli._screen_options import add_numbers
from pybandit.cli._types import at_least, number_of
from pybandit.cli._webtest_counts import amend, counts, opened

EPILOG = """\
in short:
  pybandit webtest plan --rates 4%,5% --visits 2000      # how many days?
  pybandit webtest new study.db --arms old,new
  pybandit webtest split 2000                            # how the next visits are shared out
  pybandit webtest counts monday.csv                     # what came of them; again the next day
  pybandit webtest report -o report.html

All but plan work on study.db in this folder, or on another one: --study FILE before
or after the action, or FILE as its first word. A file of counts is CSV or .xlsx with the
columns arm, trials and successes (or sum), perhaps squares and key.

exit status: 0 done; 1 where a package is missing; 2 where options or a file are wrong,
and nothing was recorded; 3 where the file is damaged, too new, or cannot be read or written."""


def add(commands):
    """Add the subcommand to argparse's `commands`."""
    _, parts = add_command(
        commands, "webtest", help="a test of pages by counts: which is best, however often looked",
        description="Test pages by counts, a day at a time, in one file: a winner is wrong with "
                    "probability\nat most --delta, however often one looks.",
        epilog=EPILOG)
    _add_plan(parts)
    _add_new(parts)
    _add_counts(parts)
    _add_amend(parts)
    _add_arms(parts)
    add_log_actions(parts)


def _add_new(parts):
    part = add_action(parts, "new", new, "begin a test of pages by counts: the best one, wrong "
                                         "with probability at most --delta")
    part.add_argument("--arms", required=True, metavar="A,B,...",
                      help="the pages' names, or a file of them")
    part.add_argument("--delta", type=_probability, metavar="P",
                      help="probability of a wrong winner (default 0.05)")
    part.add_argument("--values", nargs=2, type=float, metavar=("LOW", "HIGH"),
                      help="where each visit's value lies (default 0 1: it converts or not)")
    part.add_argument("--thompson", type=at_least(2), metavar="N",
                      help="no test: more traffic to what does well, N visits decided at a time")
    part.add_argument("--shares", metavar="W,W,...", type=_shares,
                      help="how visits are split among the pages (default: evenly)")
    part.add_argument("--seed", type=at_least(0), metavar="N", help="of what --thompson draws")


def _add_counts(parts):
    part = add_action(parts, "counts", counts, "record a file of counts; without one, print all "
                                               "that are recorded", place=False)
    part.add_argument("files", nargs="*", metavar="STUDY FILE.csv",
                      help="the study, as --study, and CSV or .xlsx: columns arm, trials and "
                           "successes (or sum), perhaps squares and key")
    part.add_argument("--key", metavar="TEXT",
                      help="what the batch is called: recorded once (default: the file's name)")
    part.add_argument("--cumulative", action="store_true",
                      help="the counts are running totals: record their difference")
    part.add_argument("--revised", metavar="REASON",
                      help="counts that differ from those recorded are corrections: amend these")
    part.add_argument("--repeated", action="store_true",
                      help="record counts although another key has the same")
    part.add_argument("--dates", choices=("day-first", "month-first"),
                      help="how dates like 03/01/2025 are meant, if the file leaves it open")
    part.add_argument("--skip", action="append", default=[], metavar="TEXT",
                      help="leave out rows with this in a cell; again for more")
    add_numbers(part)
    for role, what in (("arm", "arms"), ("trials", "trials"), ("sum", "successes or sums"),
                       ("squares", "sums of squares"), ("key", "keys")):
        part.add_argument(f"--{role}-column", metavar="NAME", help=f"the column of the {what}")
    part = add_action(parts, "split", split, "how the next visits are shared out")
    part.add_argument("visits", type=at_least(0), metavar="N")


def _add_amend(parts):
    part = add_action(parts, "amend", amend, "correct counts that are recorded, and say why",
                      epilog="--key monday --counts home=1010,39, or a --file of counts. Arms "
                             "that are not named stay as they are.")
    part.add_argument("--key", metavar="TEXT", help="the batch of counts")
    part.add_argument("--counts", action="append", default=[], metavar="ARM=TRIALS,SUM",
                      help="counts as they should be; again for more")
    part.add_argument("--file", metavar="FILE.csv", help="a file of right counts")
    part.add_argument("--reason", required=True, metavar="TEXT", help="why; kept in the log")
    add_numbers(part)


def _add_arms(parts):
    part = add_action(parts, "add-arm", add_arm, "one page more, from now on")
    part.add_argument("arm", metavar="NAME")
    part = add_action(parts, "retire", retire,
                      "take a page out, for reasons other than its results")
    part.add_argument("arm", metavar="NAME")
    part.add_argument("--reason", required=True, metavar="TEXT", help="recorded")


def _add_plan(parts):
    part = add_action(parts, "plan", plan, "days to a winner, and how often it is wrong, by "
                                           "playing the test; equal rates are an A/A check",
                      place=False)
    part.add_argument("--rates", required=True, metavar="P,P,...", type=_rates,
                      help="what the pages may convert: 4%%,4.5%%,5%% or .04,.045,.05")
    part.add_argument("--visits", required=True, type=at_least(1), metavar="N",
                      help="of all pages in a day, or whatever is recorded at a time")
    part.add_argument("--delta", type=_probability, default=0.05, metavar="P",
                      help="probability of a wrong winner (default %(default)s)")
    part.add_argument("--days", type=at_least(1), default=200, metavar="N",
                      help="at most (default %(default)s)")
    part.add_argument("--runs", type=at_least(1), default=200, metavar="N",
                      help="tests played (default %(default)s)")
    part.add_argument("--seed", type=at_least(0), default=1, metavar="N",
                      help="of what is drawn (default %(default)s)")


def _probability(text):
    value = number_of(text)
    if not 0.0 < value < 1.0:
        raise argparse.ArgumentTypeError(f"must be above 0 and below 1; got {text}")
    return value


def _shares(text):
    shares = [number_of(part) for part in text.split(",")]
    if not all(share > 0.0 and math.isfinite(share) for share in shares):
        raise argparse.ArgumentTypeError(f"must be numbers above 0; got {text}")
    return shares


def _rates(text):
    parts = [part.strip() for part in text.split(",")]
    rates = [number_of(part[:-1]) / 100 if part.endswith("%") else number_of(part)
             for part in parts]
    if len(rates) < 2 or not all(0.0 < rate < 1.0 for rate in rates):
        raise argparse.ArgumentTypeError(f"must be two rates or more, above 0 and below 1; got "
                                         f"{text}")
    return rates


# what they do

def new(arguments):
    from pybandit.betting import CountRace
    from pybandit.cli._out import say
    from pybandit.cli._screen_commands import _under
    from pybandit.policies import ThompsonSampling
    from pybandit.tables._arms import read_arms
    from pybandit.webtests import WebTest

    names, title = [name.strip() for name in arguments.arms.split(",")], None
    if len(names) == 1 or os.path.exists(arguments.arms):
        names, _, title = read_arms(arguments.arms)
    if len(names) < 2:
        raise ValueError(f"--arms must be two names or more; got {len(names)}")
    _check_new(arguments)
    if arguments.thompson is None:
        policy = CountRace(len(names), delta=arguments.delta or 0.05,
                           value_range=arguments.values or (0.0, 1.0))
    else:
        policy = ThompsonSampling(len(names), rng=arguments.seed, batch_size=arguments.thompson)
    with WebTest.create(arguments.study, policy, names, who=arguments.who,
                        shares=arguments.shares) as test:
        say(arguments, {"file": test.path, "arms": names},
            f"{test.path}: {type(policy).__name__}, {len(names)} arms{_under(title)}; next: "
            "split, and counts")
    return 0


def _check_new(arguments):
    """Refuse options that would not be used, and values in the wrong order."""
    if arguments.thompson is None and arguments.seed is not None:
        raise ValueError("--seed is of what --thompson draws; a test draws nothing")
    for option in ("delta", "values"):
        if arguments.thompson is not None and getattr(arguments, option) is not None:
            raise ValueError(f"--thompson takes no --{option}: it names no winner, and visits "
                             "convert or not")
    low, high = arguments.values or (0.0, 1.0)
    if not (low < high and math.isfinite(high - low)):
        raise ValueError(f"--values must be two numbers, the lower first; got {low:g} {high:g}")


def split(arguments):
    from pybandit.cli._out import say

    with opened(arguments) as test:
        shares = dict(zip(test.names, test.split(arguments.visits).tolist(), strict=True))
    width = max(map(len, shares))
    say(arguments, {"split": shares},
        "\n".join(f"{name:{width}}  {n:,}" for name, n in shares.items()))
    return 0


def add_arm(arguments):
    from pybandit.cli._out import say

    with opened(arguments) as test:
        number = test.add_arm(arguments.arm)
    say(arguments, {"arm": arguments.arm, "number": number},
        f"{arguments.arm} is in the test from now on")
    return 0


def retire(arguments):
    from pybandit.cli._out import say

    with opened(arguments) as test:
        test.retire(arguments.arm, arguments.reason)
        left = [test.names[arm] for arm in test.status().survivors]
    say(arguments, {"arm": arguments.arm, "left": left},
        f"{arguments.arm} is out; left: {', '.join(left)}")
    return 0


def plan(arguments):
    from pybandit.cli._out import say
    from pybandit.webtests import plan_counts

    made = plan_counts(arguments.rates, arguments.visits, delta=arguments.delta,
                       n_runs=arguments.runs, max_batches=arguments.days, rng=arguments.seed)
    days = {q: made.quantile(q) for q in (0.1, 0.5, 0.9)}
    low, high = made.wrong_interval
    known = {"days": {str(q): None if math.isinf(day) else day for q, day in days.items()},
             "n_wrong": made.n_wrong, "n_undecided": made.n_undecided, "runs": arguments.runs,
             "wrong_interval": [low, high],
             "z_test_days": None if math.isinf(made.z_test) else made.z_test,
             "estimate_days": None if math.isinf(made.estimate) else made.estimate,
             "reason": made.reason or None}
    lines = [f"{name:12}{text}" for name, text in [
        ("days", ", ".join(f"{q:.0%} by {_days(day, arguments.days)}"
                           for q, day in days.items())),
        ("wrong", f"{made.n_wrong} of {arguments.runs} tests: {low:.1%} to {high:.1%}, promised "
                  f"at most {arguments.delta:g}"),
        ("no winner", f"{made.n_undecided} of {arguments.runs}, in {arguments.days} days"),
        *[("why", made.reason)] * bool(made.reason),
        ("z-test", "never: the best rates are equal" if math.isinf(made.z_test) else
         f"{math.ceil(made.z_test):,} days, fixed beforehand, looked at once (Bonferroni, power "
         ".8)")]]
    say(arguments, known, "\n".join(lines))
    return 0


def _days(day, most):
    return f"none in {most}" if math.isinf(day) else f"day {day:,.0f}"
