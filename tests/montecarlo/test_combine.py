"""combine_estimators: running the functions, and handling failures."""

import concurrent.futures
import json
import pickle
import threading
import time

import numpy as np
import pytest

import pybandit as pb


def hit(rng):
    """Estimate a quarter circle's area by hitting it."""
    return float(np.hypot(*rng.random(2)) < 1)


def height(rng):
    return np.sqrt(1 - rng.random() ** 2)


def heights(rng, size):
    return np.sqrt(1 - rng.random(size) ** 2)


def hits(rng, size):
    return np.hypot(*rng.random((2, size))) < 1


def spin(seconds):
    """Use processor time, not sleep."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


AREA = np.pi / 4


@pytest.mark.parametrize("weights", ["mean", "inverse-variance", "predictable"])
def test_estimate_is_near_the_true_value(weights):
    result = pb.combine_estimators([hit, height], 1500, weights=weights, rng=1)
    assert result.n_pulls == result.total_cost == 1500
    assert abs(result.estimate - AREA) < 5 * result.standard_error < 0.1
    assert result.pulls[1] > result.pulls[0]


@pytest.mark.parametrize("pool", [concurrent.futures.ThreadPoolExecutor,
                                  concurrent.futures.ProcessPoolExecutor])
def test_executor_does_not_change_the_result(pool):
    here = pb.combine_estimators([hit, height], 200, batch_size=8, rng=3)
    with pool(2) as executor:
        there = pb.combine_estimators([hit, height], 200, batch_size=8, rng=3, executor=executor)
    assert repr(there.allocator.get_state()) == repr(here.allocator.get_state())


def test_vectorized_functions_are_called_once_per_batch():
    sizes = []

    def counted(rng, size):
        sizes.append(size)
        return heights(rng, size)

    result = pb.combine_estimators([hits, counted], 20_000, vectorized=True, batch_size=1000,
                                   rng=1)
    assert abs(result.estimate - AREA) < 5 * result.standard_error
    assert sizes[0] == 10 and set(sizes[1:-1]) == {1000} and sum(sizes) == result.pulls[1]


def test_measured_costs_are_processor_time():
    def slow(rng):
        spin(0.002)
        return rng.normal()

    def quick(rng):
        time.sleep(0.001)
        return rng.normal()

    for executor in (None, concurrent.futures.ThreadPoolExecutor(2)):
        result = pb.combine_estimators([slow, quick], 0.06, costs="measured", rng=1,
                                       executor=executor, batch_size=2)
        assert result.pulls[1] > 2 * result.pulls[0]
        assert 0.001 < result.mean_costs[0] < 0.02
        assert result.mean_costs[1] < 0.5 * result.mean_costs[0]
        assert result.total_cost >= 0.06


def test_stopped_clock_costs_the_floor(monkeypatch):
    monkeypatch.setattr(time, "process_time", lambda: 5.0)
    result = pb.combine_estimators([hit, height], 1e-7, costs="measured", rng=1)
    assert result.n_pulls in (100, 101)  # each costs 1e-9 s
    assert result.total_cost == pytest.approx(1e-7, rel=0.02)


class Fragile:
    """A function that fails at its n-th call."""

    def __init__(self, n, gives=None, error=None):
        self.left, self.gives, self.error = n, gives, error

    def __call__(self, rng):
        self.left -= 1
        if self.left == 0:
            if self.error:
                raise self.error
            return self.gives
        return rng.normal()


@pytest.mark.parametrize("in_threads", [False, True])
def test_exception_is_propagated_and_values_are_kept(in_threads):
    executor = concurrent.futures.ThreadPoolExecutor(1) if in_threads else None
    raised = KeyError("gone")
    functions = [Fragile(13, error=raised), height]
    allocator = pb.montecarlo.EstimatorAllocator(2, policy="uniform", budget=100, batch_size=10,
                                                 rng=1)
    with pytest.raises(KeyError, match="gone") as info:
        pb.combine_estimators(functions, allocator=allocator, rng=1, executor=executor)
    assert info.value is raised
    assert any("raised by estimators[0]" in note for note in raised.__notes__)
    assert any("pass allocator= to continue" in note for note in raised.__notes__)
    # ten runs of each estimator in turn; the 13th call of the first is in the third batch
    expected = [19, 10]
    assert allocator.pulls.tolist() == expected and allocator.n_pulls == 30
    pb.combine_estimators(functions, allocator=allocator, rng=2, executor=executor)
    assert allocator.done and allocator.n_pulls == 100
    assert allocator.pulls.sum() == 100 - (30 - sum(expected))


@pytest.mark.parametrize("gives, error, message", [
    (np.nan, ValueError, r"estimators\[1\] must return finite numbers; got nan"),
    (np.inf, ValueError, "finite numbers; got inf"),
    (None, TypeError, "must return a number; got dtype object"),
    (np.ma.masked, TypeError, r"estimators\[1\] must be an array without masked entries"),
    ("1.0", TypeError, "must return a number; got dtype <U3"),
    (np.ones(2), TypeError, r"must return a number; got dtype float64, shape \(2,\)"),
])
def test_invalid_values_are_rejected_or_dropped(gives, error, message):
    with pytest.raises(error, match=message):
        pb.combine_estimators([height, Fragile(5, gives)], 50, rng=1)
    result = pb.combine_estimators([height, Fragile(5, gives)], 50, rng=1, on_error="drop")
    assert result.n_pulls == 50 and result.pulls.sum() == 49


def test_continuing_with_the_same_seed_draws_new_numbers():
    """A continued run must not repeat the first values."""
    values, left = [], [30, 30, 10**6]

    def seen(rng):
        left[0] -= 1
        if left[0] == 0:
            left.pop(0)
            raise KeyError("gone")
        values.append(rng.normal())
        return values[-1]

    allocator = pb.montecarlo.EstimatorAllocator(1, policy="uniform", budget=100, rng=1)
    for _ in range(2):
        with pytest.raises(KeyError):
            pb.combine_estimators([seen], allocator=allocator, rng=1)
    pb.combine_estimators([seen], allocator=allocator, rng=1)
    assert allocator.done and len(values) == len(set(values)) == 100
    # a SeedSequence is advanced, and a fresh allocator starts from the beginning
    streams = np.random.SeedSequence(1)
    for _ in range(2):
        allocator = pb.montecarlo.EstimatorAllocator(1, policy="uniform", budget=50)
        pb.combine_estimators([lambda rng: values.append(rng.normal()) or 0.0],
                              allocator=allocator, rng=streams)
    fresh = [np.random.default_rng(s).normal() for s in np.random.SeedSequence(1).spawn(100)]
    assert values[100:] == fresh


def fails(rng):
    spin(0.005)
    raise KeyError("gone")


def is_nan(rng):
    spin(0.005)
    return np.nan


def are_infinite(rng, size):
    spin(0.005)
    return np.full(size, np.inf)


@pytest.mark.parametrize("function", [fails, is_nan, are_infinite])
@pytest.mark.parametrize("in_threads", [False, True])
def test_failed_runs_cost_their_time(function, in_threads):
    """A failed run must not cost the floor of 1e-9 s, or a budget of .05 s would never end."""
    executor = concurrent.futures.ThreadPoolExecutor(1) if in_threads else None
    result = pb.combine_estimators(
        [function], 0.03, policy="uniform", costs="measured", batch_size=2, executor=executor,
        vectorized=function is are_infinite, on_error="drop", rng=1)
    assert result.n_pulls <= 12 and result.total_cost >= 0.03 and not result.pulls.any()


def test_raising_call_is_charged():
    allocator = pb.montecarlo.EstimatorAllocator(2, policy="uniform", costs="told", budget=9.0,
                                                 batch_size=2)
    for _ in range(2):
        functions = iter([height, fails])
        with pytest.raises(KeyError):
            pb.combine_estimators([lambda rng, f=functions: next(f)(rng)] * 2,
                                  allocator=allocator, rng=1)
    assert allocator.pulls.tolist() == [1, 1] and allocator.total_cost > 0.008


def fails_in_pieces(rng):
    if rng.random() < 2:
        fails(rng)


def test_traceback_of_another_process_is_in_a_note():
    allocator = pb.montecarlo.EstimatorAllocator(2, policy="uniform", budget=9, batch_size=2)
    with concurrent.futures.ProcessPoolExecutor(1) as executor:
        with pytest.raises(KeyError) as info:
            pb.combine_estimators([fails_in_pieces] * 2, allocator=allocator, executor=executor,
                                  rng=1)
    assert any("fails_in_pieces" in note for note in info.value.__notes__)


def test_calls_after_a_failed_one_are_made():
    """All calls of a batch are made and their values kept, even after one failed."""
    functions = [height, Fragile(1, error=KeyError("gone")), height, height]
    allocator = pb.montecarlo.EstimatorAllocator(4, budget=100, rng=1)
    with pytest.raises(KeyError, match="gone") as info:
        pb.combine_estimators(functions, allocator=allocator, rng=1)
    assert allocator.pulls.tolist() == [10, 9, 10, 10] and allocator.n_pulls == 40
    assert any("with 39 of 40 values" in note for note in info.value.__notes__)


def test_interrupt_is_propagated():
    allocator = pb.montecarlo.EstimatorAllocator(1, policy="uniform", budget=100)
    with pytest.raises(KeyboardInterrupt):
        pb.combine_estimators([Fragile(30, error=KeyboardInterrupt())], allocator=allocator,
                              on_error="drop", rng=1)
    assert allocator.pulls[0] == 29


def test_interrupt_keeps_finished_calls_and_cancels_others(monkeypatch):
    """Twenty calls for one worker; Ctrl-C arrives while the fourth runs."""
    begun, release = threading.Semaphore(0), threading.Event()

    def fourth_waits(rng):
        begun.release()
        calls.append(1)
        if len(calls) == 4:
            release.wait(10)
        return rng.normal()

    def interrupted(futures):
        for _ in range(4):
            begun.acquire()
        release.set()
        raise KeyboardInterrupt

    calls = []
    monkeypatch.setattr(concurrent.futures, "wait", interrupted)
    allocator = pb.montecarlo.EstimatorAllocator(1, policy="uniform", budget=40, batch_size=20)
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        with pytest.raises(KeyboardInterrupt) as raised:
            pb.combine_estimators([fourth_waits], allocator=allocator, rng=1, executor=executor)
    assert 3 <= allocator.pulls[0] <= len(calls) < 20
    assert "pass allocator= to continue" in raised.value.__notes__[0]
    monkeypatch.undo()
    pb.combine_estimators([fourth_waits], allocator=allocator, rng=1)
    assert allocator.done


@pytest.mark.parametrize("given, error, message", [
    (dict(estimators=3), TypeError, "estimators must be a sequence of callables; got 3"),
    (dict(executor=3), TypeError, "executor must be a concurrent.futures.Executor; got 3"),
    (dict(estimators=[]), ValueError, "number of estimators must be at least 1; got 0"),
    (dict(estimators=[hit, 3]), TypeError, "estimators must be callable; got 3 at index 1"),
    (dict(budget=None), ValueError, "budget must be given"),
    (dict(budget=5), pb.errors.InfeasibleBudgetError, "at least 20"),
    (dict(on_error="skip"), ValueError, "on_error must be one of"),
    (dict(costs="free"), ValueError, "costs must be one of"),
    (dict(pilots=3), TypeError, "pilots"),
    (dict(allocator=pb.montecarlo.EstimatorAllocator(2, budget=99)), ValueError,
     "budget must not be given with an allocator, which has its own; got 100"),
    (dict(budget=None, allocator=pb.montecarlo.EstimatorAllocator(2, budget=99), batch_size=3,
          value_range=(0, 1)), ValueError, "batch_size, value_range must not be given with an"),
    (dict(costs="told"), ValueError, "costs must be one of"),
    (dict(budget=None, allocator=pb.montecarlo.EstimatorAllocator(3, budget=99)), ValueError,
     "allocator must be an EstimatorAllocator of 2"),
    (dict(budget=None, allocator=pb.montecarlo.EstimatorAllocator(2)), ValueError,
     "must have a budget"),
])
def test_invalid_arguments_raise(given, error, message):
    with pytest.raises(error, match=message):
        pb.combine_estimators(**{"estimators": [hit, height], "budget": 100, **given})


def test_estimate_equals_its_allocator():
    result = pb.combine_estimators([hit, height], 500, rng=1, value_range=(0, 1))
    allocator = result.allocator
    assert result.estimate == allocator.estimate and result.pulls.sum() == result.n_pulls == 500
    assert result.interval(delta=0.1) == allocator.interval(delta=0.1)
    assert result.interval(method="normal") == allocator.interval(method="normal")
    assert result.names == ("hit", "height")
    assert np.array_equal(result.sample_variances, allocator.variances)
    assert repr(result) == (f"<Estimate: {result.estimate:.6g} +- {result.standard_error:.2g}, "
                            "500 runs of 2 estimators>")
    assert f"{result.estimate:.6g}" in result.summary() and "500 runs" in str(result)
    assert json.loads(json.dumps(result.to_dict()))["pulls"] == result.pulls.tolist()
    with pytest.raises(AttributeError):
        result.estimate = 0.0
    with pytest.raises(ValueError, match="read-only"):
        result.pulls[0] = 1
    again = pickle.loads(pickle.dumps(result))
    assert again.to_dict() == result.to_dict()
    assert again.allocator.interval() == result.interval()


def test_estimate_converts_to_tables():
    pytest.importorskip("pandas")
    result = pb.combine_estimators([lambda rng: 1.0] * 12, 120, policy="uniform", rng=1)
    frame = result.to_frame()
    assert frame.index.name == "estimator" and frame["pulls"].tolist() == [10] * 12
    assert frame.index.tolist() == [str(k) for k in range(12)]
    assert frame["mean"].tolist() == [1.0] * 12 and frame["variance"].tolist() == [0.0] * 12
    html = result._repr_html_()
    assert html.count("<tr>") == 11 and "2 more" in html and result.summary() in html


def test_unknown_values_are_none_in_json():
    result = pb.combine_estimators([lambda rng: np.nan], 3, on_error="drop", policy="uniform",
                                   rng=1)
    assert result.to_dict()["estimate"] is None and result.to_dict()["means"] == [None]
