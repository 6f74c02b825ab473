"""Inspect: .eval archives and .json logs."""

from pybandit._shared.errors import UnreadableFileError
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
from pybandit.tables._text import short

NAME = "Inspect"
LOOKED_FOR = "eval.model, eval.task and samples"
SAME = "input or target"
MEANS = "has no samples: pass the .eval or .json logs themselves"
# Scores of text, as in Inspect's value_to_float.
LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
MOST_SAMPLES = 1 << 20
LONGEST = 1000  # maximum characters of an input that summaries contain in full


def is_log(head):
    return (isinstance(head, dict) and isinstance(head.get("eval"), dict)
            and {"model", "task"} <= head["eval"].keys() and isinstance(head.get("samples"), list))


def is_beside(head):
    if not isinstance(head, dict):
        return False
    headers = list(head.values())
    return ("eval_set_id" in head and "tasks" in head
            or isinstance(head.get("eval"), dict) and "model" in head["eval"]
            or bool(headers) and all(isinstance(one, dict) and "eval" in one and "status" in one
                                     for one in headers))


def read(log, choice):
    head = log.head
    model = identifier(field(head, "eval", "model", kind=str), "eval.model")
    task = identifier(field(head, "eval", "task", kind=str), "eval.task")
    samples, absent = objects(head["samples"], "samples"), _absent(head)
    _check_whole(head, absent)
    names = [name for sample in samples for name in _scores(sample)]
    metric = chosen(f"scorers of task {short(task)}", "metric",
                    names or _scorers(head), choice.metric)
    content = {}
    for sample in samples:
        item, epoch = _place(sample)
        content[item] = _content(sample, log.is_archive)
        value = score_of(None)
        if not sample.get("error") and not sample.get("invalidation"):
            value = checked_score(_value(_scores(sample).get(metric)), metric,
                                  f"sample {short(item)}")
        yield Score(model, item, value, task=task, epoch=epoch, content=content[item],
                    measure=(metric,))
    for item, epoch in absent:
        yield Score(model, item, score_of(None), task=task, epoch=epoch,
                    content=content.get(item), is_missing=True, measure=(metric,))


def _check_whole(head, absent):
    """Refuse logs whose samples do not represent all samples of the task."""
    results = head.get("results")
    early = results.get("early_stopping") if isinstance(results, dict) else None
    if early and (absent or not isinstance(early, dict) or early.get("early_stops")):
        raise UnreadableFileError("must not have stopped early: scores decided which samples were "
                                  "read, so their mean is biased. Only the answer of the race that "
                                  "stopped it is valid")
    if head.get("invalidated"):
        raise UnreadableFileError("must not be marked as invalidated")


def _place(sample):
    """Return the item and the epoch of a sample."""
    epoch = sample.get("epoch", 1)
    if isinstance(epoch, bool) or not isinstance(epoch, int):
        raise UnreadableFileError(f"epoch of a sample must be an integer; got {short(epoch)}")
    return identifier(sample.get("id"), "id of a sample"), epoch


def _absent(head):
    """Return the items and epochs of the data set without a sample."""
    about = head["eval"]
    dataset, config = about.get("dataset"), about.get("config")
    ids = dataset.get("sample_ids") if isinstance(dataset, dict) else None
    n_epochs = config.get("epochs") if isinstance(config, dict) else None
    if not isinstance(ids, list):
        return []
    there = {_place(sample) for sample in head["samples"]}
    epochs = {epoch for _, epoch in there} | {1}
    if isinstance(n_epochs, int):
        epochs |= set(range(1, min(n_epochs, MOST_SAMPLES) + 1))
    named = [identifier(one, "eval.dataset.sample_ids") for one in ids]
    if len(named) * len(epochs) > MOST_SAMPLES:
        raise UnreadableFileError(f"must have at most {MOST_SAMPLES:,} samples; got {len(named):,} "
                                  f"in {len(epochs):,} epochs")
    return [(item, epoch) for item in named for epoch in sorted(epochs)
            if (item, epoch) not in there]


def _scores(sample):
    scores = sample.get("scores")
    return scores if isinstance(scores, dict) else {}


def _scorers(head):
    scorers = head["eval"].get("scorers")
    return [one["name"] for one in scorers if isinstance(one, dict) and isinstance(
        one.get("name"), str)] if isinstance(scorers, list) else []


def _value(score):
    """Return a value as a number; text is converted as in Inspect."""
    value = score.get("value") if isinstance(score, dict) else score
    if not isinstance(value, str):
        return score_of(value)
    if value in LETTERS:
        return LETTERS[value]
    if value.casefold() in WORDS:
        return WORDS[value.casefold()]
    try:
        return float(value) if "_" not in value else score_of(value)
    except ValueError:
        return score_of(value)


def _content(sample, is_archive):
    """Return the form and a digest of input and target, without identifiers of messages."""
    given = sample.get("input")
    if isinstance(given, str):
        kind = "text" if len(given) <= LONGEST else is_archive
    else:
        kind = is_archive
        if isinstance(given, list):
            given = [[one.get("role"), one.get("content")] if isinstance(one, dict) else one
                     for one in given]
    return kind, digest([given, sample.get("target")])
