"""`pybandit screen`, which runs an experiment on plates over weeks, kept in one file."""

import argparse

from pybandit.cli import _screen_plan
from pybandit.cli._actions import (
    add_action,
    add_batch_actions,
    add_command,
    add_study,
    add_study_actions,
    late,
    run,
)
from pybandit.cli._screen_options import add_dialect, add_layout
from pybandit.cli._screen_policies import AUTO, CHOICES, options_text
from pybandit.cli._types import at_least, writable

FORMATS = "long", "grid", "echo", "opentrons", "hamilton"

EPILOG = """\
in short:
  pybandit screen plan --n 2000 --k 20 --plate 16x24     # how many plates?
  pybandit screen new study.db --policy batch-screening --arms genes.csv --k 20 --batches 12 \\
                      --plate 16x24 --controls col:1,24 --normalise --log --flip
  pybandit screen next -o plate_000.csv            # the plate to prepare
  pybandit screen record plate_000_results.csv     # the reader's results; then next again
  pybandit screen amend --plate 0 --well B7=812.5 --reason "a typo"
  pybandit screen report -o report.html

All actions but plan and new work on study.db in this folder; name another file by --study FILE
before or after the action, or as the first word of the action. When an action that records
results returns, they are on the disk. After a crash, run the action again: next returns the
same plate, and record skips results that are already known.

Files are CSV in UTF-8 or UTF-16, or .xlsx. A long table has the columns plate, well, arm and
value, under these names or those given by options. It may have other columns, and title lines
above the header. A grid is a line plate,NAME followed by the rows of the plate, with or without
row letters and column numbers; other lines may come before and after it. A cell without a value
is empty or NA. Formats of vendors are read by --instrument.

exit status: 0 done; 1 if a package is missing; 2 if options or a file are invalid, and nothing
was recorded; 3 if the study's file is damaged, too new, or cannot be read or written; 4 from
next if the screen needs no more plates."""

NEW_EPILOG = "policies and their options:\n  " + "\n  ".join(map(options_text, CHOICES)) + """

The column noise_std of the file of arms holds the standard deviation of each arm's rewards. A
batch fills a plate, or --batch-size wells. sequential-halving and shvar request a whole stage
at once, on as many plates as it needs; ucb1, thompson and usually shadavar request one pull.

Readings become rewards, for which higher is better, in this order: --normalise divides by the
mean of the plate's controls (or converts to per cent of it, or of the way from it to the mean
of the positives), --log takes the natural logarithm, --flip changes the sign. The readings are
stored as well."""


def add(commands):
    """Add the subcommand to `commands`, as returned by argparse."""
    _, parts = add_command(
        commands, "screen", help="run a screen that lasts weeks: plates out, results in, one file",
        description="Run a screen over weeks. A policy chooses the arms on the next plate; one "
                    "file keeps\nthe readings and survives crashes, late plates and lost plates.",
        epilog=EPILOG)
    _screen_plan.add(parts).set_defaults(run=run, do=_action("plan"))
    _add_new(parts)
    _add_next(parts)
    _add_record(parts)
    _add_amend(parts)
    add_batch_actions(parts)
    add_study_actions(parts)


def _add_new(parts):
    part = parts.add_parser(
        "new", help="start a screen", description="Start a screen.", epilog=NEW_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    part.add_argument("place", metavar="FILE", nargs="?",
                      help="the file to create, such as study.db")
    add_study(part, "the file to create, as FILE")
    part.add_argument("--policy", required=True, choices=[AUTO, *CHOICES], metavar="NAME",
                      help="policy that chooses the arms; see below. auto: the policy for plates "
                           "that finds the most arms in simulations with --noise or --pilot")
    part.add_argument("--arms", required=True, metavar="FILE.csv",
                      help="names of the arms: one per line, or a column arm, name, gene or id")
    part.add_argument("--column", metavar="NAME", help="column of the names")
    part.add_argument("--header", action=argparse.BooleanOptionalAction, default=None,
                      help="treat the first line as a header, or not (default: detected)")
    part.add_argument("--sheet", metavar="NAME", help="sheet of the workbook, if it has several")
    part.add_argument("--k", type=at_least(1), metavar="N", help="number of best arms to find")
    part.add_argument("--batches", type=at_least(1), metavar="N", help="maximum number of batches")
    part.add_argument("--budget", type=at_least(1), metavar="N", help="maximum number of pulls")
    part.add_argument("--repeats", type=at_least(1), metavar="N",
                      help="maximum number of wells per arm and batch (default: no limit)")
    part.add_argument("--delta", type=float, metavar="P",
                      help="maximum probability of a wrong answer")
    part.add_argument("--prior", metavar="FILE.csv",
                      help="prior estimates of the arms, in columns arm and value (or prior, "
                           "score); arms are measured in the order of these estimates")
    part.add_argument("--allow-unmeasured", action="store_const", const=True,
                      help="start even if there are too few batches to measure every arm once")
    _screen_plan.add_noise(part)
    part.add_argument("--noise-std", type=float, metavar="S", help="standard deviation of a reward")
    part.add_argument("--reuse", action="store_const", const=True,
                      help="use means over all stages, not only the last")
    part.add_argument("--seed", type=at_least(0), metavar="N", help="seed of a randomised policy")
    add_layout(part)
    part.add_argument("--who", metavar="NAME", help="name to record (default user@host)")
    part.add_argument("--json", action="store_true", help="print JSON")
    part.set_defaults(run=run, do=_action("new"))


def _add_next(parts):
    part = add_action(parts, "next", _action("next"),
                      "write the plates to prepare now; the same ones until they are recorded")
    part.add_argument("-o", "--out", type=writable, metavar="FILE",
                      help="file of the plate, CSV or .xlsx; if there are several plates, files "
                           "NAME_p1.csv, ... (default: stdout)")
    part.add_argument("--format", choices=FORMATS, default="long",
                      help="one row per well, the shape of the plate, or a robot's transfers "
                           "from --stock (default %(default)s)")
    part.add_argument("--stock", metavar="FILE.csv",
                      help="location of the arms: columns plate, well and arm")
    part.add_argument("--volume", type=float, metavar="V",
                      help="volume of each transfer: in nl for an Echo, else in ul")
    part.add_argument("--overwrite", action="store_true",
                      help="replace a file with other content")


def _add_record(parts):
    part = add_action(parts, "record", _action("record"),
                      "record a file of results, completely or not at all")
    part.add_argument("file", metavar="FILE.csv", help="a long table, or grids")
    part.add_argument("--batch", type=at_least(0), metavar="N",
                      help="batch of the file, if it names no plate")
    part.add_argument("--plate", metavar="NAME",
                      help="plate of the file; overrides the names in the file")
    part.add_argument("--partial", action="store_true",
                      help="treat wells without a value as pending")
    part.add_argument("--lost", action="store_true",
                      help="treat wells without a value as lost; with --partial, only those in "
                           "the file")
    add_dialect(part)


def _add_amend(parts):
    part = add_action(parts, "amend", _action("amend"),
                      "correct recorded readings, with a reason",
                 epilog="Pass either wells of a plate, --plate 3 --well B7=812.5 --well C1=failed, "
                        "or a --file of corrected readings. Other wells do not change.")
    part.add_argument("--file", metavar="FILE.csv",
                      help="corrected readings: a long table, or grids")
    part.add_argument("--reason", required=True, metavar="TEXT", help="reason, kept in the log")
    part.add_argument("--plate", metavar="NAME", help="plate of the wells, or of the file")
    part.add_argument("--well", action="append", default=[], metavar="WELL=VALUE",
                      help="corrected reading of a well; failed withdraws it; repeatable")
    part.add_argument("--batch", type=at_least(0), metavar="N",
                      help="batch of the file, if it names no plate")
    part.add_argument("--lost", action="store_true",
                      help="withdraw wells that have no value in the file")
    add_dialect(part)


def _action(name):
    return late("_screen_commands", name)
