"""Objects with the parts of Optuna, GEPA and DSPy that the integrations use.

Daily tests use these; `make integrations` runs the integrations in the packages themselves.
"""

import enum
import sys
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np


class State(enum.Enum):
    RUNNING, COMPLETE, PRUNED = range(3)


class Direction(enum.Enum):
    MINIMIZE, MAXIMIZE = range(2)


@dataclass
class EvaluationBatch:
    outputs: list
    scores: list
    trajectories: list | None = None
    objective_scores: list | None = None
    num_metric_calls: int | None = None


MODULES = {
    "optuna": {}, "optuna.trial": {"TrialState": State},
    "optuna.study": {"StudyDirection": Direction},
    "gepa": {}, "gepa.core": {}, "gepa.core.adapter": {"EvaluationBatch": EvaluationBatch},
}


def install(monkeypatch):
    """Make the fakes importable."""
    for name, contents in MODULES.items():
        module = ModuleType(name)
        module.__dict__.update(contents)
        monkeypatch.setitem(sys.modules, name, module)


@dataclass
class Trial:
    number: int
    state: State = State.RUNNING
    intermediate_values: dict[int, float] = field(default_factory=dict)


class Study:
    """Trials one after the other; `should_prune` is asked after each report."""

    def __init__(self, pruner, maximize=True):
        self.pruner, self.trials = pruner, []
        self.direction = Direction.MAXIMIZE if maximize else Direction.MINIMIZE

    def get_trials(self, deepcopy=True, states=None):
        return [one for one in self.trials if states is None or one.state in states]

    def begin(self):
        self.trials.append(Trial(len(self.trials)))
        return self.trials[-1]

    def run(self, scores, order, sort_every=1):
        """Run one trial; return the number of items read.

        `sort_every` items arrive at a time, sorted, as from SQLite.
        """
        trial = self.begin()
        for i in range(0, len(order), sort_every):
            for step in order[i:i + sort_every]:
                trial.intermediate_values[int(step)] = float(scores[step])
            trial.intermediate_values = dict(sorted(trial.intermediate_values.items()))
            if self.pruner.prune(self, trial):
                trial.state = State.PRUNED
                return len(trial.intermediate_values)
        trial.state = State.COMPLETE
        return len(order)


class Adapter:
    """A GEPA adapter whose candidates are {"p": number}; an item is a level to pass."""

    def __init__(self):
        self.calls = []

    def evaluate(self, batch, candidate, capture_traces=False):
        self.calls.append(list(batch))
        scores = [float(item < candidate["p"]) for item in batch]
        return EvaluationBatch([f"{item:.3f}" for item in batch], scores,
                               [("trace", item) for item in batch] if capture_traces else None,
                               [{"a": score} for score in scores])


class Program:
    """A DSPy program that solves the sums below its level."""

    def __init__(self, level):
        self.level = level

    def __call__(self, question):
        return SimpleNamespace(answer=2 * question if question % 100 < self.level else -1)


@dataclass
class Example:
    question: int

    def inputs(self):
        return {"question": self.question}


def answers(example: Any, prediction: Any, trace: Any = None) -> Any:
    """Return the score as a dspy.Prediction with a score."""
    return SimpleNamespace(score=prediction.answer == 2 * example.question, feedback="none")


def levels(n=200, seed=3):
    """Return items of a validation set, all different."""
    return np.random.default_rng(seed).random(n).tolist()
