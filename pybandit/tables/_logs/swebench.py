"""SWE-bench: the report MODEL.RUN.json."""

from pybandit._shared.errors import UnreadableFileError
from pybandit.tables._logs.fields import Score, checked_score, chosen, identifier, score_of
from pybandit.tables._logs.files import unpacked_name
from pybandit.tables._text import short

NAME = "SWE-bench"
LOOKED_FOR = "resolved_ids, unresolved_ids and error_ids"
SAME = "instance_id"
MEANS = "is a report of one instance: pass the report MODEL.RUN.json"
SCORES = {"resolved_ids": 1.0, "unresolved_ids": 0.0, "empty_patch_ids": 0.0}
# Instances that were not measured. Some of infra_failure_ids are in unresolved_ids too.
LOST = ("error_ids", "incomplete_ids", "infra_failure_ids")


def is_log(head):
    return isinstance(head, dict) and {"resolved_ids", "unresolved_ids",
                                       "error_ids"} <= head.keys()


def is_beside(head):
    return isinstance(head, dict) and bool(head) and all(
        isinstance(one, dict) and {"resolved", "patch_exists"} <= one.keys()
        for one in head.values())


def read(log, choice):
    metric = chosen("metrics", "metric", ["resolved"], choice.metric)
    model = unpacked_name(log.path).removesuffix(".json")
    model = (model.rpartition(".")[0] or model).replace("__", "/")
    found = {}
    for name, score in SCORES.items():
        for item in _ids(log, name):
            if found.setdefault(item, (score, name))[1] != name:
                raise UnreadableFileError(f"instance {short(item)} must be in one of "
                                          f"{', '.join(SCORES)}; it is in {found[item][1]} and "
                                          f"{name}")
    for name in LOST:
        for item in _ids(log, name):
            if found.get(item, (0.0,))[0]:
                raise UnreadableFileError(f"instance {short(item)} must not be in resolved_ids and "
                                          f"{name}")
            found[item] = score_of(None), name
    for item, (score, name) in found.items():
        yield Score(model, item, checked_score(score, metric, name),
                    measure=(metric,))


def _ids(log, name):
    ids = log.head.get(name, [])
    if not isinstance(ids, list):
        raise UnreadableFileError(f"{name} must be a list; got {short(ids)}")
    return [identifier(one, name) for one in ids]
