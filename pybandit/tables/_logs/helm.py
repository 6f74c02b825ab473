"""HELM: run_spec.json and per_instance_stats.json in the folder of a run."""

import os

from pybandit._shared.errors import UnreadableFileError
from pybandit._shared.warn import warn
from pybandit.tables._logs.fields import (
    Score,
    checked_score,
    chosen,
    digest,
    field,
    identifier,
    objects,
    score_of,
)
from pybandit.tables._logs.files import log_of
from pybandit.tables._text import listed, short

NAME = "HELM"
LOOKED_FOR = "per_instance_stats.json with instance_id and stats"
SAME = "scenario_spec of run_spec.json"
MEANS = "has no scores of instances: pass the folder of the run, or its per_instance_stats.json"
ORIGINAL = "original"  # the filter for instances without perturbation


def is_log(head):
    return (isinstance(head, list) and bool(head) and isinstance(head[0], dict)
            and {"instance_id", "stats"} <= head[0].keys())


def is_beside(head):
    return isinstance(head, dict) and ({"adapter_spec", "scenario_spec"} <= head.keys()
                                       or {"adapter_spec", "request_states"} <= head.keys())


def read(log, choice):
    spec = _spec(log)
    model = field(spec, "adapter_spec", "model", kind=str)
    task, scenario = _task(field(spec, "name", kind=str)), digest(spec.get("scenario_spec"))
    rows = objects(log.head, "instances")
    metrics = [_name(stat)[0] for row in rows for stat in _stats(row)]
    metric = chosen(f"metrics of run {short(task)}", "metric", metrics, choice.metric)
    copies = list(dict.fromkeys(map(_copy, rows)))
    copy = chosen("perturbations", "filter", copies, choice.filter,
                  ORIGINAL if ORIGINAL in copies else None)
    if not choice.filter and len(copies) > 1:
        warn(f"{log.path}: perturbed copies {listed([one for one in copies if one != copy])} of "
             "instances are not read: filter= or --filter names the copies that are")
    for row in rows:
        if _copy(row) == copy:
            item = identifier(row.get("instance_id"), "instance_id")
            yield Score(model, item, _value(row, metric, item), task=task,
                        content=("scenario", scenario), measure=(metric, copy),
                        epoch=identifier(row.get("train_trial_index", 0), "train_trial_index"))


def _spec(log):
    path = os.path.join(log.folder, "run_spec.json")
    try:
        return log_of(path).head
    except (OSError, UnreadableFileError) as error:
        raise UnreadableFileError("must have run_spec.json of the run next to it, which has the "
                                  f"model: {error}") from None


def _task(name):
    """Return the name of a run without its model."""
    scenario, _, options = name.partition(":")
    kept = [one for one in options.split(",") if one and not one.startswith(("model=",
                                                                         "model_deployment="))]
    return scenario + (":" + ",".join(kept) if kept else "")


def _copy(row):
    """Return the perturbation of an instance."""
    found = row.get("perturbation")
    return ORIGINAL if not found else identifier(
        found.get("name") if isinstance(found, dict) else found, "perturbation")


def _stats(row):
    return objects(row.get("stats"), "stats")


def _name(stat):
    """Return the name of a statistic, and a digest that distinguishes splits."""
    name = stat.get("name")
    return field(stat, "name", "name", kind=str), digest(name)


def _value(row, metric, item):
    found = [stat for stat in _stats(row) if _name(stat)[0] == metric]
    if len(found) > 1:
        raise UnreadableFileError(f"instance {short(item)} must have one statistic "
                                  f"{short(metric)}; got {len(found)}, of several splits")
    if not found or not found[0].get("count", 1):
        return score_of(None)
    return checked_score(score_of(found[0].get("mean")), metric, f"instance {short(item)}")
