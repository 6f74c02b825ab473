"""The integrations in Optuna, GEPA and DSPy themselves; run by `make integrations`.

Seen with Optuna 5.0.0, GEPA 0.1.4 and DSPy 3.4.1. The daily tests fake these packages.
"""

import re
from pathlib import Path

import dspy
import gepa
import numpy as np
import optuna
import pytest
from dspy.utils.dummies import DummyLM

from integrations import fakes
from pybandit.integrations.dspy import best_program
from pybandit.integrations.gepa import RacingAdapter
from pybandit.integrations.optuna import RacingPruner

import blocks

pytestmark = pytest.mark.filterwarnings("ignore")  # warnings of the packages themselves
N = 150


@pytest.fixture(autouse=True)
def quiet():
    optuna.logging.set_verbosity(optuna.logging.ERROR)


def tuned(pruner, direction="maximize", n_jobs=1, storage=None, n_trials=20):
    """Run a study; return it and the mean over all items of each trial."""
    levels, means = np.random.default_rng(1).random(N), {}

    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        full = (levels < 0.9 - abs(x - 0.6)).astype(float)
        full = full if direction == "maximize" else 1 - full
        means[trial.number] = full.mean()
        for item in np.random.default_rng(trial.number).permutation(N).tolist():
            trial.report(full[item], item)
            if trial.should_prune():
                raise optuna.TrialPruned
        return full.mean()

    study = optuna.create_study(direction=direction, pruner=pruner, storage=storage,
                                sampler=optuna.samplers.RandomSampler(seed=2))
    study.optimize(objective, n_trials=n_trials, n_jobs=n_jobs)
    return study, means


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
@pytest.mark.parametrize("options", [{}, {"n_jobs": 3}, {"storage": "sqlite", "n_trials": 8}],
                         ids=["memory", "threads", "sqlite"])
def test_optuna_prunes_only_worse_trials(direction, options, tmp_path):
    if "storage" in options:
        options = {**options, "storage": f"sqlite:///{tmp_path / 'optuna.db'}"}
    study, means = tuned(RacingPruner(N, n_trials=20, rng=1), direction, **options)
    pruned = [one for one in study.trials if one.state == optuna.trial.TrialState.PRUNED]
    assert len(pruned) >= len(study.trials) // 4
    best = study.best_value
    assert best == (max if direction == "maximize" else min)(means.values())
    assert np.mean([len(one.intermediate_values) for one in pruned]) < 0.8 * N


def test_blocks_of_the_page_run():
    page = Path(__file__).parents[2] / "docs" / "integrations.md"
    names = {}
    for block in blocks.blocks_of(page.read_text()):
        if re.match(r"# \w+\.py\n", block.body):
            exec(block.body, names)
    assert names["study"].best_value > 0.85
    assert names["racing"](fakes.Adapter(), [1, 2]).n_saved == 0
    assert callable(names["choose"])


class Proposing(fakes.Adapter):
    """An adapter that proposes candidates without a language model."""

    def __init__(self, rng):
        super().__init__()
        self.rng = rng

    def make_reflective_dataset(self, candidate, batch, components):
        return {name: [{"score": score} for score in batch.scores] for name in components}

    def propose_new_texts(self, candidate, dataset, components):
        return {"p": f"{np.clip(float(candidate['p']) + self.rng.normal(0, 0.2), 0, 1)}"}

    def evaluate(self, batch, candidate, capture_traces=False):
        p = float(candidate["p"])
        items = [(item + 1000 * p) % 1 for item in batch]  # which items fail depends on p
        return super().evaluate(items, {"p": 0.9 - abs(p - 0.6)}, capture_traces)


def test_gepa_reads_less_and_finds_as_good_a_candidate():
    means = []
    for race in (False, True):
        adapter = Proposing(np.random.default_rng(1))
        valset = fakes.levels()
        if race:
            adapter = RacingAdapter(adapter, valset, n_candidates=20, rng=1)
        result = gepa.optimize({"p": "0.1"}, fakes.levels(50, 4), valset, adapter=adapter,
                               max_metric_calls=3000, seed=1, reflection_minibatch_size=5,
                               display_progress_bar=False)
        means.append(max(result.val_aggregate_scores))
    assert adapter.n_saved > 200 and means[1] > means[0] - 0.1
    assert float(result.best_candidate["p"]) == pytest.approx(0.6, abs=0.15)


class Solver(dspy.Module):
    def __init__(self, level):
        super().__init__()
        self.level, self.solve = level, dspy.Predict("question -> answer")

    def forward(self, question):
        found = self.solve(question=question)
        return found if int(question) % 100 < self.level else dspy.Prediction(answer="unknown")


def test_dspy_programs_race_in_a_context():
    devset = [dspy.Example(question=str(i), answer="yes").with_inputs("question")
              for i in range(200)]
    programs = {f"level {level}": Solver(level) for level in (30, 95, 60)}

    def metric(example, found, trace=None):
        return dspy.Prediction(score=float(found.answer == example.answer), feedback="")

    with dspy.context(lm=DummyLM([{"answer": "yes"}] * 2000)):
        result = best_program(programs, devset, metric, rng=1)
    assert result.names[result.best] == "level 95" and result.n_pulls < 500
