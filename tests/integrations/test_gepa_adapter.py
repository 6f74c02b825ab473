"""RacingAdapter around an adapter, called as GEPA calls it."""

import copy
import pickle

import numpy as np
import pytest

from integrations import fakes
from pybandit.integrations.gepa import RacingAdapter

VALSET = fakes.levels()


@pytest.fixture(autouse=True)
def gepa(monkeypatch):
    fakes.install(monkeypatch)


def racing(**options):
    return RacingAdapter(fakes.Adapter(), VALSET, rng=1, **options)


def test_worse_candidates_are_read_in_part_and_get_the_lowest_scores():
    adapter = racing(n_candidates=5)
    first = adapter.evaluate(VALSET, {"p": 0.6})
    assert len(adapter._adapter.calls) == 1 and first.scores == [float(x < 0.6) for x in VALSET]
    worse = adapter.evaluate(VALSET, {"p": 0.3}, capture_traces=True)
    read = worse.num_metric_calls
    assert read < 80 and adapter.n_saved == 200 - read and adapter.n_evaluated == 200 + read
    outputs = [output is not None for output in worse.outputs]
    assert sum(outputs) == read and len(worse.scores) == len(worse.trajectories) == 200
    for item, was_read, score, trace, named in zip(
            VALSET, outputs, worse.scores, worse.trajectories, worse.objective_scores,
            strict=True):
        assert score == named["a"] == (was_read and item < 0.3)
        assert trace == (("trace", item) if was_read else None)


def test_better_candidates_are_read_in_full_and_become_the_best():
    adapter = racing()
    for p in (0.3, 0.6):
        assert adapter.evaluate(VALSET, {"p": p}).num_metric_calls == 200
    assert adapter.evaluate(VALSET, {"p": 0.31}).num_metric_calls < 150  # against 0.6, not 0.3


def test_minibatches_and_other_attributes_go_to_the_adapter():
    adapter = racing()
    adapter._adapter.make_reflective_dataset = len
    batch = VALSET[:5]
    assert adapter.evaluate(batch, {"p": 0.5}, True) == fakes.Adapter().evaluate(
        batch, {"p": 0.5}, True)
    assert adapter.make_reflective_dataset is len and adapter.n_evaluated == 0
    assert not hasattr(adapter, "batch_evaluate") and not hasattr(adapter, "propose_new_texts")


def test_batches_of_candidates_race_too():
    adapter = racing()
    inner = adapter._adapter
    inner.batch_evaluate = lambda pairs: [inner.evaluate(batch, one, True) for one, batch in pairs]
    part = VALSET[:3]
    done = adapter.batch_evaluate([({"p": 0.6}, VALSET), ({"p": 0.2}, part), ({"p": 0.1}, VALSET)])
    assert [len(one.scores) for one in done] == [200, 3, 200]
    assert done[1].trajectories == [("trace", item) for item in part]
    assert done[2].num_metric_calls < 60


def test_candidate_as_good_as_the_best_is_stopped_with_probability_at_most_delta():
    items = [(place, place % 2) for place in range(40)]

    class Parity(fakes.Adapter):
        def evaluate(self, batch, candidate, capture_traces=False):
            return fakes.EvaluationBatch(list(batch), [float(odd == candidate["odd"])
                                                       for _, odd in batch])

    stopped = 0
    for seed in range(400):
        adapter = RacingAdapter(Parity(), items, delta=0.2, n_candidates=2, block_size=3, rng=seed)
        adapter.evaluate(items, {"odd": 1})
        stopped += adapter.evaluate(items, {"odd": 0}).num_metric_calls < 40
    assert stopped <= 75  # delta / 2 = 0.1 of 400 is 40; 75 has a chance below 1e-6


def test_state_is_saved_and_restored_with_the_adapter_inside():
    adapter = racing()
    adapter._adapter.get_adapter_state = lambda: {"inner": 5}
    adapter.evaluate(VALSET, {"p": 0.6})
    state = adapter.get_adapter_state()
    other, seen = racing(), []
    other._adapter.set_adapter_state = seen.append
    other.set_adapter_state({})
    other.set_adapter_state(state)
    assert seen == [{"inner": 5}]
    assert other.evaluate(VALSET, {"p": 0.2}).num_metric_calls < 80
    with pytest.raises(ValueError, match="validation set of 9 items; got 200"):
        RacingAdapter(fakes.Adapter(), VALSET[:9]).set_adapter_state(state)


def test_copies_and_pickles_work():
    for one in (copy.deepcopy(racing()), pickle.loads(pickle.dumps(racing()))):
        one.evaluate(VALSET, {"p": 0.6})
        assert one.evaluate(VALSET, {"p": 0.2}).num_metric_calls < 80


def test_wrong_scores_are_refused():
    class Wrong(fakes.Adapter):
        def evaluate(self, batch, candidate, capture_traces=False):
            return fakes.EvaluationBatch([0] * len(batch), candidate["scores"])

    adapter = RacingAdapter(Wrong(), VALSET[:3])
    for scores, words in (([1, 1, 2], "within value_range=.*got 2"), ([1, 1], "one per item, 3"),
                          ([1, 1, np.nan], "within value_range=.*got nan")):
        with pytest.raises(ValueError, match=words):
            adapter.evaluate(VALSET[:3], {"scores": scores})
    assert adapter.n_evaluated == 0 and adapter._best is None


def test_items_that_cannot_be_compared_are_another_set():
    rows = [np.arange(2), np.arange(3)]
    adapter = RacingAdapter(fakes.Adapter(), rows)
    assert adapter._is_valset(rows) and not adapter._is_valset([np.arange(2), np.arange(3)])


@pytest.mark.parametrize("options, error, words", [
    ({"valset": []}, ValueError, "valset"), ({"value_range": (1, 0)}, ValueError, "value_range"),
    ({"delta": 1}, ValueError, "delta"), ({"n_candidates": 0}, ValueError, "n_candidates"),
    ({"block_size": 0}, ValueError, "block_size"), ({"rng": "x"}, TypeError, "rng")])
def test_bad_arguments_are_refused(options, error, words):
    with pytest.raises(error, match=words):
        RacingAdapter(fakes.Adapter(), **{"valset": [1], **options})
