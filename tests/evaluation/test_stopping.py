"""RaceStopping, the hook for Inspect, called by a function that acts like Inspect's runner.

For tests with Inspect itself, `make inspect` runs evaluation/inspect_mock_models.py.
"""

import asyncio
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import pybandit as pb
from pybandit.evaluation import RaceStopping

RNG = np.random.default_rng(1)
RIGHT = (RNG.random((300, 4)) < [0.9, 0.6, 0.5, 0.3]).astype(float)


@pytest.fixture(autouse=True)
def fake(monkeypatch):
    """Replace the objects that the hook imports from Inspect."""
    util, scorer = ModuleType("inspect_ai.util"), ModuleType("inspect_ai.scorer")
    util.EarlyStop = SimpleNamespace
    scorer.value_to_float = lambda: {"C": 1.0, "I": 0.0}.__getitem__
    for module in (ModuleType("inspect_ai"), util, scorer):
        monkeypatch.setitem(sys.modules, module.__name__, module)


def spec(arm, shuffled=True, seed=None):
    return SimpleNamespace(task_id=f"id{arm}", task="quiz", model=f"m{arm}",
                           dataset=SimpleNamespace(shuffled=shuffled),
                           config=SimpleNamespace(sample_shuffle=seed))


def samples(n=300):
    return [SimpleNamespace(id=f"q{i}") for i in range(n)]


def said(value):
    return {"match": SimpleNamespace(score=SimpleNamespace(value=value))}


async def run_task(hook, arm, value, epochs, at_once, seed, done):
    """Run a task as Inspect does: samples start in order, `at_once` run, and durations vary."""
    rng = np.random.default_rng([seed, arm])
    assert await hook.start_task(spec(arm), samples(), epochs) == "pybandit"
    slots = asyncio.Semaphore(at_once)

    async def run_sample(item, epoch):
        async with slots:
            stop = await hook.schedule_sample(f"q{item}", epoch)
            if stop is not None:
                assert (stop.id, stop.epoch) == (f"q{item}", epoch) and "scores" in stop.reason
                return
            for _ in range(int(rng.geometric(0.3))):
                await asyncio.sleep(0)
            done.append((arm, item, epoch))
            await hook.complete_sample(f"q{item}", epoch, said(value(item, arm, epoch)))

    async with asyncio.TaskGroup() as group:
        for item in range(300):
            for epoch in range(1, epochs + 1):
                group.create_task(run_sample(item, epoch))
    return await hook.complete_task()


def run(hook, value, *, epochs=1, at_once=8, seed=0, one_by_one=False):
    """Return the evaluated cells, and the results of `complete_task`."""
    async def everything():
        tasks = [run_task(hook, arm, value, epochs, at_once, seed, done)
                 for arm in range(hook.n_arms)]
        if one_by_one:
            return [await task for task in tasks]
        return await asyncio.gather(*tasks)

    done = []
    return done, asyncio.run(everything())


def by_hand(table, **options):
    """Play the race on the rows in their order, one at a time."""
    race = pb.BettingRace(table.shape[1], len(table), value_range=(0, 1), block_size=1, **options)
    race._order = np.arange(len(table))
    while not race.done:
        arms, items = race.ask()
        race.tell(arms, items, table[items, arms])
    return race


@pytest.mark.some(6)
@pytest.mark.parametrize("options", [{}, {"delta": 1e-3}, {"k": 2}, {"epsilon": 0.05},
                                     {"delta": 1e-300}, {"max_pulls": 100}])
@pytest.mark.parametrize("seed", range(3))
def test_hook_equals_race_in_dataset_order(options, seed):
    hook = RaceStopping(4, **options)
    done, told = run(hook, lambda item, arm, epoch: RIGHT[item, arm], seed=seed)
    race = by_hand(RIGHT, **options)
    assert np.array_equal(hook.race.recommend(), race.recommend())
    assert np.array_equal(hook.race.pulls, race.pulls)
    assert hook.race.decided == race.decided
    assert len(done) == len(set(done)) >= race.n_pulls
    assert told[-1]["of"] == 300 and told[0]["best"][0] == "quiz, m0"


def test_few_samples_are_evaluated_ahead():
    """A sixth of 300 samples of four models is run, eight samples at a time."""
    hook = RaceStopping(4)
    done, _ = run(hook, lambda item, arm, epoch: RIGHT[item, arm])
    assert hook.race.decided and hook.names == [f"quiz, m{arm}" for arm in range(4)]
    assert hook.race.n_pulls <= len(done) < 200 + hook.race.n_pulls


def test_finish_evaluates_best_task_fully():
    done, told = run(RaceStopping(4, finish=True), lambda item, arm, epoch: RIGHT[item, arm])
    ran = np.bincount([arm for arm, _, _ in done], minlength=4)
    assert ran[0] == 300 and (ran[1:] < 200).all()


def test_text_epochs_and_custom_values_are_converted():
    """An item's score is its mean over epochs; values are numbers, letters or custom."""
    def letter(item, arm, epoch):
        return "C" if RIGHT[(item + 7 * epoch) % 300, arm] else "I"

    table = np.mean([np.roll(RIGHT, -7 * epoch, axis=0) for epoch in (1, 2)], axis=0)
    for given, value in ((letter, None), (lambda *cell: {"grade": letter(*cell)},
                                          lambda made: float(made["grade"] == "C"))):
        hook = RaceStopping(4, value=value)
        run(hook, given, epochs=2)
        race = by_hand(table)
        assert np.array_equal(hook.race.pulls, race.pulls) and hook.race.recommend()[0] == 0


def test_tasks_run_one_by_one_are_stopped():
    """No task is stopped before all have started; then tasks of losing models are."""
    hook = RaceStopping(4)
    done, told = run(hook, lambda item, arm, epoch: RIGHT[item, arm], one_by_one=True)
    ran = np.bincount([arm for arm, _, _ in done], minlength=4)
    assert ran[:3].tolist() == [300] * 3 and ran[3] < 100
    assert told[3]["best"] == ["quiz, m0"] and hook.race.decided


def test_lost_sample_stops_decisions():
    class Lost(RaceStopping):
        async def complete_sample(self, id, epoch, scores):
            if id != "q5":
                await super().complete_sample(id, epoch, scores)

    hook = Lost(4)
    done, _ = run(hook, lambda item, arm, epoch: RIGHT[item, arm])
    assert len(done) == 1200 and not hook.race.decided and hook.race.pulls.max() == 5


def test_repeated_task_is_the_same_arm():
    async def twice():
        hook = RaceStopping(2)
        for arm in (0, 1, 0):
            await hook.start_task(spec(arm), samples(), 1)
            await hook.complete_sample("q0", 1, said(1.0 - arm))
        return hook

    hook = asyncio.run(twice())
    assert hook.names == ["quiz, m0", "quiz, m1"] and hook.race.pulls.tolist() == [1, 1]


@pytest.mark.parametrize("call, error", [
    (lambda hook: hook.start_task(spec(0, shuffled=False), samples(), 1), "must be shuffled"),
    (lambda hook: hook.start_task(spec(0), samples(9), 1), "must have the same samples"),
    (lambda hook: hook.start_task(spec(0), samples()[::-1], 1), "must have the same samples"),
    (lambda hook: hook.start_task(spec(0), samples(), 2), "number of epochs"),
    (lambda hook: hook.start_task(spec(2), samples(), 1), "n_arms must be"),
    (lambda hook: hook.complete_sample("q3", 1, said(2.0)), "score of sample 'q3' must be in"),
    (lambda hook: hook.complete_sample("q3", 1, said(np.nan)), "score of sample 'q3' must be in"),
    (lambda hook: hook.complete_sample("q3", 1, said({"a": 1})), "score of sample 'q3'"),
    (lambda hook: hook.complete_sample("q3", 1, {}), "score of sample 'q3'")])
def test_unsuitable_tasks_are_refused(call, error):
    async def main():
        hook = RaceStopping(2)
        await hook.start_task(spec(0), samples(), 1)
        await hook.start_task(spec(1, shuffled=None, seed=3), samples(), 1)
        with pytest.raises((TypeError, ValueError), match=error):
            await call(hook)
        await hook.complete_sample("q0", 1, said(True))
        assert hook.race.n_pulls == 0

    asyncio.run(main())


@pytest.mark.parametrize("arguments, options, error", [
    ((1,), {}, "n_arms"), ((2,), {"value_range": (1, 0)}, "value_range"),
    ((2,), {"value_range": 1.0}, "value_range must be .low, high."),
    ((2,), {"k": 2}, "k must"), ((2,), {"detla": 0.1}, "detla"), ((2,), {"delta": 2}, "delta")])
def test_invalid_options_are_refused_immediately(arguments, options, error):
    with pytest.raises((TypeError, ValueError), match=error):
        RaceStopping(*arguments, **options)


def test_scorer_is_named_if_there_are_several():
    async def told(hook, scores):
        await hook.start_task(spec(0), samples(), 1)
        await hook.complete_sample("q0", 1, scores)
        return hook._scores[0, 0][1]

    both = {"match": said(1.0)["match"], "closeness": said(0.25)["match"]}
    assert asyncio.run(told(RaceStopping(2, scorer="closeness"), both)) == 0.25
    for scorer, scores in ((None, both), ("closeness", said(1.0))):
        with pytest.raises(ValueError, match=f"scorer must be one of .*match.*got {scorer!r}"):
            asyncio.run(told(RaceStopping(2, scorer=scorer), scores))
    with pytest.raises(TypeError, match="scorer must be text or None; got 5"):
        RaceStopping(2, scorer=5)
