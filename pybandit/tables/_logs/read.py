"""Read log files as a table of scores."""

import math
import os

import numpy as np

from pybandit._shared.checks import as_list, check_scalar, shown
from pybandit._shared.errors import UnreadableFileError
from pybandit._shared.files import reason_of
from pybandit._shared.warn import warn
from pybandit.tables._logs import (
    alpaca_eval,
    dspy,
    helm,
    inspect_ai,
    lm_eval,
    mteb,
    openai_evals,
    promptfoo,
    swebench,
)
from pybandit.tables._logs.fields import Choice
from pybandit.tables._logs.files import ENDS, end_of, files_of, log_of, named
from pybandit.tables._long import long_table
from pybandit.tables._open import FILES
from pybandit.tables._read_scores import JSON, TEXT, WORKBOOKS
from pybandit.tables._scores import Scores
from pybandit.tables._text import short

TOOLS = (lm_eval, inspect_ai, promptfoo, helm, mteb, swebench, alpaca_eval, openai_evals, dspy)
FILTERED = (lm_eval, promptfoo, helm)  # tools with filters, prompts or perturbations
ARCHIVE, TABLES = ".eval", (*TEXT, *WORKBOOKS, *FILES)
MOST_SCORES = 1 << 21
SKIP = "skip"
MOST_NAMED = 10  # maximum number of models with lost scores named in a message


def choice_of(metric=None, filter=None, failed=None):
    """Return the `Choice` of these options, checked."""
    names = []
    for option, given in (("metric", metric), ("filter", filter)):
        given = [given] if isinstance(given, str) else [] if given is None else given
        given = tuple(as_list(option, given, "a name, or names, one for each task", 0))
        if not all(isinstance(name, str) for name in given):
            raise TypeError(f"{option} must be a name, or names, one for each task; got "
                            f"{shown(given)}")
        names.append(given)
    if failed is not None and not (isinstance(failed, str) and failed == SKIP):
        if isinstance(failed, str):
            raise ValueError(f"failed must be a finite number or 'skip'; got {shown(failed)}")
        failed = check_scalar("failed", failed, "a finite number or 'skip'", np.isfinite)
    return Choice(*names, failed)


def log_paths(scores):
    """Return the paths of log files that `scores` names, or None if it is something else.

    Several names of files, a folder and a file named .eval are logs. A JSON file is a log if a
    tool is recognised by its content, or if it is a single object, which cannot be a table.
    """
    if isinstance(scores, (list, tuple)):
        named = bool(scores) and all(isinstance(one, (str, os.PathLike)) for one in scores)
        return list(map(os.fsdecode, scores)) if named else None
    if not isinstance(scores, (str, os.PathLike)):
        return None
    path = os.fsdecode(scores)
    if end_of(path) == ARCHIVE or os.path.isdir(path) and end_of(path) not in TABLES:
        return [path]
    if end_of(path) not in JSON:
        return None
    try:
        log = log_of(path)
    except (OSError, ValueError):
        return None  # the reader of tables raises the error
    return [path] if log.is_object or _tool_of(log.head)[0] is not None else None


def read_logs(paths, choice):
    """Return the `Scores` of log files and of those in folders.

    Raises
    ------
    UnreadableFileError
        If a file cannot be read; the message has the file, and the place in it.
    MissingPackageError
        If pyarrow is not installed and a file is packed by Zstandard.
    """
    found, passed = _Found(choice), {}
    for path in files_of(paths):
        try:
            if end_of(path) not in ENDS:
                raise UnreadableFileError("must be a log of an evaluation tool, whose name ends "
                                          f"in {', '.join(ENDS)}: tables are read one at a time")
            log = log_of(path)
            tool, has_scores = _tool_of(log.head)
            if tool is None:
                raise UnreadableFileError(_looked_for())
            if not has_scores:
                passed.setdefault(tool, path)
                continue
            found.begin(tool, path)
            for score in tool.read(log, choice):
                found.add(score)
        except ValueError as error:
            raise UnreadableFileError(f"{path}: {error}") from None
        except OSError as error:
            raise UnreadableFileError(f"{path}: cannot be read: {reason_of(error)}") from None
    if found.tool is None:
        tool, path = next(iter(passed.items()))
        raise UnreadableFileError(f"{path}: {tool.MEANS}")
    return found.scores()


def _tool_of(head):
    """Return the tool that wrote a file, and True if it has scores; else (None, False)."""
    for tool in TOOLS:
        if tool.is_log(head):
            return tool, True
    for tool in TOOLS:
        if tool.is_beside(head):
            return tool, False
    return None, False


def _looked_for():
    tools = "; ".join(f"{tool.NAME}: {tool.LOOKED_FOR}" for tool in TOOLS)
    return f"must be a log of an evaluation tool, recognised by its content: {tools}"


class LogScores(Scores):
    """Scores of log files.

    Attributes
    ----------
    lost : dict
        Numbers of failed and of missing items, for each model that lacks scores.
    lower_is_better : bool
        True if the logs state that lower scores are better.
    """

    def __init__(self, table, lost, lower_is_better):
        super().__init__(table.columns, table.index, table.values, table.lines, table.rows,
                         table.own_index, table.is_long)
        self.lost, self.lower_is_better = lost, lower_is_better

    def some(self, kept):
        return LogScores(super().some(kept), self.lost, self.lower_is_better)


class _Found:
    """Scores of all files so far, which must be of one tool and of the same items."""

    def __init__(self, choice):
        self._choice, self._failed, self.tool = choice, choice.failed, None
        self._paths, self._rows, self._contents, self._lower = [], [], {}, {}
        self._measures = {}

    def begin(self, tool, path):
        if self.tool not in (None, tool):
            raise UnreadableFileError(f"must be a log of {self.tool.NAME}, like {self._paths[0]}; "
                                      f"it is one of {tool.NAME}")
        if self._choice.filter and tool not in FILTERED:
            raise UnreadableFileError(f"filter must be left out for logs of {tool.NAME}; got "
                                      f"{shown(self._choice.filter)}")
        self.tool = tool
        self._paths.append(path)

    def add(self, score):
        """Add a score of the file that was started last."""
        at = len(self._paths) - 1
        if len(self._rows) >= MOST_SCORES:
            raise UnreadableFileError(f"must have at most {MOST_SCORES:,} scores, including "
                                      "those of earlier files")
        if score.content is not None:
            kind, content = score.content
            first, place = self._contents.setdefault((score.task, score.item, kind),
                                                     (content, at))
            if first != content:
                raise UnreadableFileError(f"item {short(score.item)} must be the same as in "
                                          f"{self._paths[place]}; {self.tool.SAME} differs: the "
                                          "files are of different items")
        self._check_measure(score, at)
        if score.lower is not None:
            self._lower.setdefault(score.lower, (score.task, at))
        self._rows.append((score._replace(content=None), at))

    def _check_measure(self, score, at):
        """Refuse scores of different metrics on one task."""
        first, place = self._measures.setdefault(score.task, (score.measure, at))
        if first != score.measure:
            known, got = (", ".join(map(short, one)) for one in (first, score.measure))
            raise UnreadableFileError(f"scores of one task must have one metric, {known} in "
                                      f"{self._paths[place]}; got {got}")

    def scores(self):
        """Return the table, with the direction of its scores and the numbers of lost ones."""
        if not self._rows:
            raise UnreadableFileError(f"{self._paths[0]}: there are no scores")
        scores = [score for score, _ in self._rows]
        models = {score.model for score in scores}
        if len(models) < 2:
            raise UnreadableFileError(f"{named(self._paths)}: must have scores of at least 2 "
                                      f"models; got those of {short(*models)}: pass the files of "
                                      "other models too")
        self._check_choice()
        self._check_direction()
        self._check_epochs(scores)
        several = len({score.task for score in scores}) > 1
        items = [f"{score.task}/{score.item}" if several else score.item for score in scores]
        values, n_filled = np.array([score.value for score in scores]), {}
        for row, score in enumerate(scores):
            if isinstance(self._failed, float) and math.isnan(score.value) and not (
                    score.is_missing):
                values[row] = self._failed
                n_filled[score.model] = n_filled.get(score.model, 0) + 1
        if n_filled:
            counts = ", ".join(f"{name} {n:,}" for name, n in n_filled.items())
            warn(f"failures were given the score failed={self._failed:g}; number by model: "
                 f"{counts}")
        try:
            table = long_table([score.model for score in scores], items, values,
                               self._epochs(scores), place=self._place)
        except UnreadableFileError as error:
            raise UnreadableFileError(f"{named(self._paths)}: {error}") from None
        failed = {(score.model, item) for score, item, value in
                  zip(scores, items, values, strict=True)
                  if math.isnan(value) and not score.is_missing}
        table = LogScores(table, _lost_by_model(table, failed), True in self._lower)
        if table.lost and self._failed == SKIP:
            warn(f"items without a score are left out, by model: {words_of_lost(table.lost)}")
            table = table.without_lost()
            if not len(table.values):
                raise UnreadableFileError(f"{self._paths[0]}: every item lacks a score: none is "
                                          "left")
        return table

    def _place(self, row):
        score, at = self._rows[row]
        line = "" if score.line is None else f", line {score.line}"
        return f"{self._paths[at]}{line}"

    def _epochs(self, scores):
        return None if all(score.epoch is None for score in scores) else [
            score.epoch for score in scores]

    def _check_choice(self):
        """Refuse names of metrics and filters that no file has."""
        for at, option in enumerate(("metric", "filter")):
            given = getattr(self._choice, option)
            used = {measure[at] for measure, _ in self._measures.values() if len(measure) > at}
            for name in given if len(given) > 1 else ():
                if name not in used:
                    raise UnreadableFileError(f"{named(self._paths)}: {option} must name one that "
                                              f"the files have; got {short(name)}")

    def _check_direction(self):
        if len(self._lower) == 2:
            found = [f"the {'lower' if lower else 'higher'} score is better in task {short(task)} "
                     f"({self._paths[at]})" for lower, (task, at) in self._lower.items()]
            raise UnreadableFileError(f"{'; '.join(found)}: read them one at a time")

    def _check_epochs(self, scores):
        """Refuse models with different epochs of a task, and tasks with different epochs."""
        epochs, first = {}, None
        for score in scores:
            epochs.setdefault((score.task, score.model), set()).add(score.epoch)
        for (task, model), found in epochs.items():
            first = first or (task, model, found)
            if found != first[2]:
                raise UnreadableFileError(f"model {short(model)} must have the same epochs of task "
                                          f"{short(task)} as model {short(first[1])} has of task "
                                          f"{short(first[0])}, {len(first[2])}; got {len(found)}: "
                                          "scores are means over epochs only if no epoch is "
                                          "missing")


def _lost_by_model(table, failed):
    """Return the numbers of failed and missing items of each model that lacks scores."""
    lost, found = np.isnan(table.values), {}
    for column, name in enumerate(table.columns):
        rows = np.flatnonzero(lost[:, column]).tolist()
        n_failed = sum((name, table.index[row]) in failed for row in rows)
        if rows:
            found[name] = n_failed, len(rows) - n_failed
    return found


def words_of_lost(lost):
    """Return the number of items without a score, by model, in words."""
    words = [f"{name} {failed + missing:,} ({failed:,} failed, {missing:,} missing)"
             for name, (failed, missing) in lost.items()]
    more = f", and {len(words) - MOST_NAMED:,} models more" if len(words) > MOST_NAMED else ""
    return ", ".join(words[:MOST_NAMED]) + more


def refusal_of(paths, lost):
    """Return why a table of logs with lost scores is refused."""
    has_failed = any(failed for failed, _ in lost.values())
    zero = "failed=0 or --failed 0 counts a failure as 0; " if has_failed else ""
    return (f"{named(paths)}: items without a score, by model: {words_of_lost(lost)}. Which "
            f"items fail may depend on the model: {zero}failed='skip' or --missing drop leaves "
            "such items out for all models")
