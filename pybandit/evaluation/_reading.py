"""Read tables and files with options, as scores for `best_of`."""

from collections.abc import Iterable
from typing import Any, Literal

from pybandit._shared.checks import as_list, check_choice, shown
from pybandit.evaluation._opened import opened
from pybandit.evaluation._sources import plain_table
from pybandit.tables._frames import is_table, scores_of_table
from pybandit.tables._logs.read import choice_of, log_paths
from pybandit.tables._scores import Options
from pybandit.tables._table import Scores
from pybandit.tables.blocks import Blocks

__all__ = ["read_scores"]


def read_scores(source: Any, *, columns: Iterable[Any] | None = None,
                models: Literal["columns", "rows"] | None = None, items: str | None = None,
                metric: str | Iterable[str] | None = None,
                filter: str | Iterable[str] | None = None,
                failed: float | Literal["skip"] | None = None) -> Any:
    """Read a table or log files with options, as scores for `best_of`.

    The page "What is read" has the formats and the rules.

    Parameters
    ----------
    source : path, list of paths or table
        A table in memory, the name of a file or folder, or a list of names of log files. As
        `scores` of `best_of`, but not a function.
    columns : iterable, optional
        Names of the columns that are models, or their numbers if the table has no names. For a
        table with one line per score: names of the columns of model, item and score. By default
        all columns except labels of items and aggregates such as ``mean``.
    models : {"columns", "rows"}, optional
        "rows" if each row is a model; "columns" if each column is one, for a table that would be
        refused because its names indicate models in rows.
    items : str, optional
        Name of the column that holds the labels of the items.
    metric : str or iterable of str, optional
        For log files: the metric or the scorer to read, if there are several; several names if
        tasks have different ones.
    filter : str or iterable of str, optional
        For log files: the filter (lm-evaluation-harness), prompt (promptfoo) or perturbation
        (HELM) to read, if there are several.
    failed : float or "skip", optional
        For log files: the score of items that failed, according to the log. "skip" leaves out,
        for all models, items that lack a score. Without it, such files are refused.

    Returns
    -------
    table
        Scores with names of models and labels of items, to be passed to `best_of` with a
        ``value_range``; `Blocks` if the file is read block by block; an array if the table has
        no names.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, or does not apply to `source`.
    UnreadableFileError
        If a file is damaged, exceeds a limit, or does not hold such scores; a ValueError.
    MissingPackageError
        If a package that reads the file is not installed.
    FileNotFoundError
        If a file does not exist.

    See Also
    --------
    best_of : takes the result; reads `source` itself if no option is needed.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> scores = np.random.default_rng(1).random((1000, 5)) * [0.5, 0.6, 0.7, 0.8, 1.0]
    >>> chosen = pb.evaluation.read_scores(scores, columns=[0, 3])
    >>> pb.best_of(chosen, value_range=(0, 1), rng=1).best_name
    '3'
    """
    if callable(source) or isinstance(source, Scores):
        raise TypeError("source must be a path, a list of paths or a table; got "
                        f"{type(source).__name__}")
    if columns is not None:
        columns = as_list("columns", columns, "names of columns")
    if models is not None:
        check_choice("models", models, ("rows", "columns"))
    if items is not None and not isinstance(items, str):
        raise TypeError(f"items must be the name of a column; got {shown(items)}")
    if failed is not None and log_paths(source) is None:
        raise ValueError("failed must be left out unless source is log files of an evaluation "
                         f"tool; got {shown(failed)}")
    options = Options(columns, (), models, items, False, choice_of(metric, filter, failed))
    return with_names(opened(source, options), options)


def with_names(table: Any, options: Options) -> Any:
    """Return a table as `Scores`, `Blocks`, or an array if nothing in it has a name."""
    if isinstance(table, (Blocks, Scores)):
        return table
    return scores_of_table(table, options) if is_table(table) else plain_table(table, options)
