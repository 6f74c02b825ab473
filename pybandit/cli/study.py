"""`pybandit study`: an experiment that lasts, from one file."""

import argparse
import sys

from pybandit.cli import _study_plan
from pybandit.cli._study_policies import AUTO, CHOICES, wants
from pybandit.cli._types import at_least, writable

FORMATS = "long", "grid"

EPILOG = """\
in short:
  pybandit study plan --n 2000 --k 20 --plate 16x24     # how many plates?
  pybandit study new study.db --policy batch-screening --arms genes.csv --k 20 --batches 12 \\
                     --plate 16x24 --controls col:1,24 --normalise --log --flip
  pybandit study next -o plate_000.csv            # the plate to prepare
  pybandit study record plate_000_results.csv     # what the reader found; then next again
  pybandit study report -o report.html

All but plan and new work on study.db in this folder, or on --study FILE. When a command that
records has returned, what it recorded is on the disk. Each may be given again after a
crash: next gives the same plate, record finds what is known already.

Files are CSV in UTF-8. A long table has the columns plate, well, arm and value, and may
have others. A grid is a line plate,NAME and the plate's rows under it, with or without
row letters and column numbers. A cell without a value is empty or NA.

exit status: 0 done; 1 where a package is missing; 2 where options or a file are wrong,
and nothing was recorded; 3 where the study's file is damaged, too new, or cannot be read
or written; 4 from next where the study asks for nothing more."""

NEW_EPILOG = "policies and their options:\n  " + "\n  ".join(map(wants, CHOICES)) + """

The variance of each arm is a column of the file of arms. A batch fills a plate, or
--batch-size wells. sequential-halving and shvar ask for a stage at once, on as many plates
as it takes; ucb1, thompson and mostly shadavar for one pull.

Readings become rewards, of which higher are better, in this order: --normalise divides by
the mean of the plate's controls, --log takes the natural logarithm, --flip the negative."""


def add(commands):
    """Add the subcommand to argparse's `commands`."""
    study = commands.add_parser(
        "study", help="an experiment that lasts weeks: plates out, results in, one file",
        description="Run an experiment of weeks with a policy: which arms go on the next plate, "
                    "what was\nread, what is best by now. One file survives crashes, and late "
                    "and lost plates.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    study.set_defaults(run=lambda arguments: study.print_help() or 2)
    parts = study.add_subparsers(dest="action", metavar="action")
    _study_plan.add(parts).set_defaults(run=run)
    _add_new(parts)
    _add_next(parts)
    _add_record(parts)
    _add_over(parts)
    _add_looks(parts)


def _part(parts, name, text, **more):
    """A subcommand that works on a study which exists."""
    part = parts.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".", **more)
    part.add_argument("--study", metavar="FILE", default="study.db",
                      help="the study (default %(default)s)")
    part.add_argument("--who", metavar="NAME", help="who records (default user@host)")
    part.add_argument("--json", action="store_true", help="print for machines, as JSON")
    part.set_defaults(run=run)
    return part


def _add_new(parts):
    part = parts.add_parser(
        "new", help="begin a study", description="Begin a study.", epilog=NEW_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    part.add_argument("study", metavar="FILE", help="the file to make; study.db, say")
    part.add_argument("--policy", required=True, choices=[AUTO, *CHOICES], metavar="NAME",
                      help="who chooses the arms; see below. auto: whichever for plates finds "
                           "most at --noise, or in a --pilot")
    part.add_argument("--arms", required=True, metavar="FILE.csv",
                      help="their names: a line each, or a column arm, name, gene or id")
    part.add_argument("--column", metavar="NAME", help="the column of the names")
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
    _study_plan.add_noise(part)
    part.add_argument("--sigma", type=float, metavar="S", help="deviation of a reward")
    part.add_argument("--reuse", action="store_const", const=True,
                      help="means over all stages, not the last alone")
    part.add_argument("--seed", type=at_least(0), metavar="N", help="where the policy draws")
    part.add_argument("--plate", default="8x12", metavar="RxC",
                      help="rows x columns, or wells: 96, 384 (default %(default)s)")
    part.add_argument("--batch-size", type=at_least(1), metavar="N",
                      help="arms of a batch (default: wells that are no controls)")
    part.add_argument("--controls", default="", metavar="WELLS",
                      help="wells with a control: A1,A2,H12, columns col:1,24, rows row:A,H")
    part.add_argument("--control-label", default="control", metavar="TEXT",
                      help="what the files call them (default %(default)s)")
    for name, text in (("normalise", "divide readings by the mean of their plate's controls"),
                       ("log", "take the natural logarithm"),
                       ("flip", "change the sign: low readings are good")):
        part.add_argument(f"--{name}", action="store_true", help=text)
    part.add_argument("--who", metavar="NAME", help="who begins (default user@host)")
    part.add_argument("--json", action="store_true", help="print for machines, as JSON")
    part.set_defaults(run=run)


def _add_next(parts):
    part = _part(parts, "next", "the plates to prepare now: the same until they are recorded")
    part.add_argument("-o", "--out", type=writable, metavar="FILE.csv",
                      help="where the plate goes; NAME_p1.csv, ... where there are several "
                           "(default: stdout)")
    part.add_argument("--format", choices=FORMATS, default="long",
                      help="a row a well, or the shape of the plate (default %(default)s)")
    part.add_argument("--force", action="store_true",
                      help="replace a file that holds something else")


def _add_record(parts):
    part = _part(parts, "record", "record a file of results, whole or not at all")
    part.add_argument("file", metavar="FILE.csv", help="a long table or grids")
    part.add_argument("--batch", type=at_least(0), metavar="N",
                      help="the batch, where the file names no plate")
    part.add_argument("--partial", action="store_true",
                      help="wells without a value come later")
    part.add_argument("--lost", action="store_true",
                      help="wells without a value never come; with --partial those in the file")


def _add_over(parts):
    part = _part(parts, "close", "go on without what is not recorded of a batch; late results "
                                 "are still taken")
    part.add_argument("batch", type=at_least(0), metavar="BATCH")
    part = _part(parts, "abandon", "a batch was not carried out: the same arms come again, "
                                   "nothing is spent")
    part.add_argument("batch", type=at_least(0), metavar="BATCH")
    part.add_argument("--discard", action="store_true",
                      help="give up what is recorded of it")


def _add_looks(parts):
    part = _part(parts, "status", "where the study is, and what is best by now")
    part.add_argument("--top", type=at_least(0), default=10, metavar="N",
                      help="arms shown at most (default %(default)s)")
    part = _part(parts, "verify", "replay the log, and compare all that is stored with it")
    part.add_argument("--head", metavar="DIGEST", help="a digest noted before: the log must have "
                                                       "led there")
    part = _part(parts, "report", "write all of it as one HTML page")
    part.add_argument("-o", "--out", type=writable, required=True, metavar="FILE.html")
    part = _part(parts, "export", "all wells as a long table")
    part.add_argument("out", type=writable, metavar="FILE.csv", help="- for stdout")


def run(arguments):
    """Do what was asked; returns the exit status."""
    from pybandit.cli import _study_commands
    from pybandit.studies import StudyError

    try:
        return getattr(_study_commands, arguments.action)(arguments)
    except (BrokenPipeError, ImportError):
        raise
    except StudyError as error:
        return _failed(arguments, error, 3)
    except (ValueError, TypeError, OverflowError, OSError) as error:
        return _failed(arguments, error, 2)


def _failed(arguments, error, status):
    print(f"pybandit study {arguments.action}: {error}", file=sys.stderr)
    return status
