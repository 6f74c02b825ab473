"""promptfoo: the JSON of ``promptfoo eval -o results.json``."""

from pybandit._shared.errors import UnreadableFileError
from pybandit.tables._logs.fields import (
    Score,
    checked_score,
    chosen,
    digest,
    identifier,
    objects,
    score_of,
)
from pybandit.tables._text import listed, short

NAME = "promptfoo"
LOOKED_FOR = "results.results with provider, testIdx and score"
SAME = "vars"
MEANS = "has no results of tests: pass the file of promptfoo eval -o results.json"
EVERY = "*"  # the filter that makes each prompt a model
ERROR = 2  # failureReason of a test without a measured score


def is_log(head):
    results = head.get("results") if isinstance(head, dict) else None
    rows = results.get("results") if isinstance(results, dict) else None
    return (isinstance(rows, list) and bool(rows) and isinstance(rows[0], dict)
            and "provider" in rows[0] and "score" in rows[0])


def is_beside(head):
    return isinstance(head, dict) and "evalId" in head and "results" in head


def read(log, choice):
    rows = objects(log.head["results"]["results"], "results.results")
    for row in rows:
        for name in ("testIdx", "provider", "score"):
            if name not in row:
                raise UnreadableFileError(f"results.results must have the field {name}, as in "
                                          f"format 3; got {short(sorted(row))}")
    model_of, kept = _columns(rows, choice.filter)
    named = [name for row in rows for name in _named(row)]
    metric = chosen("metrics", "metric", ["score", "success", *named], choice.metric, "score")
    repeats = _repeats(rows)
    for row in rows:
        model = model_of.get(_column(row))
        if model is None:
            continue
        value = row if metric in ("score", "success") else _named(row)
        item, epoch = repeats[identifier(row["testIdx"], "testIdx")]
        failed = _is_failure(row)
        yield Score(model, item, score_of(None) if failed else checked_score(
            score_of(value.get(metric)), metric, f"test {item}"), epoch=epoch,
            content=("vars", digest(_vars(row))), measure=(metric, kept))


def _column(row):
    """Return provider, prompt and number of the column of a result."""
    provider = row["provider"]
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    prompt = row.get("prompt")
    label = (prompt.get("label") or prompt.get("raw")) if isinstance(prompt, dict) else prompt
    label = "" if label is None else label
    return (identifier(provider, "provider.id"), label if isinstance(label, str) else str(label),
            str(row.get("promptIdx", "")))


def _columns(rows, given):
    """Return the model of each column to read, and the chosen prompt or ""."""
    columns = list(dict.fromkeys(map(_column, rows)))
    prompts = list(dict.fromkeys(prompt for _, prompt, _ in columns))
    providers = {}
    for provider, prompt, _ in columns:
        providers.setdefault(provider, set()).add(prompt)
    kept = ""
    if given == (EVERY,):
        names = {column: f"{column[0]}, {column[1]}" for column in columns}
    elif given or any(len(kept) > 1 for kept in providers.values()):
        try:
            kept = chosen("prompts", "filter", prompts, given)
        except UnreadableFileError as error:
            raise UnreadableFileError(f"{error}; filter='*' or --filter '*' makes a model of each "
                                      "prompt") from None
        names = {column: column[0] for column in columns if column[1] == kept}
    else:
        names = {column: column[0] for column in columns}
    if len(set(names.values())) < len(names):
        twice = [name for name in names.values() if list(names.values()).count(name) > 1]
        raise UnreadableFileError("columns must differ in provider or prompt; got "
                                  f"{listed(twice[:1])} twice: give the providers labels")
    return names, kept


def _repeats(rows):
    """Return the item and the epoch of each test; a repeated test is an epoch of the first."""
    seen, found = {}, {}
    for row in rows:
        test = identifier(row["testIdx"], "testIdx")
        if test not in found:
            case = row.get("testCase")
            tests = seen.setdefault(digest([_vars(row), case]), [])
            found[test] = (tests[0] if tests and case is not None else test), len(tests)
            if case is None:
                found[test] = test, 0
            tests.append(test)
    return found


def _vars(row):
    """Return the variables of a test without those of promptfoo: sessionId, _conversation."""
    values = row.get("vars")
    if not isinstance(values, dict):
        return values
    return {name: value for name, value in values.items()
            if name != "sessionId" and not name.startswith("_")}


def _named(row):
    scores = row.get("namedScores")
    return scores if isinstance(scores, dict) else {}


def _is_failure(row):
    if "failureReason" in row:
        return row["failureReason"] == ERROR
    return bool(row.get("error")) and not row.get("gradingResult")
