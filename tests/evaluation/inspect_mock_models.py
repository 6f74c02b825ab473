"""RaceStopping in Inspect itself, with its mock models; run by `make inspect`.

Inspect installs 84 packages, so the daily tests use a fake of its protocol instead.
"""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import tiktoken
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import match

from pybandit.evaluation import RaceStopping

import blocks

pytestmark = pytest.mark.filterwarnings("ignore")  # warnings of Inspect itself
RIGHT = np.random.default_rng(1).random((400, 3)) < [0.9, 0.6, 0.3]


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """Replace counting of tokens, which needs the network, and write logs to tmp_path."""
    counts = SimpleNamespace(encode=lambda *_, **__: [0], encode_ordinary=lambda *_: [0])
    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: counts)
    monkeypatch.chdir(tmp_path)


def mock(arm, fails=()):
    """Return a model that knows the answer to some sums."""
    def answer(messages, *_):
        item = int(messages[-1].text.split()[0])
        if item in fails:
            raise RuntimeError(f"no answer to {item}")
        return ModelOutput.from_content("mock", str(2 * item + 1) if RIGHT[item - 1, arm] else "-1")

    return get_model(f"mockllm/m{arm}", custom_outputs=answer)


def dataset():
    samples = MemoryDataset([Sample(id=i, input=f"{i} + {i + 1} =", target=str(2 * i + 1))
                             for i in range(1, 401)])
    samples.shuffle(1)
    return samples


def run(hook, models, **options):
    task = Task(dataset(), scorer=match(numeric=True), early_stopping=hook)
    options = dict(dict(max_tasks=len(models), max_samples=8, display="none"), **options)
    return eval(task, model=models, **options)


def test_documented_hook_stops_losing_models():
    """Run the block of docs/evaluation_tools.md on three models."""
    page = Path(__file__).parents[2] / "docs" / "evaluation_tools.md"
    (block,) = [one for one in blocks.blocks_of(page.read_text()) if "# quiz.py" in one.body]
    names = {}
    exec(block.body, names)
    race, logs = names["run"]([mock(arm) for arm in range(3)], display="none", max_samples=8)
    assert race.race.decided and race.race.recommend()[0] == 0
    assert [log.status for log in logs] == ["success"] * 3
    assert logs[0].results.early_stopping.manager == "pybandit"
    ran = [log.results.completed_samples for log in logs]
    stopped = [len(log.results.early_stopping.early_stops) for log in logs]
    assert [a + b for a, b in zip(ran, stopped, strict=True)] == [400] * 3
    assert all(race.race.pulls <= ran) and sum(ran) < 200


def test_finish_runs_all_samples_of_best_model():
    logs = run(RaceStopping(3, finish=True), [mock(arm) for arm in range(3)])
    ran = [log.results.completed_samples for log in logs]
    assert ran[0] == 400 and max(ran[1:]) < 200
    assert logs[0].results.scores[0].metrics["accuracy"].value == pytest.approx(RIGHT[:, 0].mean())


def test_unshuffled_tasks_are_refused():
    hook = RaceStopping(2)
    task = Task(MemoryDataset([Sample(input="1 + 2 =", target="3")]), scorer=match(),
                early_stopping=hook)
    (log, _) = eval(task, model=[mock(0), mock(1)], max_tasks=2, display="none")
    assert log.status == "error" and "must be shuffled" in log.error.message


def test_sample_shuffle_and_epochs_are_accepted():
    hook = RaceStopping(2)
    task = Task(MemoryDataset(list(dataset())[:60]), scorer=match(numeric=True), epochs=2,
                early_stopping=hook)
    logs = eval(task, model=[mock(0), mock(2)], max_tasks=2, max_samples=4, sample_shuffle=3,
                display="none")
    assert [log.status for log in logs] == ["success"] * 2
    assert hook.race.recommend()[0] == 0 and hook.race.decided
    assert logs[1].results.completed_samples < 120


def test_unscored_failure_stops_decisions():
    first = dataset()[2].id
    hook = RaceStopping(2)
    run(hook, [mock(0, fails={first}), mock(2)], fail_on_error=False)
    assert hook.race.pulls.tolist() == [2, 2] and not hook.race.decided
    hook = RaceStopping(2)
    run(hook, [mock(0, fails={first}), mock(2)], fail_on_error=False, score_on_error=True)
    assert hook.race.decided and hook.race.recommend()[0] == 0
