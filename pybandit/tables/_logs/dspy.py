"""DSPy: files of ``dspy.Evaluate(save_as_json=)``. The file name is the model."""

from pybandit._shared.errors import UnreadableFileError
from pybandit.tables._columns import long_layout
from pybandit.tables._logs.fields import (
    Score,
    checked_score,
    chosen,
    digest,
    objects,
    score_of,
)
from pybandit.tables._logs.files import unpacked_name
from pybandit.tables._text import short

NAME = "DSPy"
LOOKED_FOR = "a list with example_NAME and pred_NAME, or with prediction before the score"
SAME = "the example"
MEANS = "has no scores"
EXAMPLE, PREDICTED = "example_", "pred_"
WHOLE = "prediction"  # the field of a prediction without named fields


def is_log(head):
    return (isinstance(head, list) and any(map(_predicted, head))
            and long_layout(list(head[0])) is None)


def is_beside(head):
    return False


def read(log, choice):
    rows = objects(log.head, "examples")
    metric = chosen("metrics", "metric", [_last(row) for row in rows], choice.metric)
    model = unpacked_name(log.path).rpartition(".")[0]
    shared = {name for row in rows for name in _predicted(row)}
    for at, row in enumerate(rows):
        if _last(row) != metric:
            raise UnreadableFileError(f"example {at} must end with the score {short(metric)}; got "
                                      f"{short(_last(row))}")
        score = checked_score(score_of(row[metric]), metric, f"example {at}")
        yield Score(model, str(at), score if _predicted(row) else score_of(None),
                    measure=(metric,), content=("example", digest(_example(row, shared))))


def _predicted(row):
    """Return the fields that an example shares with its prediction; none if the call failed."""
    if not isinstance(row, dict):
        return []
    if list(row)[-2:-1] == [WHOLE]:
        return [WHOLE]
    names = [name.removeprefix(EXAMPLE) for name in row if name.startswith(EXAMPLE)]
    return [name for name in names if PREDICTED + name in row]


def _last(row):
    return list(row)[-1] if row else ""


def _example(row, shared):
    """Return the fields of the example, which end with the last one shared with the prediction."""
    if WHOLE in shared:
        return {name: row[name] for name in list(row)[:-1] if name != WHOLE}
    names = _predicted(row)
    ends = [EXAMPLE + name for name in names] or [name for name in shared if name in row]
    places = [at for at, name in enumerate(row) if name in ends]
    kept = list(row)[:max(places, default=-1) + 1]
    return {name.removeprefix(EXAMPLE) if name in ends else name: row[name] for name in kept}
