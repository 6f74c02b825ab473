"""Columns of a table of scores: models, labels of items, aggregates, and others.

The rules are those of the page "What is read" (docs/what_is_read.md).
"""

import re
import warnings

import numpy as np

from pybandit._shared.warn import warn
from pybandit.tables._text import listed, short

# Names are compared in lower case; blanks, points and hyphens count as underscores.
PLACES = ("", "index", "unnamed:_0", "level_0", "row", "row_id", "row_number", "#", "no", "nr",
          "rank")
LABELS = (*PLACES, "id", "item", "items", "name", "qid", "uid", "uuid", "guid", "item_name",
          "question_number", "example", "question_no", "sample_number", "__index_level_0__")
LABEL_ENDS = ("_id", "_idx", "_index")
MODELS = ("model", "models", "model_name", "model_names", "model_id", "name_of_model",
          "name_of_models", "name_of_the_model", "system", "systems", "system_name", "system_id",
          "agent", "agent_name", "llm", "method", "candidate", "submission", "engine", "arm",
          "algorithm", "approach", "checkpoint", "classifier", "estimator", "language_model",
          "modell", "modele", "modèle", "modelo", "modello", "модель", "模型")
ITEMS = ("item", "items", "question", "prompt", "example", "sample", "instance", "task", "case",
         "test_case", "input", "query", "document", "doc", "problem")
SCORES = ("score", "scores", "value", "correct", "is_correct", "accuracy", "acc", "result",
          "reward", "rating", "grade", "passed", "metric_value", "points", "outcome")
EPOCHS = ("epoch", "epochs", "repeat", "repetition", "trial", "attempt", "replicate", "run",
          "run_id", "seed")
# Columns that name the measure of a score: a long table must have one value in each.
MEASURES = ("metric", "metrics", "metric_name", "scorer", "scorer_name", "measure", "filter",
            "filter_name", "criterion", "metrik", "métrique", "metrica")
AGGREGATES = ("mean", "average", "avg", "avg.", "total", "totals", "grand_total", "overall", "sum",
              "median", "mean_score", "average_score", "overall_score", "total_score", "macro_avg",
              "micro_avg", "macro_average", "micro_average", "weighted_avg", "std", "avg_score",
              "mittelwert", "mittel", "durchschnitt", "summe", "gesamt", "moyenne", "somme",
              "media", "promedio", "suma", "somma", "totale", "gemiddelde", "среднее", "итого",
              "平均", "合计", "总计")
# Columns of these names are next to scores, and are read with a warning.
NOT_SCORES = ("latency", "time", "runtime", "seconds", "duration", "cost", "costs", "price",
              "weight", "weights", "tokens", "level", "difficulty", "temperature", "length",
              "timestamp", "year", "params", "size")
NOT_SCORE_FORMS = re.compile(r"(n|num|number_of)_\w+|\w+_(tokens|seconds|sec|ms|usd|cost|length)")
ITEM_FORMS = re.compile(r"(q|question|item|task|prompt|example|sample|instance|problem|fold|frage"
                        r"|pregunta)_?\d+")
BENCHMARKS = ("arc", "arc_c", "arc_e", "arc_easy", "arc_challenge", "hellaswag", "mmlu",
              "mmlu_pro", "truthfulqa", "winogrande", "gsm8k", "ifeval", "bbh", "math",
              "math_lvl_5", "gpqa", "musr", "humaneval", "mbpp", "boolq", "piqa", "triviaqa")
REMEDY = "columns= or --columns names the models, --drop leaves columns out"
LEAST_NUMBERED = 10  # with fewer rows, integers in any order are not considered a numbering
FAR = 10.0  # a column is unusual if its values differ from those of all others by this factor


def plain(name):
    """Return a name in the form in which names are compared."""
    if isinstance(name, tuple):  # several levels in pandas
        name = "_".join(str(part) for part in name if str(part) != "")
    return re.sub(r"[\s\-.]+", "_", str("" if name is None else name).strip().casefold())


def is_label(name, place):
    """Return True if the name of a column says that it has labels of items."""
    known = re.sub(r"(unnamed:_0)(_\d+)+", r"\1", plain(name))
    return known in LABELS and (known != "" or place == 0) or known.endswith(LABEL_ENDS)


def _bare(name):
    """Return `plain(name)` without signs around it, as in 'Average ⬆️', 'Mean:', 'Mean (%)'."""
    return re.sub(r"^[\W_]+|[\W_]+$", "", plain(name))


def is_model(name):
    """Return True if the name of a column says that it has names of models."""
    return _bare(name) in MODELS


def is_aggregate(name):
    """Return True if a label or a name is that of a mean or a sum of the others."""
    return _bare(name) in AGGREGATES


def are_items(names):
    """Return True if all columns are named as items, such as q1 and q2, or as benchmarks."""
    known = [plain(name) for name in names]
    return len(known) > 1 and (all(map(ITEM_FORMS.fullmatch, known))
                               or all(re.sub(r"_*\(.*\)$", "", name) in BENCHMARKS
                                      for name in known))


def is_counter(values):
    """Return True if a column has whole numbers that grow with each row, with or without gaps."""
    if values.size < LEAST_NUMBERED or not (np.diff(values[:LEAST_NUMBERED]) > 0).all():
        return False
    return bool((np.diff(values) > 0).all() and (values == np.floor(values)).all())


def warn_of_last_row(values):
    """Warn if the last row is the sum or the mean of the others in every column."""
    others, last = values[:-1], values[-1]
    if len(others) < 3 or not np.isfinite(last).all() or not (np.ptp(others, axis=0) > 0).all():
        return
    total = others.sum(axis=0)
    kind = ("sum" if np.allclose(last, total, rtol=1e-6, atol=0) and (
                last > others.max(axis=0)).all() else
            "mean" if np.allclose(last, total / len(others), rtol=1e-3, atol=0) else None)
    if kind is not None:
        warn(f"the last row is the {kind} of the others in every column: take it out unless it "
             "is an item")


def long_layout(names):
    """Return the places of model, item, score and epoch if these are columns of a long table.

    The epoch is None if there is none. None if the names are not those of a long table.
    """
    known = [plain(name) for name in names]
    models = [at for at, name in enumerate(known) if name in MODELS]
    if len(models) != 1:
        return None
    others = [at for at in range(len(known)) if at not in models]
    epochs = [at for at in others if known[at] in EPOCHS]
    others = [at for at in others if at not in epochs]
    items = [at for at in others if is_label(names[at], at) and known[at] not in PLACES] or [
        at for at in others if known[at] in ITEMS]
    scores = [at for at in others if known[at] in SCORES and at not in items]
    if not items or not scores:
        return None
    return models[0], items, scores, epochs[0] if epochs else None


def is_numbering(values):
    """Return True if a column of numbers only counts rows: consecutive integers, each once."""
    low, high = values.min(), values.max()
    if not (high - low == values.size - 1 and low == np.floor(low)):
        return False
    if np.array_equal(values, np.arange(low, high + 1)):
        return values.size > 2 and low in (0, 1) or values.size >= LEAST_NUMBERED
    return values.size >= LEAST_NUMBERED and np.array_equal(np.sort(values),
                                                            np.arange(low, high + 1))


def numbers_rows(blocks, n_rows):
    """Return True if a column, given in blocks, only numbers the rows.

    Its values are then 0 to n_rows - 1 or 1 to n_rows, in any order.
    """
    if n_rows < LEAST_NUMBERED:
        return is_numbering(np.concatenate(list(blocks))) if n_rows > 1 else False
    seen = np.zeros(n_rows + 1, dtype=bool)
    for values in blocks:
        if not ((values >= 0) & (values <= n_rows) & (values == np.floor(values))).all():
            return False
        places = values.astype(np.int64)
        if seen[places].any() or np.unique(places).size < places.size:
            return False
        seen[places] = True
    return True


def left_out(what, names):
    """Warn that columns or rows of this kind are left out."""
    if names:
        warn(f"{what} {listed(list(map(str, names)))} left out: by their names they are "
             f"aggregates of others; {REMEDY}")


def _is_no_score(name):
    known = plain(name)
    return known in NOT_SCORES or NOT_SCORE_FORMS.fullmatch(known) is not None


def warn_of_odd(names, lows, highs, among=""):
    """Warn of columns that do not look like scores among the others.

    Parameters
    ----------
    names : sequence
    lows, highs : ndarray of float64
        The smallest and the largest value of each column; NaN if all are lost.
    among : str
        The items that were checked, for the message; all by default.
    """
    with np.errstate(invalid="ignore"):
        constant, warned = lows == highs, set()
        if constant.any() and not constant.all():
            for at in np.flatnonzero(constant).tolist():
                warned.add(at)
                warn(f"column {short(names[at])} is {lows[at]:g} for every item{among}, and "
                     f"other columns vary: is it a model? {REMEDY}")
        sizes = np.maximum(np.abs(lows), np.abs(highs))
        sizes[~np.isfinite(sizes)] = 0  # infinite scores are refused if they are read
        for at in np.flatnonzero(~constant & (sizes > 0)).tolist():
            others = np.delete(sizes, at)
            others = others[others > 0]
            if not others.size:
                continue
            large = sizes[at] >= FAR * others.max() or others.max() <= 1 and sizes[at] >= 2
            if large or others.size > 1 and FAR * sizes[at] <= others.min():
                warned.add(at)
                warn(f"column {short(names[at])} is in [{lows[at]:g}, {highs[at]:g}], a range "
                     f"that does not fit the other columns': is it a model? {REMEDY}")
    for at, name in enumerate(names):
        if at not in warned and _is_no_score(name):
            warn(f"column {short(name)} is named as a measurement next to scores: is it a model? "
                 f"{REMEDY}")


def extremes_of(values):
    """Return the smallest and the largest value of each column, ignoring lost ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # all scores of a column are lost
        return tuple(extreme(values, axis=0).astype(np.float64) for extreme in (np.nanmin,
                                                                                np.nanmax))
