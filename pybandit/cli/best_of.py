"""`pybandit best-of`, which finds the best column of a table of scores."""

import argparse
import json
import math
import sys
import textwrap

import numpy as np

from pybandit._shared.drawing import percent
from pybandit._shared.files import reason_of
from pybandit.cli._text import aligned, short, warned
from pybandit.cli._types import at_least, names, picture

# Maximum numbers of rows printed, and of eliminated models among them.
MOST_ROWS, RUNNERS_UP = 40, 4

EPILOG = """\
The file has one line per item and one column per model, or one line per score with
columns such as model, item and score. If any cell of the first line is not a number,
this line names the columns. Labels of items are in a column named item, id, name,
index or something_id, in a first column without a name, or in a first column of text.
Cells that are empty, NA, N/A, NaN, null or none are lost scores. Columns of true and
false, yes and no, or pass and fail are scores. A table that may have models in its
lines (a column named model), labels that occur twice, and columns that only number the
lines are rejected with an error that names the option to pass. The page "What is read"
has all rules. Parquet, NumPy and Zarr files that are large or were shuffled (pybandit
shuffle) are read in place: --missing drop, --lower-is-better, --groups, --costs,
--models, --items and --drop must be left out.

Log files of Inspect (.eval, .json), lm-evaluation-harness (samples_*.jsonl),
promptfoo, HELM, MTEB, SWE-bench, AlpacaEval, OpenAI evals and DSPy are recognised by
their content. Files with failures, with several metrics or filters, or with different
items are rejected with an error that names the option to pass.

The guarantee holds for the mean over the items of the file that were not left out, if
--value-range was chosen before looking at the scores. It covers other items only if
the items are a --sample. Each interval holds for its model alone. If all items of a
model were read, its mean is known and has no interval, unless the items are a sample.
With --groups there are no intervals.

exit status: 0 with an answer, decided or not; 1 if a package is missing; 2 if the
options or the file are invalid, with the reason on stderr."""


def add(commands):
    """Add the subcommand to `commands`, as returned by argparse."""
    command = commands.add_parser(
        "best-of", help="find which of these models is best, reading few scores of a table",
        description="Find the model with the highest mean score. Scores are read in random\n"
                    "order, and only as many as the answer requires.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    command.add_argument("files", metavar="FILE", nargs="+",
                         help="the scores: CSV, - for stdin, or .jsonl, .xlsx, .parquet, .npy, "
                              ".zarr (text also as .gz or .zst); or log files of an evaluation "
                              "tool, or a folder of them")
    command.add_argument("--k", type=at_least(1), default=1, metavar="N",
                         help="number of best models to find (default %(default)s)")
    command.add_argument("--delta", type=float, default=0.05, metavar="P",
                         help="maximum probability of a wrong answer (default %(default)s)")
    command.add_argument("--value-range", type=float, nargs=2, default=(0.0, 1.0),
                         metavar=("LOW", "HIGH"),
                         help="range of the values that a score can take (default 0 1)")
    command.add_argument("--epsilon", type=float, default=0.0, metavar="E",
                         help="also accept models this close to the best (default %(default)s)")
    command.add_argument("--max-pulls", type=at_least(1), metavar="N",
                         help="maximum number of scores read (default: no limit)")
    command.add_argument("--budget", type=at_least(1), metavar="N",
                         help="maximum number of scores read, spent to be right as often as "
                              "possible; no guarantee unless the answer states one")
    command.add_argument("--costs", metavar="COSTS.csv",
                         help="cost of each score: a file with the same format and models; a "
                              "single line has one cost per model, for all of its scores")
    command.add_argument("--max-cost", type=float, metavar="C",
                         help="maximum cost of the scores read; otherwise as --max-pulls")
    command.add_argument("--budget-cost", type=float, metavar="C",
                         help="maximum cost of the scores read; otherwise as --budget")
    command.add_argument("--sample", action="store_true",
                         help="treat the items as a sample, and answer for the population from "
                              "which they were drawn")
    command.add_argument("--groups", action="store_true",
                         help="treat labels in the first column as groups of items, which all "
                              "have equal weight")
    command.add_argument("--seed", type=at_least(0), default=1, metavar="N",
                         help="seed of the order of items (default %(default)s)")
    command.add_argument("--lower-is-better", action="store_true",
                         help="look for the lowest mean")
    command.add_argument("--missing", choices=("error", "drop"), default="error",
                         help="drop: leave out items that lack a score, for all models "
                              "(default %(default)s)")
    command.add_argument("--delimiter", type=_delimiter, metavar="C",
                         help="separator of cells; tab for a tab (default: from a line sep=; or "
                              "the most frequent of , ; and tab in the first line)")
    command.add_argument("--decimal", choices=(".", ","),
                         help="decimal sign (default: detected)")
    command.add_argument("--sheet", metavar="NAME", help="sheet of the workbook")
    command.add_argument("--columns", type=names, action="extend", metavar="A,B,...",
                         help="the columns of models; for a file with one line per score, the "
                              "columns of model, item and score")
    command.add_argument("--drop", type=names, action="extend", default=[], metavar="A,B,...",
                         help="columns to leave out")
    command.add_argument("--models", choices=("columns", "rows"),
                         help="rows: each line is a model, each column an item (default: columns; "
                              "a table that looks like rows is rejected)")
    command.add_argument("--items", metavar="NAME", help="column of the labels of items")
    command.add_argument("--metric", type=names, action="extend", metavar="A,B,...",
                         help="metric or scorer to read from log files; several names if tasks "
                              "have different ones")
    command.add_argument("--filter", type=names, action="extend", metavar="A,B,...",
                         help="filter, prompt or perturbation to read from log files")
    command.add_argument("--failed", type=float, metavar="X",
                         help="score of failures in log files (default: failures are rejected)")
    command.add_argument("--json", action="store_true", help="print the complete result as JSON")
    command.add_argument("--plot", type=picture, metavar="PNG",
                         help="draw when each model was eliminated")
    command.set_defaults(run=run)


def run(arguments):
    """Print the answer; return the exit status."""
    from pybandit.cli._best_of_input import load, race

    if arguments.plot:
        from pybandit._shared.optional import require

        require("matplotlib", "plot")
    try:
        with warned("best-of"):
            scores, n_dropped = load(arguments)
        result = race(scores, arguments)
    except FileNotFoundError as error:
        print(f"pybandit best-of: {error.filename}: {reason_of(error)}", file=sys.stderr)
        return 2
    except ValueError as error:
        print(f"pybandit best-of: {error}", file=sys.stderr)
        return 2
    sign = -1 if arguments.lower_is_better else 1
    # save the plot first: printing may fail, for example with `| head`
    status = _save_plot(result, sign, arguments.plot) if arguments.plot else 0
    if arguments.json:
        print(json.dumps(as_json(result, scores, sign, n_dropped), indent=1))
    else:
        print("\n".join(report(result, scores, sign, n_dropped)))
    return status


def _save_plot(result, sign, path):
    """Write the plot; return the exit status."""
    from pybandit._shared.drawing import new_figure, save
    from pybandit.evaluation._figure import elimination_axes, plot_height

    figure, ((axis,),) = new_figure(8.0, plot_height(result))
    elimination_axes(result, axis, sign=sign)
    try:
        save(figure, path)
    except OSError as error:
        print(f"pybandit best-of: --plot must be a file that can be written; got {path!r}: "
              f"{reason_of(error)}", file=sys.stderr)
        return 2
    return 0


def _interval(result, model, sign):
    """Return the last bounds on a model's mean, with the file's sign, or None if there are none."""
    if not result._has_bounds:
        return None
    bounds = result.confidence_sequence(model)
    return sorted((sign * float(bounds.lower[-1]), sign * float(bounds.upper[-1])))


def _read_in_full(result, model):
    return result.pulls[model] == result.n_items and result.population_size == result.n_items


def as_json(result, scores, sign, n_dropped):
    """Return `result.to_dict()` with the file's sign, and labels of the items read."""
    known = result.to_dict()
    labels = getattr(scores, "index", range(result.n_items))
    return known | {
        "means": [sign * mean for mean in known["means"]],
        "intervals": ([_interval(result, model, sign) for model in range(result.n_arms)]
                      if result._has_bounds else None),
        "value_range": sorted(sign * limit for limit in known["value_range"]),
        "lower_is_better": sign < 0,
        "item_labels": [labels[item] for item in known["items"]],
        "n_items_left_out": n_dropped,
        "lost": {name: {"failed": failed, "missing": missing} for name, (failed, missing)
                 in getattr(scores, "lost", {}).items()},
    }


def report(result, scores, sign, n_dropped):
    """Yield the lines of the answer."""
    from pybandit.tables._logs.read import words_of_lost

    total, digits = result.n_arms * result.n_items, _digits(result)
    title = ("best" if result.decided else "guess" if result._budgeted
             else "best so far")
    for model in result.best_arms.tolist():
        yield (f"{title}: {short(result.name(model))}, mean "
               f"{sign * result.means[model]:.{digits}f}{_known(result, model, sign)}")
    yield from textwrap.wrap(result.guarantee(), 99)
    yield ""
    yield (f"Read {result.n_pulls:,} of {total:,} scores ({percent(result.fraction_read)}): "
           f"{result.n_arms:,} models on {result.n_items:,} items.")
    if result.cost is not None:
        yield f"They cost {result.cost:,.6g}."
    if n_dropped:
        yield from textwrap.wrap(
            f"Items that lack a score and were left out: {n_dropped:,} of "
            f"{n_dropped + result.n_items:,}. The answer is about the {result.n_items:,} others "
            "only.", 99)
    if getattr(scores, "lost", None):
        yield from textwrap.wrap(f"Lost by model: {words_of_lost(scores.lost)}.", 99)
    yield ""
    yield from _table(result, sign)


def _known(result, model, sign):
    """Return the interval of a mean, or the number of items if all were read."""
    weighted = "" if result.weights is None else ", weighted"
    if _read_in_full(result, model):
        return f"{weighted}, over all {result.n_items:,} items"
    if not result._has_bounds:
        return weighted
    low, high = (f"{bound:.{_digits(result)}f}" for bound in _interval(result, model, sign))
    return f", between {low} and {high}"


def _bounds(result, model, sign):
    """Return the interval of a model for the table."""
    if _read_in_full(result, model):
        return "all read"
    bounds = _interval(result, model, sign) or ()
    return " to ".join(f"{bound:.{_digits(result)}f}" for bound in bounds)


def _table(result, sign):
    shown, digits = _shown(result), _digits(result)
    rows = [(short(result.name(model)), f"{result.pulls[model]:,}",
             f"{sign * result.means[model]:.{digits}f}", _bounds(result, model, sign),
             "best" if result.decided and model in result.best_arms else "")
            for model in shown[:MOST_ROWS]]
    head = ("model", "items read", "mean", f"{100 * (1 - result.delta):g} % interval", "")
    yield from aligned([head, *rows], "<>><<")
    if len(shown) > MOST_ROWS:
        yield f"and {len(shown) - MOST_ROWS:,} more survivors; --json has all"


def _shown(result):
    """Return the survivors by mean; if the race is decided, also the next models."""
    order = np.argsort(-result.means, kind="stable")
    left = np.isin(order, result.survivors)
    next_ones = order[~left][:RUNNERS_UP] if result.decided else []
    return [*order[left].tolist(), *map(int, next_ones)]


def _digits(result):
    """Return the number of decimals that shows a thousandth of the range."""
    low, high = result.value_range
    return max(0, 3 - math.floor(math.log10(high - low)))


def _delimiter(text):
    text = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(text) != 1 or text in '"\r\n':
        raise argparse.ArgumentTypeError(f"must be one character, or tab; got {text!r}")
    return text
