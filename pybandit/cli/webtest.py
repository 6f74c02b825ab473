"""`pybandit webtest`, a test of web pages by counts per day."""

import argparse
import math
import os

from pybandit.cli._actions import add_action, add_command, add_study_actions
from pybandit.cli._screen_options import add_numbers
from pybandit.cli._types import at_least, number_of, probability
from pybandit.cli._webtest_counts import amend, counts, opened
from pybandit.cli._webtest_plan import add_plan

EPILOG = """\
in short:
  pybandit webtest plan --rates 4%,5% --visits 2000      # how many days?
  pybandit webtest new study.db --arms old,new
  pybandit webtest split 2000                            # divide the next visits
  pybandit webtest counts monday.csv                     # record results; repeat every day
  pybandit webtest report -o report.html

All actions but plan work on study.db in this folder; name another file by --study FILE
before or after the action, or as the first word of the action. A file of counts is CSV or
.xlsx with the columns arm, trials and successes (or sum), and optionally squares and key.

exit status: 0 done; 1 if a package is missing; 2 if options or a file are invalid, and nothing
was recorded; 3 if the file is damaged, too new, or cannot be read or written."""


def add(commands):
    """Add the subcommand to `commands`, as returned by argparse."""
    _, parts = add_command(
        commands, "webtest", help="run a test of web pages by counts, valid at every look",
        description="Test web pages by counts per day, in one file. A winner is wrong with "
                    "probability\nat most --delta, no matter how often the results are checked.",
        epilog=EPILOG)
    add_plan(parts)
    _add_new(parts)
    _add_counts(parts)
    _add_amend(parts)
    _add_arms(parts)
    add_study_actions(parts)


def _add_new(parts):
    part = add_action(parts, "new", new, "start a test that finds the best page, wrong with "
                                         "probability at most --delta")
    part.add_argument("--arms", required=True, metavar="A,B,...",
                      help="names of the pages, or a file of them")
    part.add_argument("--delta", type=probability, metavar="P",
                      help="maximum probability of a wrong winner (default 0.05)")
    part.add_argument("--values", nargs=2, type=float, metavar=("LOW", "HIGH"),
                      help="range of the value of a visit (default 0 1: it converts or not)")
    part.add_argument("--thompson", type=at_least(2), metavar="N",
                      help="no test: send more traffic to better pages, N visits at a time")
    part.add_argument("--shares", metavar="W,W,...", type=_shares,
                      help="shares of the visits by page (default: equal)")
    part.add_argument("--seed", type=at_least(0), metavar="N",
                      help="seed of the draws of --thompson")


def _add_counts(parts):
    part = add_action(parts, "counts", counts, "record a file of counts; without a file, print all "
                                               "recorded counts", place=False)
    part.add_argument("files", nargs="*", metavar="STUDY FILE.csv",
                      help="the study, the same as --study, and a file of counts: CSV or .xlsx "
                           "with the columns arm, trials and successes (or sum), and optionally "
                           "squares and key")
    part.add_argument("--key", metavar="TEXT",
                      help="key of the batch, which is recorded once (default: the file's name)")
    part.add_argument("--cumulative", action="store_true",
                      help="treat the counts as running totals, and record their differences")
    part.add_argument("--revised", metavar="REASON",
                      help="treat counts that differ from recorded ones as corrections")
    part.add_argument("--repeated", action="store_true",
                      help="record counts even if another key has the same counts")
    part.add_argument("--dates", choices=("day-first", "month-first"),
                      help="order of dates such as 03/01/2025, if the file is ambiguous")
    part.add_argument("--skip", action="append", default=[], metavar="TEXT",
                      help="leave out rows with this text in a cell; repeatable")
    add_numbers(part)
    for role, what in (("arm", "arms"), ("trials", "trials"), ("sum", "successes or sums"),
                       ("squares", "sums of squares"), ("key", "keys")):
        part.add_argument(f"--{role}-column", metavar="NAME", help=f"column of the {what}")
    part = add_action(parts, "split", split, "print how to divide the next visits among the pages")
    part.add_argument("visits", type=at_least(0), metavar="N")


def _add_amend(parts):
    part = add_action(parts, "amend", amend, "correct recorded counts, with a reason",
                      epilog="Pass --key monday --counts home=1010,39, or a --file of counts. "
                             "Counts of other arms do not change.")
    part.add_argument("--key", metavar="TEXT", help="key of the batch")
    part.add_argument("--counts", action="append", default=[], metavar="ARM=TRIALS,SUM",
                      help="corrected counts; repeatable")
    part.add_argument("--file", metavar="FILE.csv", help="file of corrected counts")
    part.add_argument("--reason", required=True, metavar="TEXT", help="reason, kept in the log")
    add_numbers(part)


def _add_arms(parts):
    part = add_action(parts, "add-arm", add_arm, "add a page from now on")
    part.add_argument("arm", metavar="NAME")
    part = add_action(parts, "retire", retire,
                      "remove a page, for reasons other than its results")
    part.add_argument("arm", metavar="NAME")
    part.add_argument("--reason", required=True, metavar="TEXT", help="reason, kept in the log")


def _shares(text):
    shares = [number_of(part) for part in text.split(",")]
    if not all(share > 0.0 and math.isfinite(share) for share in shares):
        raise argparse.ArgumentTypeError(f"must be finite numbers above 0; got {text}")
    return shares


# The actions.

def new(arguments):
    from pybandit.betting import CountRace
    from pybandit.cli._out import say
    from pybandit.cli._screen_commands import title_words
    from pybandit.policies import ThompsonSampling
    from pybandit.tables._arms import read_arms
    from pybandit.webtests import WebTest

    names, title = [name.strip() for name in arguments.arms.split(",")], None
    if len(names) == 1 or os.path.exists(arguments.arms):
        names, _, title = read_arms(arguments.arms)
    if len(names) < 2:
        raise ValueError(f"--arms must be at least two names; got {len(names)}")
    _check_new(arguments)
    if arguments.thompson is None:
        policy = CountRace(len(names), delta=arguments.delta or 0.05,
                           value_range=arguments.values or (0.0, 1.0))
    else:
        policy = ThompsonSampling(len(names), rng=arguments.seed, batch_size=arguments.thompson)
    with WebTest.create(arguments.study, policy, names, who=arguments.who,
                        shares=arguments.shares) as test:
        say(arguments, {"file": test.path, "arms": names},
            f"{test.path}: {type(policy).__name__}, {len(names)} arms{title_words(title)}; next: "
            "split, and counts")
    return 0


def _check_new(arguments):
    """Reject options that would have no effect, and values in the wrong order."""
    if arguments.thompson is None and arguments.seed is not None:
        raise ValueError("--seed must be left out without --thompson: a test draws nothing")
    for option, reason in (("delta", "names no winner"),
                           ("values", "needs visits that either convert or do not")):
        if arguments.thompson is not None and getattr(arguments, option) is not None:
            raise ValueError(f"--{option} must be left out with --thompson, which {reason}")
    low, high = arguments.values or (0.0, 1.0)
    if not (low < high and math.isfinite(high - low)):
        raise ValueError(f"--values must be two finite numbers, the lower first; got {low:g} "
                         f"{high:g}")


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
