"""What `study`, `screen` and `webtest` share: how a file is named, and the actions on its log."""

import argparse
import importlib
import sys

from pybandit.cli._types import at_least, writable

SERVE_EPILOG = """\
tokens are those of --tokens; else of the environment, PYBANDIT_READ_TOKEN and
PYBANDIT_RECORD_TOKEN; else new ones, which are printed. Programs send them:
  curl -H "Authorization: Bearer $PYBANDIT_RECORD_TOKEN" -X POST http://127.0.0.1:8713/ask
A browser asks for one and may then read. There is no TLS here: beyond this machine put a
proxy in front of it that has TLS, and give its name to --name."""


def add_command(commands, name, **words):
    """Add a command whose actions work on a file; return the parser and its actions."""
    command = commands.add_parser(name, formatter_class=argparse.RawDescriptionHelpFormatter,
                                  **words)
    command.add_argument("--study", metavar="FILE",
                         help="the file (default study.db); also after the action, or as its "
                              "first word")
    command.set_defaults(run=lambda arguments: command.print_help() or 2)
    return command, command.add_subparsers(dest="action", metavar="action")


def add_action(parts, name, do, text, place=True, **more):
    """Add an action on a file that exists, which may be named first; `do` makes a function."""
    part = parts.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".", **more)
    if place:
        part.add_argument("place", metavar="FILE", nargs="?", help="the file, as --study")
    add_study(part, "the file (default study.db)")
    part.add_argument("--who", metavar="NAME", help="who records (default user@host)")
    part.add_argument("--json", action="store_true", help="print for machines, as JSON")
    part.set_defaults(run=run, do=do)
    return part


def add_study(part, text):
    # suppressed: else the default would replace what stands before the action
    part.add_argument("--study", metavar="FILE", default=argparse.SUPPRESS, help=text)


def add_log_actions(parts):
    """Add the actions that a study, a screen and a web test have."""
    part = add_action(parts, "status", _of_log("status"),
                      "where it is, and what is best by now")
    part.add_argument("--top", type=at_least(0), default=10, metavar="N",
                      help="arms shown at most (default %(default)s)")
    part = add_action(parts, "verify", _of_log("verify"),
                      "replay the log, and compare all that is stored with it")
    part.add_argument("--head", metavar="DIGEST", help="a digest noted before: the log must have "
                                                       "led there")
    add_action(parts, "recover", _of_log("recover"),
               "continue after FILE-wal is lost, without the changes in it")
    part = add_action(parts, "report", _of_log("report"), "write all of it as one HTML page")
    part.add_argument("-o", "--out", type=writable, required=True, metavar="FILE.html")
    part.add_argument("--title", metavar="TEXT", help="of the page (default: policy and file)")
    part = add_action(parts, "export", _of_log("export"),
                      "all results as a table, which record, counts and amend read")
    part.add_argument("--batch", type=at_least(0), metavar="N", help="the wells of one batch only")
    part.add_argument("out", type=writable, metavar="FILE.csv", help="- for stdout")
    part = add_action(parts, "serve", _of_log("serve"),
                      "serve it over HTTP: a live page for browsers, ask and tell for programs",
                      epilog=SERVE_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    part.add_argument("--host", default="127.0.0.1", metavar="ADDRESS",
                      help="where to listen (default %(default)s: this machine alone)")
    part.add_argument("--port", type=at_least(0), default=8713, metavar="N",
                      help="0 for any that is free (default %(default)s)")
    part.add_argument("--tokens", metavar="FILE",
                      help="lines: read or record, a token, and perhaps who has it")
    part.add_argument("--name", action="append", default=[], metavar="HOST",
                      help="a name under which browsers know this server; again for others")


def add_batch_actions(parts):
    """Add the actions on batches of a study or a screen."""
    part = add_action(parts, "close", _of_log("close"), "go on without what is not recorded of a "
                      "batch; late results are still taken")
    part.add_argument("batch", type=at_least(0), metavar="BATCH")
    part = add_action(parts, "abandon", _of_log("abandon"), "a batch was not carried out: the "
                      "same arms come again, nothing is spent")
    part.add_argument("batch", type=at_least(0), metavar="BATCH")
    part.add_argument("--discard", action="store_true",
                      help="give up what is recorded of it")


def late(module, name):
    """Return a function of a module of this folder, imported when it is first called."""
    def do(arguments):
        return getattr(importlib.import_module(f"pybandit.cli.{module}"), name)(arguments)

    return do


def _of_log(name):
    return late("_log_commands", name)


def run(arguments):
    """Do what was asked; returns the exit status."""
    from pybandit._shared.errors import StudyError

    try:
        arguments.study_given, arguments.study = arguments.study, _place_of(arguments)
        return arguments.do(arguments)
    except (BrokenPipeError, ImportError):
        raise
    except StudyError as error:
        return _failed(arguments, error, 3)
    except (ValueError, TypeError, OverflowError, OSError) as error:
        return _failed(arguments, error, 2)


def _place_of(arguments):
    """The file, wherever it was named."""
    named = [name for name in (getattr(arguments, "place", None), arguments.study)
             if name is not None]
    if len(set(named)) > 1:
        raise ValueError(f"the file must be named once; got {named[0]} and --study {named[1]}")
    if not named and (arguments.command, arguments.action) == ("screen", "new"):
        raise ValueError("the file to make must be named: pybandit screen new study.db ...")
    return named[0] if named else "study.db"


def _failed(arguments, error, status):
    print(f"pybandit {arguments.command} {arguments.action}: {error}", file=sys.stderr)
    return status
