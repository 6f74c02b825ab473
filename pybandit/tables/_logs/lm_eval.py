"""lm-evaluation-harness: samples_TASK_TIME.jsonl, and results_TIME.json next to it."""

import os
import re

from pybandit._shared.errors import UnreadableFileError
from pybandit.tables._logs.fields import Score, checked_score, chosen, digest, identifier, score_of
from pybandit.tables._logs.files import log_of, unpacked_name
from pybandit.tables._text import short

NAME = "lm-evaluation-harness"
LOOKED_FOR = "lines with doc_id and filtered_resps"
SAME = "doc_hash or target_hash"
MEANS = ("has means only: pass the files samples_*.jsonl, which lm-evaluation-harness writes with "
         "--log_samples")
SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl?")
# Fields of a sample that are not metrics, for versions that do not list the metrics.
FIELDS = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
          "doc_hash", "prompt_hash", "target_hash", "schema_version"}
# Metrics for which lower is better, for runs without a results file.
LOWER = {"brier_score", "ter", "wer", "cer", "mse", "rmse", "mae", "bits_per_byte",
         "word_perplexity", "byte_perplexity"}
MEANS_OF = (None, "mean", "nanmean")  # aggregations that are means over items


def is_log(head):
    return isinstance(head, dict) and {"doc_id", "filtered_resps"} <= head.keys()


def is_beside(head):
    return isinstance(head, dict) and isinstance(head.get("results"), dict) and (
        "lm_eval_version" in head or "n-shot" in head or "higher_is_better" in head)


def read(log, choice):
    found = SAMPLES.fullmatch(unpacked_name(log.path))
    if found:
        task, results = found["task"], _results(log.folder, found["time"])
        model = _text(results.get("model_name_sanitized")) or os.path.basename(log.folder)
    else:  # a renamed file: its name is the model
        task, results = "", {}
        model = unpacked_name(log.path).rpartition(".")[0]
    rows, metrics, filters = _rows(log)
    of_task = f"of task {short(task)}" if task else f"of {short(model)}"
    metric = chosen(f"metrics {of_task}", "metric", metrics, choice.metric)
    kept = chosen(f"filters {of_task}", "filter", filters, choice.filter)
    _check_mean(results, task, metric)
    lower = _lower(results, task, metric)
    for line, item, key, scores, content in rows:
        if key == kept:
            value = checked_score(scores.get(metric, score_of(None)), metric,
                                  f"line {line}")
            yield Score(model, item, value, line, task, content=content, measure=(metric, kept),
                        lower=lower)


def _rows(log):
    """Return samples without their texts, and the names of metrics and filters."""
    rows, metrics, filters = [], {}, {}
    for line, sample in log.lines():
        if not is_log(sample):
            raise UnreadableFileError(f"line {line}: must be a sample with doc_id and "
                                      f"filtered_resps; got {short(sample)}")
        names = sample.get("metrics")
        if not isinstance(names, list):
            names = [name for name in sample if name not in FIELDS]
        names = [name for name in names if isinstance(name, str)]
        key = identifier(sample.get("filter", "none"), f"line {line}: filter")
        metrics.update(dict.fromkeys(names))
        filters[key] = None
        rows.append((line, identifier(sample["doc_id"], f"line {line}: doc_id"), key,
                     {name: score_of(sample.get(name)) for name in names}, _content(sample)))
    return rows, metrics, filters


def _content(sample):
    hashes = sample.get("doc_hash"), sample.get("target_hash")
    if hashes != (None, None):
        return "hash", f"{hashes[0]!s:.100} {hashes[1]!s:.100}"
    return "doc", digest([sample.get("doc"), sample.get("target")])


def _results(folder, time):
    """Return the results file of the same run, or an empty object."""
    path = os.path.join(folder, f"results_{time}.json")
    if not os.path.lexists(path):
        return {}
    try:
        head = log_of(path).head
    except UnreadableFileError as error:
        raise UnreadableFileError(f"{os.path.basename(path)} next to it: {error}") from None
    return head if isinstance(head, dict) else {}


def _text(value):
    return value if isinstance(value, str) else ""


def _check_mean(results, task, metric):
    """Refuse a metric that is not the mean of its values."""
    metrics = _object(_object(_object(results, "configs"), task), "metric_list")
    aggregations = [_object(one, "aggregation") for one in metrics if isinstance(metrics, list)
                    if isinstance(one, dict) and one.get("metric") == metric]
    others = [one for one in aggregations if one and one not in MEANS_OF]
    if metric == "perplexity" or others:
        how = others[0] if others else "perplexity"
        raise UnreadableFileError(f"metric {short(metric)} must be the mean of its values; its "
                                  f"aggregation is {short(how)}: such a metric has no score per "
                                  "item")


def _object(value, name):
    """Return the field of an object, or an empty object."""
    return (value.get(name) if isinstance(value, dict) else None) or {}


def _lower(results, task, metric):
    higher = _object(_object(results, "higher_is_better"), task)
    is_higher = higher.get(metric) if isinstance(higher, dict) else None
    if isinstance(is_higher, bool):
        return not is_higher
    return True if metric in LOWER else None
