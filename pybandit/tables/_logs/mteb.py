"""MTEB: results/MODEL/REVISION/TASK.json. An item is a task, split and subset."""

import os

from pybandit._shared.errors import UnreadableFileError
from pybandit.tables._logs.fields import (
    Score,
    checked_score,
    chosen,
    field,
    identifier,
    objects,
    score_of,
)
from pybandit.tables._logs.files import log_of

NAME = "MTEB"
LOOKED_FOR = "task_name, and scores with main_score"
SAME = "dataset_revision"
MEANS = "has no scores: pass the folder with the results of the model"
DEFAULT = "main_score"


def is_log(head):
    return (isinstance(head, dict) and isinstance(head.get("scores"), dict)
            and "task_name" in head)


def is_beside(head):
    return isinstance(head, dict) and {"name", "revision"} <= head.keys()


def read(log, choice):
    task, model = field(log.head, "task_name", kind=str), _model(log.folder)
    rows = [(split, row) for split, rows in log.head["scores"].items()
            for row in objects(rows, f"scores.{split}")]
    names = [name for _, row in rows for name, value in row.items()
             if not isinstance(score_of(value), str)]
    metric = chosen(f"metrics of {task}", "metric", names, choice.metric, DEFAULT)
    for split, row in rows:
        subset = identifier(row.get("hf_subset", "default"), "hf_subset")
        item = f"{task}/{split}/{subset}"
        yield Score(model, item, checked_score(score_of(row.get(metric)), metric, item),
                    measure=(metric,), content=("revision", str(log.head.get("dataset_revision"))))


def _model(folder):
    """Return the name in model_meta.json, or the name of the folder above the revision."""
    path = os.path.join(folder, "model_meta.json")
    if os.path.lexists(path):
        try:
            return identifier(field(log_of(path).head, "name", kind=str), "name")
        except (OSError, UnreadableFileError) as error:
            raise UnreadableFileError(f"model_meta.json next to it: {error}") from None
    return os.path.basename(os.path.dirname(folder)).replace("__", "/")
