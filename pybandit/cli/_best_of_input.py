"""Read the input of `pybandit best-of`, and run the race on it."""

import math
import warnings

import numpy as np

from pybandit._shared.errors import UnreadableFileError
from pybandit.betting.options import Costs, as_costs
from pybandit.evaluation._best_of import best_of
from pybandit.evaluation._opened import opened, refuse_log_options, scores_of_logs
from pybandit.evaluation._sources import plain_table
from pybandit.evaluation.options import Items, group_weights
from pybandit.tables._logs.files import named
from pybandit.tables._logs.read import choice_of, log_paths, refusal_of
from pybandit.tables._npy import NpyFile
from pybandit.tables._open import FILES, MOST_CELLS, suffix_of
from pybandit.tables._read_scores import Form, read_scores
from pybandit.tables._scores import Options
from pybandit.tables._table import Scores


def load(arguments):
    """Return the scores and the number of items that were left out."""
    first = arguments.files[0]
    paths = log_paths(arguments.files if len(arguments.files) > 1 else first)
    if paths is not None:
        return _load_logs(paths, arguments)
    try:
        scores = _read(first, arguments)
        if not isinstance(scores, Scores):
            return scores, 0
        lost = np.argwhere(np.isnan(scores.values))
        if lost.size and arguments.missing == "error":
            raise UnreadableFileError(f"{scores.place(*lost[0])}: a score is lost ({len(lost)} in "
                                      "all), and its value is unknown: --missing drop leaves such "
                                      "items out")
        kept = _kept(scores, arguments)
    except UnreadableFileError as error:
        source = "stdin" if first == "-" else first
        raise UnreadableFileError(f"{source}: {error}") from None
    return kept, len(scores.lines) - len(kept.lines)


def _kept(scores, arguments):
    """Return the items that have all their scores, after a check of the range."""
    kept = scores.without_lost() if np.isnan(scores.values).any() else scores
    if not kept.lines:
        raise UnreadableFileError("every item lacks a score: none is left")
    _check_range(kept, *arguments.value_range)
    return kept


def _options(arguments):
    return Options(arguments.columns, arguments.drop, arguments.models, arguments.items,
                   arguments.groups,
                   choice_of(arguments.metric, arguments.filter, arguments.failed))


def _load_logs(paths, arguments):
    """Return the scores of log files and the number of items that were left out."""
    for option in ("delimiter", "decimal", "sheet", "groups"):
        if getattr(arguments, option):
            raise ValueError(f"--{option} must be left out for log files of evaluation tools")
    scores = scores_of_logs(paths, _options(arguments))
    if scores.lost and arguments.missing == "error":
        raise UnreadableFileError(refusal_of(paths, scores.lost))
    if scores.lower_is_better and not arguments.lower_is_better:
        raise UnreadableFileError(f"{paths[0]}: the logs say that lower scores are better: "
                                  "--lower-is-better looks for the lowest mean")
    try:
        kept = _kept(scores, arguments)
    except UnreadableFileError as error:
        raise UnreadableFileError(f"{named(paths)}: {error}") from None
    return kept, len(scores.lines) - len(kept.lines)


def _read(path, arguments):
    """Return `Scores`, or a table larger than memory in a form that `best_of` accepts."""
    options = _options(arguments)
    refuse_log_options(options, "unless FILE is a log of an evaluation tool")
    if suffix_of(path) not in FILES:
        form = Form(arguments.delimiter, arguments.decimal, arguments.sheet)
        return read_scores(path, form, options)
    try:
        table = opened(path, options)
    except TypeError as error:
        raise UnreadableFileError(str(error)) from None
    if isinstance(table, Scores):
        table.values = np.asarray(table.values, dtype=np.float64)
        return table
    if isinstance(table, (np.ndarray, NpyFile)) and (options.columns or options.models
                                                     or options.items):
        table = plain_table(np.asarray(table), options)
        if isinstance(table, Scores):
            table.columns = [f"model {one}" for one in table.columns]
            return table
    if isinstance(table, (np.ndarray, NpyFile)) and table.ndim == 2 and table.size <= MOST_CELLS:
        names = [f"model {i}" for i in range(table.shape[1])]
        return Scores(names, range(len(table)), np.asarray(table).astype(np.float64),
                      range(len(table)))
    for option, given in (("--lower-is-better", arguments.lower_is_better),
                          ("--groups", arguments.groups), ("--costs", arguments.costs),
                          ("--missing drop", arguments.missing == "drop")):
        if given:
            raise UnreadableFileError(f"{option} must be left out: it needs the whole table in "
                                      "memory, and this one is read in place")
    return table


def _check_range(scores, low, high):
    if not (np.isfinite([low, high]).all() and low < high):
        raise ValueError(f"--value-range must be two finite numbers LOW < HIGH; got {low:g} "
                         f"{high:g}")
    bad = np.argwhere((scores.values < low) | (scores.values > high))
    if bad.size:
        raise UnreadableFileError(
            f"{scores.place(*bad[0])}: {scores.values[tuple(bad[0])]:g} is outside --value-range "
            f"{low:g} {high:g}; set it to the range of all values that a score can take, chosen "
            f"before looking at the scores")


def race(scores, arguments):
    """Return the result of `best_of`."""
    low, high = arguments.value_range
    if arguments.lower_is_better:
        scores = Scores(scores.columns, scores.index, -scores.values, scores.lines,
                        scores.rows, is_long=scores.is_long)
        low, high = -high, -low
    items = Items(population_size=math.inf if arguments.sample else None,
                  weights=_weights(arguments, scores))
    return best_of(scores, items=items, k=arguments.k, delta=arguments.delta,
                   epsilon=arguments.epsilon, value_range=(low, high), budget=arguments.budget,
                   max_pulls=arguments.max_pulls, costs=_limited(_costs(arguments, scores),
                                                                 arguments),
                   rng=arguments.seed, progress=False)


def _limited(costs, arguments):
    """Return costs with a limit in money, or None."""
    for option, given in (("--max-cost", arguments.max_cost),
                          ("--budget-cost", arguments.budget_cost)):
        if given is not None and costs is None:
            raise ValueError(f"{option} must be left out without --costs; got {given:g}")
    if costs is None:
        return None
    as_costs(costs)  # first on their own, so that errors name costs instead of values of `Costs`
    return Costs(costs, budget=arguments.budget_cost, max_cost=arguments.max_cost)


def _weights(arguments, scores):
    if not arguments.groups:
        return None
    if isinstance(scores.index, range):
        raise ValueError("--groups needs labels of the items in the first column, which are "
                         "missing")
    return group_weights([str(label) for label in scores.index])


def _costs(arguments, scores):
    """Return the costs of the items used, or of each model; None without --costs."""
    if arguments.costs is None:
        return None
    try:
        form = Form(arguments.delimiter, arguments.decimal, arguments.sheet)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # all costs of a model may be equal
            costs = read_scores(arguments.costs, form, Options(
                drop=arguments.drop, models=arguments.models, items=arguments.items,
                repeated=True))
        if costs.columns != scores.columns:
            raise UnreadableFileError("must have the models of the scores, in the same order")
        if len(costs.lines) == 1:
            return costs.values
        if len(costs.lines) <= max(scores.rows):
            raise UnreadableFileError(f"must have a line for each item of the scores, or only one; "
                                      f"got {len(costs.lines)}")
        for label, row in zip(scores.index, scores.rows, strict=True):
            if costs.index[row] != label:
                raise UnreadableFileError(f"line {costs.lines[row]} must be item {label!r}, as in "
                                          f"the scores; got {costs.index[row]!r}")
        return costs.values[scores.rows]
    except UnreadableFileError as error:
        raise UnreadableFileError(f"{arguments.costs}: {error}") from None
