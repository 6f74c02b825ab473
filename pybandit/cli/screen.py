"""`pybandit screen`: an experiment of weeks on plates, from one file."""

import argparse

from pybandit.cli import _screen_plan
from pybandit.cli._actions import (
    add_action,
    add_batch_actions,
    add_command,
    add_log_actions,
    add_study,
    late,
    run,
)
from pybandit.cli._screen_options import add_dialect, add_layout
from pybandit.cli._screen_policies import AUTO, CHOICES, wants
from pybandit.cli._types import at_least, writable

FORMATS = "long", "grid", "echo", "opentrons", "hamilton"

EPILOG = """\
in short:
  pybandit screen plan --n 2000 --k 20 --plate 16x24     # how many plates?
  pybandit screen new study.db --policy batch-screening --arms genes.csv --k 20 --batches 12 \\
                      --plate 16x24 --controls col:1,24 --normalise --log --flip
  pybandit screen next -o plate_000.csv            # the plate to prepare
  pybandit screen record plate_000_results.csv     # what the reader found; then next again
  pybandit screen amend --plate 0 --well B7=812.5 --reason "a typo"
  pybandit screen report -o report.html

All but plan and new work on study.db in this folder, or on another one: --study FILE before
or after the action, or FILE as its first word. When a command that records has returned,
what it recorded is on the disk. Each may be given again after a crash: next gives the
same plate, record finds what is known already.

Files are CSV in UTF-8 or UTF-16, or .xlsx. A long table has the columns plate, well, arm and
value, under these names or those that options say, and may have others and lines of a title
before them. A grid is a line plate,NAME and the plate's rows under it, with or without row
letters and column numbers, among other lines. A cell without a value is empty or NA. Formats
of vendors are read by --instrument.

exit status: 0 done; 1 where a package is missing; 2 where options or a file are wrong,
and nothing was recorded; 3 where the study's file is damaged, too new, or cannot be read
or written;
4 from next where the screen asks for nothing more."""

NEW_EPILOG = "policies and their options:\n  " + "\n  ".join(map(wants, CHOICES)) + """

The standard deviation of each arm's rewards is a column of the file of arms, noise_std. A
batch fills a plate, or --batch-size wells. sequential-halving and shvar ask for a stage at
once, on as many plates as it takes; ucb1, thompson and mostly shadavar for one pull.

Readings become rewards, of which higher are better, in this order: --normalise divides by
the mean of the plate's controls (or makes per cent of it, or of the way to the positives'
mean), --log takes the natural logarithm, --flip the negative. The readings are kept, too."""


def add(commands):
    """Add the subcommand to argparse's `commands`."""
    _, parts = add_command(
        commands, "screen", help="a screen that lasts weeks: plates out, results in, one file",
        description="Run a screen of weeks with a policy: which arms go on the next plate, what "
                    "was\nread, what is best by now. One file survives crashes, and late and "
                    "lost plates.",
        epilog=EPILOG)
    _screen_plan.add(parts).set_defaults(run=run, do=_action("plan"))
    _add_new(parts)
    _add_next(parts)
    _add_record(parts)
    _add_amend(parts)
    add_batch_actions(parts)
    add_log_actions(parts)


def _add_new(parts):
    part = parts.add_parser(
        "new", help="begin a screen", description="Begin a screen.", epilog=NEW_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    part.add_argument("place", metavar="FILE", nargs="?", help="the file to make; study.db, say")
    add_study(part, "the same")
    part.add_argument("--policy", required=True, choices=[AUTO, *CHOICES], metavar="NAME",
                      help="who chooses the arms; see below. auto: whichever for plates finds "
                           "most at --noise, or in a --pilot")
    part.add_argument("--arms", required=True, metavar="FILE.csv",
                      help="their names: a line each, or a column arm, name, gene or id")
    part.add_argument("--column", metavar="NAME", help="the column of the names")
    part.add_argument("--header", action=argparse.BooleanOptionalAction, default=None,
                      help="whether the first line is a header (default: it is looked at)")
    part.add_argument("--sheet", metavar="NAME", help="the sheet of a workbook, where it has many")
    part.add_argument("--k", type=at_least(1), metavar="N", help="how many of the best")
    part.add_argument("--batches", type=at_least(1), metavar="N", help="batches to spend")
    part.add_argument("--budget", type=at_least(1), metavar="N", help="pulls to spend")
    part.add_argument("--repeats", type=at_least(1), metavar="N",
                      help="wells of one arm in a batch at most (default: any)")
    part.add_argument("--delta", type=float, metavar="P", help="probability of a wrong answer")
    part.add_argument("--prior", metavar="FILE.csv",
                      help="what was thought of the arms: columns arm and value (or prior, "
                           "score); they are measured in its order")
    part.add_argument("--allow-unmeasured", action="store_const", const=True,
                      help="begin though there are too few batches to measure every arm once")
    _screen_plan.add_noise(part)
    part.add_argument("--noise-std", type=float, metavar="S", help="deviation of a reward")
    part.add_argument("--reuse", action="store_const", const=True,
                      help="means over all stages, not the last alone")
    part.add_argument("--seed", type=at_least(0), metavar="N", help="where the policy draws")
    add_layout(part)
    part.add_argument("--who", metavar="NAME", help="who begins (default user@host)")
    part.add_argument("--json", action="store_true", help="print for machines, as JSON")
    part.set_defaults(run=run, do=_action("new"))


def _add_next(parts):
    part = add_action(parts, "next", _action("next"),
                      "the plates to prepare now: the same until they are recorded")
    part.add_argument("-o", "--out", type=writable, metavar="FILE",
                      help="where the plate goes, CSV or .xlsx; NAME_p1.csv, ... where there "
                           "are several (default: stdout)")
    part.add_argument("--format", choices=FORMATS, default="long",
                      help="a row a well, the shape of the plate, or what a robot transfers "
                           "from --stock (default %(default)s)")
    part.add_argument("--stock", metavar="FILE.csv",
                      help="where the arms are kept: columns plate, well and arm")
    part.add_argument("--volume", type=float, metavar="V",
                      help="of each transfer: nl for an Echo, else ul")
    part.add_argument("--overwrite", action="store_true",
                      help="replace a file that holds something else")


def _add_record(parts):
    part = add_action(parts, "record", _action("record"),
                      "record a file of results, whole or not at all")
    part.add_argument("file", metavar="FILE.csv", help="a long table or grids")
    part.add_argument("--batch", type=at_least(0), metavar="N",
                      help="the batch, where the file names no plate")
    part.add_argument("--plate", metavar="NAME",
                      help="the plate that the file is of, whatever it says")
    part.add_argument("--partial", action="store_true",
                      help="wells without a value come later")
    part.add_argument("--lost", action="store_true",
                      help="wells without a value never come; with --partial those in the file")
    add_dialect(part)


def _add_amend(parts):
    part = add_action(parts, "amend", _action("amend"),
                      "correct readings that are recorded, and say why",
                 epilog="Either wells of a plate, --plate 3 --well B7=812.5 --well C1=failed, or "
                        "--file of right readings. Wells that are not named stay as they are.")
    part.add_argument("--file", metavar="FILE.csv", help="right readings: a long table or grids")
    part.add_argument("--reason", required=True, metavar="TEXT", help="why; kept in the log")
    part.add_argument("--plate", metavar="NAME", help="the plate of the wells, or of the file")
    part.add_argument("--well", action="append", default=[], metavar="WELL=VALUE",
                      help="a reading as it should be; failed withdraws it; again for more")
    part.add_argument("--batch", type=at_least(0), metavar="N",
                      help="the batch, where the file names no plate")
    part.add_argument("--lost", action="store_true",
                      help="wells of the file without a value are withdrawn")
    add_dialect(part)


def _action(name):
    return late("_screen_commands", name)
