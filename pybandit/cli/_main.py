"""The parser of the command line, and `main`, which runs a command."""

import argparse
import os
import sys

from pybandit._shared.errors import MissingPackageError
from pybandit._shared.version import __version__
from pybandit.cli import best_of, config, doctor, screen, shuffle, study, verdict, webtest
from pybandit.cli._examples import add_completion, add_examples
from pybandit.cli._types import at_least, picture


def main(argv=None):
    """Run a command and return its exit status.

    Parameters
    ----------
    argv : list of str, optional
        Arguments that follow ``pybandit`` on the command line; by default ``sys.argv[1:]``.

    Returns
    -------
    int
        0 on success; 1 if a package is missing, or if the output was closed or lacks a
        character; 130 after Ctrl-C; the help of each command lists its other statuses.

    Raises
    ------
    SystemExit
        Raised by argparse: with status 2 if options are wrong, with 0 for ``--help``.

    Examples
    --------
    >>> import numpy as np
    >>> from pybandit.cli import main
    >>> scores = np.random.default_rng(1).random((2000, 3)) * [0.7, 0.8, 1.0]
    >>> np.savetxt("scores.csv", scores, delimiter=",", header="mild,medium,hot", comments="")
    >>> main(["best-of", "scores.csv"])
    best: hot, mean 0.511, between 0.407 and 0.607
    Wrong with probability at most 0.05.
    <BLANKLINE>
    Read 168 of 6,000 scores (2.8 %): 3 models on 2,000 items.
    <BLANKLINE>
    model   items read   mean  95 % interval
    hot             64  0.511  0.407 to 0.607  best
    medium          64  0.369  0.290 to 0.455
    mild            40  0.350  0.267 to 0.456
    0
    """
    parser = make_parser()
    arguments = parser.parse_args(argv)
    if arguments.run is None:
        parser.print_help()
        return 2
    try:
        status = arguments.run(arguments)
        sys.stdout.flush()
        return status
    except MissingPackageError as error:
        print(f"pybandit {arguments.command}: {error}", file=sys.stderr)
        return 1
    except UnicodeEncodeError as error:  # a pipe of Windows, or an old locale
        missing = error.object[error.start:error.end]
        print(f"pybandit {arguments.command}: the encoding of the output, {sys.stdout.encoding}, "
              f"lacks {missing!a}; set the environment variable PYTHONUTF8=1", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # the reader, such as `head`, closed the pipe; Python flushes again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130


def make_parser():
    """Return the parser with every command in `COMMANDS`."""
    parser = argparse.ArgumentParser(
        prog="pybandit", description="Find the best arm, draw the sample or combine the "
        "estimators, reading as little data as the answer allows. The commands compare models and "
        "keep experiments in a file, without any Python code; the rest is `import pybandit`.")
    parser.add_argument("--version", action="version", version=f"pybandit {__version__}")
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(dest="command", metavar="command")
    for add_command in COMMANDS:
        add_command(commands)
    add_completion(commands, make_parser)
    add_examples(parser)
    return parser


def _add_demo(commands):
    command = commands.add_parser(
        "demo", help="show what racing saves: exact and racing draws from posteriors of real data",
        description="Draw from posteriors of real data, exactly and by racing. Print the fraction "
                    "of the data read and the time per draw, and the distance from the exact "
                    "probabilities. Takes about half a minute.")
    command.add_argument("--out", type=picture, metavar="PNG", default="pybandit_demo.png",
                         help="file of the figure; - for none (default %(default)s)")
    command.add_argument("--draws", type=at_least(1), default=20_000, metavar="N",
                         help="number of racing draws with control variates (default %(default)s)")
    command.add_argument("--seed", type=at_least(0), default=1, metavar="N",
                         help="seed of all draws (default %(default)s)")
    command.set_defaults(run=_run_demo)


def _run_demo(arguments):
    from pybandit.cli import demo

    demo.run(arguments.out, arguments.draws, arguments.seed,
             echo=lambda text: print(text, flush=True))
    return 0


COMMANDS = (_add_demo, best_of.add, verdict.add, shuffle.add, screen.add, webtest.add, study.add,
            config.add, doctor.add)
