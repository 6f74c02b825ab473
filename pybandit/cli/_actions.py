"""Arguments and actions that the commands `study`, `screen` and `webtest` have in common."""

import argparse
import importlib
import sys

from pybandit.cli._types import at_least, writable

SERVE_EPILOG = """\
Tokens are read from --tokens, or else from the environment (PYBANDIT_READ_TOKEN and
PYBANDIT_RECORD_TOKEN). Otherwise new ones are made and printed. Programs send them:
  curl -H "Authorization: Bearer $PYBANDIT_RECORD_TOKEN" -X POST http://127.0.0.1:8713/ask
A browser asks for a token and may then read. The server has no TLS: for access from other
machines, put a proxy with TLS in front of it and pass the proxy's host name as --name."""


def add_command(commands, name, **words):
    """Add a command whose actions work on a file; return the parser and its actions."""
    command = commands.add_parser(name, formatter_class=argparse.RawDescriptionHelpFormatter,
                                  **words)
    command.add_argument("--study", metavar="FILE",
                         help="the file (default study.db); may also be given after the action, or "
                              "as the first word of the action")
    command.set_defaults(run=lambda arguments: command.print_help() or 2)
    return command, command.add_subparsers(dest="action", metavar="action")


def add_action(parts, name, do, text, place=True, **more):
    """Add an action on an existing file, which may be its first word; `do` carries it out."""
    part = parts.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".", **more)
    if place:
        part.add_argument("place", metavar="FILE", nargs="?",
                          help="the file; the same as --study FILE")
    add_study(part, "the file (default study.db)")
    part.add_argument("--who", metavar="NAME", help="author to record (default user@host)")
    part.add_argument("--json", action="store_true", help="print JSON")
    part.set_defaults(run=run, do=do)
    return part


def add_study(part, text):
    # without SUPPRESS, the default would replace a --study given before the action
    part.add_argument("--study", metavar="FILE", default=argparse.SUPPRESS, help=text)


def add_study_actions(parts):
    """Add the actions that a study, a screen and a web test have."""
    part = add_action(parts, "status", _of_log("status"),
                      "print the progress of the study, and the best arms so far")
    part.add_argument("--top", type=at_least(0), default=10, metavar="N",
                      help="maximum number of arms shown (default %(default)s)")
    part = add_action(parts, "verify", _of_log("verify"),
                      "replay the log and compare it with all stored data")
    part.add_argument("--head", metavar="DIGEST", help="a digest noted earlier, which the log must "
                                                       "contain")
    add_action(parts, "recover", _of_log("recover"),
               "continue after FILE-wal was lost, without the changes in it")
    part = add_action(parts, "report", _of_log("report"), "write a report as one HTML page")
    part.add_argument("-o", "--out", type=writable, required=True, metavar="FILE.html")
    part.add_argument("--title", metavar="TEXT",
                      help="title of the page (default: policy and file)")
    part = add_action(parts, "export", _of_log("export"),
                      "write all results as a table; record, counts and amend can read it")
    part.add_argument("--batch", type=at_least(0), metavar="N", help="only the wells of this batch")
    part.add_argument("out", type=writable, metavar="FILE.csv",
                      help="the table to write; - for stdout")
    part = add_action(parts, "serve", _of_log("serve"),
                      "serve the file over HTTP: a page for browsers, ask and tell for programs",
                      epilog=SERVE_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    part.add_argument("--host", default="127.0.0.1", metavar="ADDRESS",
                      help="address to listen on (default %(default)s: this machine only)")
    part.add_argument("--port", type=at_least(0), default=8713, metavar="N",
                      help="port; 0 for any free one (default %(default)s)")
    part.add_argument("--tokens", metavar="FILE",
                      help="file of tokens; each line has read or record, a token, and optionally "
                           "the name of its owner")
    part.add_argument("--name", action="append", default=[], metavar="HOST",
                      help="a host name under which browsers reach this server; repeatable")


def add_batch_actions(parts):
    """Add the actions on batches of a study or a screen."""
    part = add_action(parts, "close", _of_log("close"), "close a batch with results missing; "
                      "late results are still accepted")
    part.add_argument("batch", type=at_least(0), metavar="BATCH", help="number of the batch")
    part = add_action(parts, "abandon", _of_log("abandon"), "give up a batch that was not carried "
                      "out: its arms are asked for again, and nothing is spent")
    part.add_argument("batch", type=at_least(0), metavar="BATCH", help="number of the batch")
    part.add_argument("--discard", action="store_true",
                      help="also discard the results recorded for it")


def late(module, name):
    """Return a function of a module of this folder, imported when it is first called."""
    def do(arguments):
        return getattr(importlib.import_module(f"pybandit.cli.{module}"), name)(arguments)

    return do


def _of_log(name):
    return late("_study_commands", name)


def run(arguments):
    """Run the action of the arguments; return the exit status."""
    from pybandit._shared.errors import StudyError

    try:
        arguments.study_given, arguments.study = arguments.study, _file_of(arguments)
        return arguments.do(arguments)
    except (BrokenPipeError, ImportError):
        raise
    except StudyError as error:
        return _failed(arguments, error, 3)
    except (ValueError, TypeError, OverflowError, OSError) as error:
        return _failed(arguments, error, 2)


def _file_of(arguments):
    """Return the file, named before or after the action; study.db by default."""
    named = [name for name in (getattr(arguments, "place", None), arguments.study)
             if name is not None]
    if len(set(named)) > 1:
        raise ValueError(f"the file must be named once; got {named[0]} and --study {named[1]}")
    if not named and (arguments.command, arguments.action) == ("screen", "new"):
        raise ValueError("the new file must be named: pybandit screen new study.db ...")
    return named[0] if named else "study.db"


def _failed(arguments, error, status):
    print(f"pybandit {arguments.command} {arguments.action}: {error}", file=sys.stderr)
    return status
