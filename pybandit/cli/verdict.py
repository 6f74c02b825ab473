"""`pybandit verdict`, which says which of two models is better, or which of many are not worse."""

import argparse
import json
import sys

from pybandit._shared.files import reason_of
from pybandit.cli._text import aligned, short, warned
from pybandit.cli._types import at_least, names, picture

EPILOG = """\
With two files, each has the scores of one model on the same items: two log files of an
evaluation tool, or two tables with one column of scores and one of labels. With a
folder of logs, or a table with a column per model, the answer is about all models:
those that are not separated from the best. The formats are those of `pybandit best-of`.

The run has ended: give all items. The interval and the verdict hold with probability
1 - delta for the population from which the items are a sample. Scores at both ends of
--value-range are also tested by McNemar's exact test.

exit status: 0 with a verdict, also if it is "not decided"; 1 if a package is missing;
2 if the options or the files are invalid, with the reason on stderr."""


def add(commands):
    """Add the subcommand to `commands`, as returned by argparse."""
    command = commands.add_parser(
        "verdict", help="say whether one of two finished runs is better",
        description="Compare the scores of two models on the same items: better, worse,\n"
                    "equivalent, or not decided; or of many models with the best.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    command.add_argument("files", metavar="FILE", nargs="+",
                         help="two files with the scores of one model each; or a table, or log "
                              "files or a folder of them, with the scores of all models")
    command.add_argument("--margin", type=float, metavar="M",
                         help="differences below M do not matter: they may be equivalent")
    command.add_argument("--delta", type=float, default=0.05, metavar="P",
                         help="maximum probability of a wrong verdict (default %(default)s)")
    command.add_argument("--value-range", type=float, nargs=2, default=(0.0, 1.0),
                         metavar=("LOW", "HIGH"),
                         help="range of the values that a score can take (default 0 1)")
    command.add_argument("--lift", type=float, metavar="L",
                         help="say how many more items are needed to see a difference of L")
    command.add_argument("--final", choices=("auto", "exact", "sign-flip", "none"), default="auto",
                         help="test at the end, beside the bets (default %(default)s)")
    command.add_argument("--seed", type=at_least(0), default=0, metavar="N",
                         help="seed of the order of the items (default %(default)s)")
    command.add_argument("--metric", type=names, action="extend", metavar="A,B,...",
                         help="metric or scorer to read from log files")
    command.add_argument("--filter", type=names, action="extend", metavar="A,B,...",
                         help="filter, prompt or perturbation to read from log files")
    command.add_argument("--failed", type=_failed, metavar="X",
                         help="score of failures in log files, or skip: leave out such items for "
                              "all models (default: failures are rejected)")
    command.add_argument("--json", action="store_true", help="print the complete result as JSON")
    command.add_argument("--plot", type=picture, metavar="PNG",
                         help="draw the differences with their intervals")
    command.set_defaults(run=run)


def run(arguments):
    """Print the verdict; return the exit status."""
    if arguments.plot:
        from pybandit._shared.optional import require

        require("matplotlib", "plot")
    try:
        with warned("verdict"):
            result = _verdict(arguments)
    except FileNotFoundError as error:
        print(f"pybandit verdict: {error.filename}: {reason_of(error)}", file=sys.stderr)
        return 2
    except (TypeError, ValueError) as error:
        print(f"pybandit verdict: {error}", file=sys.stderr)
        return 2
    status = _save_plot(result, arguments.plot) if arguments.plot else 0
    if arguments.json:
        print(json.dumps(result.to_dict(), indent=1))
    else:
        print("\n".join(_report(result, arguments.lift)))
    return status


def _verdict(arguments):
    """Return the `Verdict` of two models, or the `TiedSet` of more."""
    from pybandit.evaluation import read_scores, tied_set, verdict
    from pybandit.evaluation._verdict_input import Column
    from pybandit.tables._logs.read import log_paths
    from pybandit.tables._table import Scores

    files = arguments.files
    common = {"delta": arguments.delta, "value_range": tuple(arguments.value_range),
              "final": arguments.final, "rng": arguments.seed}
    pair = len(files) == 2 and not all(log_paths(one) for one in files)
    if pair:
        _refuse_log_options(arguments)
        return verdict(*files, margin=arguments.margin, **common)
    logs = files if len(files) > 1 or log_paths(files[0]) else None
    if logs is None:
        _refuse_log_options(arguments)
        table = read_scores(files[0])
    else:
        table = read_scores(files, metric=arguments.metric, filter=arguments.filter,
                            failed=arguments.failed)
    if isinstance(table, Scores) and len(table.columns) == 2:
        return verdict(Column(table, 0), Column(table, 1), margin=arguments.margin, **common)
    for option, given in (("--margin", arguments.margin), ("--lift", arguments.lift)):
        if given is not None:
            raise ValueError(f"{option} must be left out for more than two models; got {given:g}")
    return tied_set(table, **common)


def _refuse_log_options(arguments):
    for name in ("metric", "filter", "failed"):
        if getattr(arguments, name) is not None:
            raise ValueError(f"--{name} must be left out unless the files are logs of an "
                             f"evaluation tool; got {getattr(arguments, name)}")


def _report(result, lift):
    """Yield the lines of the answer."""
    from pybandit.evaluation import Verdict

    yield str(result)
    yield ""
    if not isinstance(result, Verdict):
        rows = [(short(result.names[arm]), f"{result.means[arm]:.4f}",
                 f"{result.differences[arm]:+.4f}",
                 "{:+.4f} to {:+.4f}".format(*result.intervals[arm]),
                 "tied" if arm in result.tied else "")
                for arm in result._order()]
        yield from aligned([("model", "mean", "difference", f"{100 * (1 - result.delta):g} % "
                             "interval", ""), *rows], "<>><<")
        return
    rows = [(short(name), f"{mean:.4f}", f"{won:,}")
            for name, mean, won in zip(result.names, result.means,
                                       (result.n_better, result.n_worse), strict=True)]
    yield from aligned([("model", "mean", "items won"), *rows], "<>>")
    if lift is not None:
        yield ""
        yield (f"To see a difference of {lift:g}, about {result.more(lift):,} more items are "
               "needed.")


def _save_plot(result, path):
    """Write the plot; return the exit status."""
    from pybandit._shared.drawing import height_for, new_figure, save

    figure, ((axis,),) = new_figure(7.0, height_for(getattr(result, "n_arms", 1)))
    result.plot(axis)
    try:
        save(figure, path)
    except OSError as error:
        print(f"pybandit verdict: --plot must be a file that can be written; got {path!r}: "
              f"{reason_of(error)}", file=sys.stderr)
        return 2
    return 0


def _failed(text):
    return text if text == "skip" else float(text)
