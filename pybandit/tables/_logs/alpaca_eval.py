"""AlpacaEval: results/MODEL/ANNOTATOR/annotations.json."""

from pybandit._shared.errors import UnreadableFileError
from pybandit.tables._logs.fields import (
    Score,
    checked_score,
    chosen,
    identifier,
    objects,
    score_of,
)
from pybandit.tables._text import short

NAME = "AlpacaEval"
LOOKED_FOR = "a list with instruction, generator_2 and preference"
SAME = "generator_1 or annotator"
MEANS = "has outputs without preferences: pass annotations.json"


def is_log(head):
    return (isinstance(head, list) and bool(head) and isinstance(head[0], dict)
            and {"instruction", "generator_2", "preference"} <= head[0].keys())


def is_beside(head):
    return (isinstance(head, list) and bool(head) and isinstance(head[0], dict)
            and {"instruction", "output", "generator"} <= head[0].keys())


def read(log, choice):
    metric = chosen("metrics", "metric", ["preference"], choice.metric)
    for at, row in enumerate(objects(log.head, "annotations"), 1):
        place = f"annotation {at}"
        value = checked_score(score_of(row.get("preference")), metric, place)
        if not value != value and not 1 <= value <= 2:
            raise UnreadableFileError(f"{place}: preference must be in [1, 2], 1 for the baseline "
                                      f"and 2 for the model; got {short(row['preference'])}")
        judge = str(row.get("generator_1")), str(row.get("annotator"))
        yield Score(identifier(row.get("generator_2"), f"{place}: generator_2"),
                    identifier(row.get("instruction"), f"{place}: instruction"), value - 1,
                    measure=(metric,), content=("judge", judge))
