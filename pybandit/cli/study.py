"""`pybandit study`: an experiment that lasts, from one file."""

import argparse
import sys

from pybandit.cli import _study_ab, _study_plan
from pybandit.cli._study_options import add_dialect, add_layout
from pybandit.cli._study_policies import AUTO, CHOICES, wants
from pybandit.cli._types import at_least, writable

FORMATS = "long", "grid", "echo", "opentrons", "hamilton"

EPILOG = """\
in short:
  pybandit study plan --n 2000 --k 20 --plate 16x24     # how many plates?
  pybandit study new study.db --policy batch-screening --arms genes.csv --k 20 --batches 12 \\
                     --plate 16x24 --controls col:1,24 --normalise --log --flip
  pybandit study next -o plate_000.csv            # the plate to prepare
  pybandit study record plate_000_results.csv     # what the reader found; then next again
  pybandit study amend --plate 0 --well B7=812.5 --reason "a typo"
  pybandit study report -o report.html

All but plan and new work on study.db in this folder, or on another one: --study FILE before
or after the action, or FILE as its first word. When a command that records has returned,
what it recorded is on the disk. Each may be given again after a crash: next gives the
same plate, record finds what is known already.

A web test is told counts: new-ab, split and counts, a day at a time; plan-ab says beforehand
how many days.

Files are CSV in UTF-8 or UTF-16, or .xlsx. A long table has the columns plate, well, arm and
value, under these names or those that options say, and may have others and lines of a title
before them. A grid is a line plate,NAME and the plate's rows under it, with or without row
letters and column numbers, among other lines. A cell without a value is empty or NA. Formats
of vendors are read by --instrument.

exit status: 0 done; 1 where a package is missing; 2 where options or a file are wrong,
and nothing was recorded; 3 where the study's file is damaged, too new, or cannot be read
or written; 4 from next where the study asks for nothing more."""

NEW_EPILOG = "policies and their options:\n  " + "\n  ".join(map(wants, CHOICES)) + """

The standard deviation of each arm's rewards is a column of the file of arms, noise_std. A
batch fills a plate, or --batch-size wells. sequential-halving and shvar ask for a stage at
once, on as many plates as it takes; ucb1, thompson and mostly shadavar for one pull.

Readings become rewards, of which higher are better, in this order: --normalise divides by
the mean of the plate's controls (or makes per cent of it, or of the way to the positives'
mean), --log takes the natural logarithm, --flip the negative. The readings are kept, too."""


SERVE_EPILOG = """\
tokens are those of --tokens; else of the environment, PYBANDIT_READ_TOKEN and
PYBANDIT_RECORD_TOKEN; else new ones, which are printed. Programs send them:
  curl -H "Authorization: Bearer $PYBANDIT_RECORD_TOKEN" -X POST http://127.0.0.1:8713/ask
A browser asks for one and may then read. There is no TLS here: beyond this machine put a
proxy in front of it that has TLS, and give its name to --name."""


def add(commands):
    """Add the subcommand to argparse's `commands`."""
    study = commands.add_parser(
        "study", help="an experiment that lasts weeks: plates out, results in, one file",
        description="Run an experiment of weeks with a policy: which arms go on the next plate, "
                    "what was\nread, what is best by now. One file survives crashes, and late "
                    "and lost plates.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    study.add_argument("--study", metavar="FILE", help="the study (default study.db); also after "
                                                       "the action, or as its first word")
    study.set_defaults(run=lambda arguments: study.print_help() or 2)
    parts = study.add_subparsers(dest="action", metavar="action")
    _study_plan.add(parts).set_defaults(run=run)
    _add_new(parts)
    _add_next(parts)
    _add_record(parts)
    _add_amend(parts)
    _add_over(parts)
    _add_looks(parts)
    _add_serve(parts)
    _study_ab.add(parts, _part)


def _part(parts, name, text, place=True, **more):
    """A subcommand that works on a study which exists, and may be named first."""
    part = parts.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".", **more)
    if place:
        part.add_argument("place", metavar="STUDY", nargs="?", help="the study, as --study")
    _add_study(part, "the study (default study.db)")
    part.add_argument("--who", metavar="NAME", help="who records (default user@host)")
    part.add_argument("--json", action="store_true", help="print for machines, as JSON")
    part.set_defaults(run=run)
    return part


def _add_study(part, text):
    # suppressed: else the default would replace what stands before the action
    part.add_argument("--study", metavar="FILE", default=argparse.SUPPRESS, help=text)


def _add_new(parts):
    part = parts.add_parser(
        "new", help="begin a study", description="Begin a study.", epilog=NEW_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    part.add_argument("place", metavar="FILE", nargs="?", help="the file to make; study.db, say")
    _add_study(part, "the same")
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
    _study_plan.add_noise(part)
    part.add_argument("--noise-std", type=float, metavar="S", help="deviation of a reward")
    part.add_argument("--reuse", action="store_const", const=True,
                      help="means over all stages, not the last alone")
    part.add_argument("--seed", type=at_least(0), metavar="N", help="where the policy draws")
    add_layout(part)
    part.add_argument("--who", metavar="NAME", help="who begins (default user@host)")
    part.add_argument("--json", action="store_true", help="print for machines, as JSON")
    part.set_defaults(run=run)


def _add_next(parts):
    part = _part(parts, "next", "the plates to prepare now: the same until they are recorded")
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
    part = _part(parts, "record", "record a file of results, whole or not at all")
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
    part = _part(parts, "amend", "correct readings that are recorded, and say why",
                 epilog="Either wells of a plate, --plate 3 --well B7=812.5 --well C1=failed, or "
                        "--file of right readings. Wells that are not named stay as they are. "
                        "Counts: --key monday --counts home=1010,39, or a --file of counts.")
    part.add_argument("--key", metavar="TEXT", help="the batch of counts")
    part.add_argument("--counts", action="append", default=[], metavar="ARM=TRIALS,SUM",
                      help="counts as they should be; again for more")
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
    _part(parts, "recover", "continue a study whose FILE-wal is lost, without the changes in it")
    part = _part(parts, "report", "write all of it as one HTML page")
    part.add_argument("-o", "--out", type=writable, required=True, metavar="FILE.html")
    part = _part(parts, "export", "all wells as a long table, which record and amend read")
    part.add_argument("--batch", type=at_least(0), metavar="N", help="the wells of one batch only")
    part.add_argument("out", type=writable, metavar="FILE.csv", help="- for stdout")


def _add_serve(parts):
    part = _part(parts, "serve", "serve it over HTTP: a live page for browsers, ask and tell for "
                                 "programs", epilog=SERVE_EPILOG,
                 formatter_class=argparse.RawDescriptionHelpFormatter)
    part.add_argument("--host", default="127.0.0.1", metavar="ADDRESS",
                      help="where to listen (default %(default)s: this machine alone)")
    part.add_argument("--port", type=at_least(0), default=8713, metavar="N",
                      help="0 for any that is free (default %(default)s)")
    part.add_argument("--tokens", metavar="FILE",
                      help="lines: read or record, a token, and perhaps who has it")
    part.add_argument("--name", action="append", default=[], metavar="HOST",
                      help="a name under which browsers know this server; again for others")


def run(arguments):
    """Do what was asked; returns the exit status."""
    from pybandit._shared.errors import StudyError

    try:
        arguments.study_given, arguments.study = arguments.study, _place_of(arguments)
        return (getattr(arguments, "do", None) or _action_of(arguments.action))(arguments)
    except (BrokenPipeError, ImportError):
        raise
    except StudyError as error:
        return _failed(arguments, error, 3)
    except (ValueError, TypeError, OverflowError, OSError) as error:
        return _failed(arguments, error, 2)


def _place_of(arguments):
    """The study's file, wherever it was named."""
    named = [name for name in (getattr(arguments, "place", None), arguments.study)
             if name is not None]
    if len(set(named)) > 1:
        raise ValueError(f"the study must be named once; got {named[0]} and --study {named[1]}")
    if not named and arguments.action == "new":
        raise ValueError("the file to make must be named: pybandit study new study.db ...")
    return named[0] if named else "study.db"


def _action_of(name):
    """What does it; imported here, so that other commands do without."""
    if name == "serve":
        from pybandit.cli._study_serve import serve

        return serve
    from pybandit.cli import _study_commands

    return getattr(_study_commands, name)


def _failed(arguments, error, status):
    print(f"pybandit study {arguments.action}: {error}", file=sys.stderr)
    return status
