"""OpenAI evals: JSON lines, first a spec and then events."""

from pybandit._shared.errors import UnreadableFileError
from pybandit.tables._logs.fields import (
    Score,
    checked_score,
    chosen,
    digest,
    field,
    identifier,
    score_of,
)
from pybandit.tables._text import short

NAME = "OpenAI evals"
LOOKED_FOR = "a first line with spec.completion_fns"
SAME = "the prompt or the expected answer"
MEANS = "has no events"
MATCH = "correct"


def is_log(head):
    spec = head.get("spec") if isinstance(head, dict) else None
    return isinstance(spec, dict) and "completion_fns" in spec


def is_beside(head):
    return False


class _Sample:
    """Events of one sample: scores by metric with their lines, prompt and expected answer."""

    def __init__(self, line):
        self.line, self.scores, self.prompt, self.expected = line, {}, None, None

    def add(self, line, kind, data):
        if kind == "sampling" and self.prompt is None:
            self.prompt = digest(data.get("prompt"))
        if kind == "match":
            self.expected = digest(data.get("expected"))
        names = (MATCH,) if kind == "match" else data if kind == "metrics" else ()
        for name in names:
            if name in self.scores:
                raise UnreadableFileError(f"line {line}: a sample must have one score of metric "
                                          f"{short(name)}; another one is in line "
                                          f"{self.scores[name][0]}")
            self.scores[name] = line, score_of(data.get(name))


def read(log, choice):
    lines = log.lines()
    spec = field(next(lines)[1], "spec", kind=dict)
    models = field(spec, "completion_fns", kind=list)
    model = identifier(models[0] if models else None, "spec.completion_fns[0]")
    task, samples = identifier(spec.get("eval_name", "eval"), "spec.eval_name"), {}
    for line, event in lines:
        if "spec" in event:
            raise UnreadableFileError(f"line {line}: must have one spec; this is a second one")
        if "sample_id" not in event:
            continue  # the final report
        item = identifier(event["sample_id"], f"line {line}: sample_id")
        data = event.get("data")
        samples.setdefault(item, _Sample(line)).add(
            line, event.get("type"), data if isinstance(data, dict) else {})
    metrics = [name for sample in samples.values()
               for name, (_, score) in sample.scores.items() if not isinstance(score, str)]
    metric = chosen(f"metrics of {short(task)}", "metric", metrics, choice.metric)
    for item, sample in samples.items():
        line, score = sample.scores.get(metric, (sample.line, score_of(None)))
        content = ("match", (sample.prompt, sample.expected)) if sample.expected else None
        yield Score(model, item, checked_score(score, metric, f"line {line}"), line, task,
                    content=content, measure=(metric,))
