"""RacingPruner in a study that acts like Optuna's."""

import warnings

import numpy as np
import pytest

from integrations import fakes
from pybandit.integrations.optuna import RacingPruner

N = 200


@pytest.fixture(autouse=True)
def pruner(monkeypatch):
    fakes.install(monkeypatch)
    return RacingPruner


def scores(p, rng, n=N):
    return (rng.random(n) < p).astype(float)


@pytest.mark.parametrize("maximize", [True, False])
@pytest.mark.parametrize("sort_every", [1, 7])
def test_worse_trials_are_pruned_early_and_better_ones_are_not(pruner, maximize, sort_every):
    rng = np.random.default_rng(1)
    study = fakes.Study(pruner(N, n_trials=10, rng=1), maximize)
    read = []
    for p in (0.6, 0.2, 0.9, 0.3, 0.5):
        value = scores(p, rng)
        read.append(study.run(value if maximize else 1 - value, rng.permutation(N), sort_every))
    assert read[0] == read[2] == N
    assert max(read[1], read[3], read[4]) < 90
    assert [one.state for one in study.trials].count(fakes.State.PRUNED) == 3


def test_equal_trials_are_pruned_with_probability_at_most_delta(pruner):
    """The trial is as good as its rival on all items; a test without a correction errs far more."""
    known = np.arange(40) % 2.0
    pruned = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        study = fakes.Study(pruner(40, delta=0.2, n_trials=2, rng=seed))
        study.run(known, rng.permutation(40))
        pruned += study.run(1 - known, rng.permutation(40), sort_every=5) < 40
    assert pruned <= 75  # delta / 2 = 0.1 of 400 is 40; 75 has a chance below 1e-6


def test_shares_of_delta_follow_the_number_of_the_trial(pruner):
    def reads(number, **options):
        study = fakes.Study(pruner(N, rng=1, **options))
        for trial in range(number + 1):
            rng = np.random.default_rng(7)
            read = study.run(known if trial == 0 else worse, rng.permutation(N))
            if 0 < trial < number:
                study.trials[-1].state = fakes.State.PRUNED
        return read

    rng = np.random.default_rng(2)
    known = scores(0.7, rng)
    worse = known * (rng.random(N) < 0.6)
    assert reads(1) < reads(9) < N
    assert reads(1, n_trials=10) == reads(9, n_trials=10) < N
    assert reads(3, n_trials=3) == N  # beyond the plan


def test_rival_is_the_best_trial_with_all_items_and_stays(pruner):
    rng = np.random.default_rng(4)
    study = fakes.Study(pruner(N, n_trials=9, rng=1))
    study.run(scores(0.5, rng), rng.permutation(N))
    partial = study.begin()  # it returned the mean of its first items
    partial.intermediate_values, partial.state = dict.fromkeys(range(9), 1.0), fakes.State.COMPLETE
    slow, values = study.begin(), scores(0.55, rng)
    slow.intermediate_values[0] = values[0]
    assert not study.pruner.prune(study, slow)
    assert study.run(np.ones(N), rng.permutation(N)) == N  # a better one, completed meanwhile
    for step in range(1, N):
        slow.intermediate_values[step] = values[step]
        assert not study.pruner.prune(study, slow)  # 0.55 against 0.5, not against 1


def test_trials_that_began_before_any_was_complete_are_not_pruned(pruner):
    study = fakes.Study(pruner(N, rng=1))
    early = study.begin()
    early.intermediate_values[0] = 0.0
    assert not study.pruner.prune(study, early)
    study.run(np.ones(N), np.arange(N))
    early.intermediate_values = dict.fromkeys(range(N), 0.0)
    assert not study.pruner.prune(study, early)
    assert not study.pruner.prune(study, fakes.Trial(9))  # nothing reported


def test_finished_trials_are_forgotten(pruner):
    rng = np.random.default_rng(5)
    study = fakes.Study(pruner(N, rng=1))
    for _ in range(6):
        study.run(scores(0.5, rng), rng.permutation(N))
    assert len(study.pruner._trials) == 1


def test_no_complete_trial_with_all_items_warns_once(pruner):
    study = fakes.Study(pruner(N + 1, rng=1))
    study.run(np.ones(N), np.arange(N))
    with pytest.warns(UserWarning, match=r"no complete trial has reported n_items=201 .*has 200"):
        study.run(np.zeros(N), np.arange(N))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study.run(np.zeros(N), np.arange(N))


@pytest.mark.parametrize("value", [1.5, -0.1, np.nan, np.inf])
def test_scores_outside_the_range_are_refused(pruner, value):
    study = fakes.Study(pruner(3, rng=1))
    study.run([0.5, 0.5, 0.5], [0, 1, 2])
    trial = study.begin()
    trial.intermediate_values[1] = value
    with pytest.raises(ValueError, match=rf"value_range=\(0, 1\); got {value:g} at step 1 of "
                                         "trial 1"):
        study.pruner.prune(study, trial)


def test_steps_that_are_no_items_are_refused(pruner):
    study = fakes.Study(pruner(3, rng=1))
    study.run([0.5, 0.5, 0.5], [0, 1, 2])
    trial = study.begin()
    trial.intermediate_values[3] = 0.5
    with pytest.raises(ValueError, match="one of the 3 items of trial 0.*got 3"):
        study.pruner.prune(study, trial)


@pytest.mark.parametrize("options, error, words", [
    ({"n_items": 0}, ValueError, "n_items"), ({"value_range": (1, 0)}, ValueError, "value_range"),
    ({"value_range": 1}, ValueError, "value_range"), ({"delta": 0}, ValueError, "delta"),
    ({"n_trials": 0}, ValueError, "n_trials"), ({"rng": "x"}, TypeError, "rng")])
def test_bad_arguments_are_refused(pruner, options, error, words):
    with pytest.raises(error, match=words):
        pruner(**{"n_items": 5, **options})
