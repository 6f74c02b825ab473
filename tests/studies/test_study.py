"""A study from its first request to the last, and invalid calls."""

import copy
import subprocess
import sys
import threading
from dataclasses import astuple

import numpy as np
import pytest

import pybandit as pb
from pybandit.errors import StudyDamagedError
from pybandit.studies import Study

from policies.protocol import frozen
from studies.cases import POLICIES, N, measured

MOST = 40  # batches of a policy that never ends


def finish(study, seed=0, most=MOST):
    """Report whole batches until the end."""
    while (batch := study.ask()) is not None and batch.id < most:
        study.tell(batch.id, measured(batch.id, batch.arms, seed))


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "study.db")


@pytest.mark.parametrize("name", POLICIES)
def test_study_equals_policy_without_study(name, path):
    """The study is opened again in between; some wells are lost, and some of these come late."""
    policy, study = POLICIES[name](), Study.create(path, POLICIES[name]())
    for number in range(12):
        batch = study.ask()
        assert (batch is None) == policy.done
        if batch is None:
            break
        assert batch.id == number and np.array_equal(batch.arms, policy.ask())
        rewards = measured(number, batch.arms)
        gone = np.arange(rewards.size) % 3 == number % 3
        policy.tell(batch.arms, np.where(gone, np.nan, rewards), missing="drop")
        study.tell(number, rewards[~gone], positions=np.flatnonzero(~gone))
        study.close_batch(number)
        if number % 2:
            lost = np.flatnonzero(gone)
            policy.add_late(batch.arms[lost], rewards[lost])
            study.tell(number, rewards)
        if number % 3 == 1:
            study.close()
            study = Study.open(path)
        assert frozen(study.policy.get_state()) == frozen(policy.get_state())
    assert study.recommend().best_arms.tolist() == policy.recommend().tolist()
    found = study.verify()
    assert (found.n_pulls, found.head) == (policy.n_pulls, study.status().head)
    study.close()


def test_batch_from_request_to_answer():
    study = Study.create(":memory:", pb.policies.Uniform(3, budget=6), ["a", "b", "c"], who="me",
                         settings={"plate": [8, 12]})
    assert (study.names, study.settings, study.path) == (("a", "b", "c"), {"plate": [8, 12]},
                                                        ":memory:")
    batch = study.ask()
    assert (batch.id, batch.names) == (0, ["a", "b", "c"] * 2)
    assert batch.arms.dtype == np.int64 and batch.arms.tolist() == [0, 1, 2] * 2
    batch.arms[:] = 0
    assert study.ask().arms.tolist() == [0, 1, 2] * 2 and study.status().n_events == 2
    nan = np.nan
    assert astuple(study.tell(0, [0.1, nan, nan, nan, nan, 0.3])) == (2, 0, False)
    assert astuple(study.tell(0, [0.1, nan, 0.2, nan, nan, 0.3])) == (1, 2, False)
    assert astuple(study.tell(0, [0.5], positions=[4], who="she")) == (1, 0, False)
    status = study.status()
    assert (status.n_open, status.open_batch, status.n_pulls, status.done) == (2, 0, 0, False)
    assert astuple(study.tell(0, [0.1, nan, 0.2, 0.7, nan, nan], missing="drop")) == (1, 2, True)
    status = study.status()
    assert (status.n_open, status.open_batch, status.n_pulls, status.done) == (0, None, 6, True)
    assert (status.n_lost, status.budget, status.pulls_left, status.max_batches) == (1, 6, 0, None)
    assert study.ask() is None and study.close_batch(0) is None
    found = study.recommend()
    assert (found.best_arms.tolist(), found.best_names, found.means.tolist(),
            found.pulls.tolist()) == ([1], ["b"], [0.5], [1])
    assert (found.best, found.best_name, found.names) == (1, "b", ("a", "b", "c"))
    assert found.summary() == "b is chosen among 3 arms after 6 pulls."
    assert found.done and not found.decided  # a fixed budget proves nothing
    assert repr(found) == "<Recommendation: b is chosen among 3 arms after 6 pulls>"
    assert found.to_dict()["best_arms"] == [1]
    rows = study.history()
    assert list(rows["state"]) == ["known", "lost", "known", "known", "known", "known"]
    assert list(rows["name"]) == ["a", "b", "c"] * 2 and set(rows["batch"]) == {0}
    assert np.array_equal(rows["value"], [0.1, nan, 0.2, 0.7, 0.5, 0.3], equal_nan=True)
    assert list(rows["who"]) == ["me", "me", "me", "me", "she", "me"]
    assert (np.diff(rows["told_at"][[0, 2, 4, 3]]) >= 0).all()
    assert astuple(study.tell(0, [0.9], positions=[1])) == (1, 0, True)
    assert study.recommend().means.tolist() == [0.7] and list(study.history()["state"])[1] == "late"
    assert [event.kind for event in study.log()] == ["create", "ask", *["tell"] * 5]
    assert [event.number for event in study.log(5)] == [5, 6]
    study.settings["plate"].append(1)
    study.policy.recommend()[:] = 5
    assert study.settings == {"plate": [8, 12]} and "Uniform, 3 arms" in repr(study)


def test_history_without_pandas(monkeypatch):
    import importlib.util

    study = Study.create(":memory:", pb.policies.Uniform(2, budget=2))
    assert len(study.history()) == 0
    study.ask()
    frame = study.history()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    columns = study.history()
    assert type(columns) is dict and list(columns) == list(frame.columns)
    for name, column in columns.items():
        assert len(column) == 2 and repr(frame[name].tolist()) == repr(column.tolist())


def test_abandoned_batches_are_asked_again():
    study = Study.create(":memory:", pb.policies.ThompsonSampling(3, rng=1, law="gaussian"))
    first = study.ask()
    study.tell(0, measured(0, first.arms))
    asked = []
    for number in range(1, 5):
        batch = study.ask()
        assert batch.id == number
        asked.append(batch.arms.tolist())
        study.abandon(number)
        study.abandon(number)
    assert asked == asked[:1] * 4
    assert study.status().n_pulls == 3 and study.status().n_asked == 5
    batch = study.ask()
    study.tell(5, np.full(batch.arms.size, np.nan))
    assert study.status().open_batch == 5
    assert list(study.history()["state"]) == ["known"] * 3 + ["abandoned"] * 4 + ["open"]
    study.verify()


def test_invalid_batch_calls_are_rejected():
    study = Study.create(":memory:", pb.policies.KLUCB(3), ["a", "b", "c"])
    study.ask()
    study.tell(0, [0.5], positions=[1])
    before = study.status().head
    for error, words, act in [
            (ValueError, r"0.25 for batch 0, well 1, arm 1 \(b\), where 0.5 is",
             lambda: study.tell(0, [0.1, 0.25, 0.1])),
            (ValueError, r"inf for batch 0, well 2, arm 2 \(c\)",
             lambda: study.tell(0, [0.1, 0.5, np.inf])),
            (ValueError, r"rewards must be in \[0, 1\]; got 1.5 at index 2, arm 2",
             lambda: study.tell(0, [0.1, 0.5, 1.5])),
            (ValueError, r"shape of batch 0, \(3,\); got \(2,\)",
             lambda: study.tell(0, [0.1, 0.5])),
            (ValueError, "one-dimensional shape", lambda: study.tell(0, [0.1], positions=[1, 2])),
            (ValueError, "one-dimensional shape", lambda: study.tell(0, 0.1, positions=0)),
            (ValueError, r"positions must be in \[0, 3\) for batch 0; got 3",
             lambda: study.tell(0, [0.1], positions=[3])),
            (ValueError, "got -1", lambda: study.tell(0, [0.1], positions=[-1])),
            (ValueError, "unique; got 2 2 times",
             lambda: study.tell(0, [0.1, 0.2, 0.1], positions=[2, 0, 2])),
            (TypeError, "positions", lambda: study.tell(0, [0.1], positions=[0.5])),
            (TypeError, "results", lambda: study.tell(0, ["x", "y", "z"])),
            (TypeError, "results", lambda: study.tell(0, [None, None, None])),
            (ValueError, "missing", lambda: study.tell(0, [0.1, 0.5, 0.1], missing="keep")),
            (ValueError, "one of the 1 batches asked for; got 1", lambda: study.tell(1, [])),
            (ValueError, "batch_id.*-1", lambda: study.close_batch(-1)),
            (TypeError, "batch_id.*'0'", lambda: study.abandon("0")),
            (ValueError, "batch 0 has 1: pass discard", lambda: study.abandon(0))]:
        with pytest.raises(error, match=words):
            act()
        assert study.status().head == before
    study.abandon(0, discard=True)
    for act in (lambda: study.tell(0, [0.1], positions=[0]), lambda: study.close_batch(0)):
        with pytest.raises(ValueError, match="batch 0 was abandoned"):
            act()
    study.ask()
    study.close_batch(1)
    with pytest.raises(ValueError, match="batch 1 is closed, and the policy has received"):
        study.abandon(1)
    with pytest.raises(ValueError, match="rewards must be in"):
        study.tell(1, [0.5, 1.5, 0.5])
    study.verify()


def test_create_rejects_invalid_arguments(path):
    class Kernel:
        pass

    class Mine(pb.Policy):
        done = False

        def ask(self):
            return np.array([0])

    for error, words, given in [
            (TypeError, "policy must be a Policy or a race; got 'batch-sar'",
             dict(policy="batch-sar")),
            (TypeError, "Mine lacks get_state", dict(policy=Mine(2))),
            (ValueError, "arms must be 2 names.*got 3", dict(arms=["a", "b", "c"])),
            (ValueError, "unique; got 'a' 2 times", dict(arms=["a", "a"])),
            (TypeError, "non-empty strings; got '' at index 1", dict(arms=["a", ""])),
            (TypeError, "got 1 at index 0", dict(arms=[1, 2])),
            (TypeError, "settings must be a dict; got list", dict(settings=[1])),
            (TypeError, "settings.a.b.*Kernel", dict(settings={"a": {"b": Kernel()}}))]:
        with pytest.raises(error, match=words):
            Study.create(path, **{"policy": pb.policies.Uniform(2, budget=4), **given})
    with pytest.raises(FileNotFoundError, match="does not exist"):
        Study.open(path)


def test_user_defined_policy_is_supported(path):
    class Mine(pb.policies.Uniform):
        def tell(self, arms, rewards, missing="raise"):
            super().tell(arms, np.sqrt(rewards), missing)

    study = Study.create(path, Mine(2, budget=5))
    batch = study.ask()
    study.tell(0, measured(0, batch.arms)[1:], positions=[1, 2, 3, 4])
    study.close_batch(0)
    assert study.tell(0, [0.5], positions=[0]).n_new == 1  # only in the history
    assert study.status().n_lost == 1 and list(study.history()["state"])[0] == "late"
    study.close()
    with pytest.raises(ValueError, match="policy_type must be the class 'Mine'.*None"):
        Study.open(path)
    with pytest.raises(ValueError, match="class 'Mine'; got Uniform"):
        Study.open(path, policy_type=pb.policies.Uniform)
    with Study.open(path, policy_type=Mine) as study:
        study.verify()
        assert type(study.policy) is Mine
    with pytest.raises(ValueError, match="is closed"):
        study.ask()


def test_a_study_of_a_used_policy_has_its_own_copy():
    policy = pb.policies.UCB1(3)
    policy.tell(policy.ask(), [0.1, 0.2, 0.3])
    study, other = Study.create(":memory:", policy), copy.deepcopy(policy)
    for _ in range(5):
        batch = study.ask()
        study.tell(batch.id, measured(batch.id, batch.arms))
        other.tell(batch.arms, measured(batch.id, batch.arms))
    assert policy.n_pulls == 3 and frozen(study.policy.get_state()) == frozen(other.get_state())
    study.verify()


def test_files_are_not_replaced_unless_asked(path):
    with Study.create(path, pb.policies.Uniform(2, budget=4)) as study:
        study.ask()
        with pytest.raises(FileExistsError, match="study.db exists"):
            Study.create(path, pb.policies.Uniform(2, budget=4))
    with Study.create(path, pb.policies.Uniform(2, budget=6), overwrite=True) as study:
        assert study.ask().arms.size == 6 and study.verify().n_events == 2


def test_threads_share_a_study(path):
    study, told = Study.create(path,
                               pb.policies.RoundRobin(6, 1, batch_size=6, max_batches=100)), []

    def work(part):
        for _ in range(20):
            batch = study.ask()
            at = np.arange(part, 6, 3)
            told.append(study.tell(batch.id, measured(batch.id, batch.arms)[at], positions=at))

    threads = [threading.Thread(target=work, args=(part,)) for part in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == 60
    known = np.isfinite(np.asarray(study.history()["value"]))
    assert sum(one.n_new for one in told) == known.sum()
    study.verify()
    study.close()


def test_importing_pybandit_does_not_load_sqlite():
    import subprocess
    import sys

    code = "import sys, pybandit; assert 'sqlite3' not in sys.modules; pybandit.Study"
    subprocess.run([sys.executable, "-P", "-c", code], check=True)
    assert pb.Study is Study and issubclass(StudyDamagedError, OSError) and N == 7


def test_unclosed_study_gives_no_warning(tmp_path):
    """No warning about its connection, when it is collected or when the interpreter ends."""
    code = f"""
import gc
import pybandit as pb
def in_a_circle(name):
    study = pb.Study.create({str(tmp_path)!r} + name, pb.policies.UCB1(3))
    study.itself = [study]
    return study
in_a_circle("/one.db")
gc.collect()
left = in_a_circle("/two.db")
"""
    ran = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True,
                         text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_series_with_other_order_is_rejected():
    """Results of a groupby are sorted by name; they were read by position."""
    pandas = pytest.importorskip("pandas")
    study = Study.create(":memory:", pb.policies.RoundRobin(3, 1, batch_size=3, max_batches=4),
                         ["tea", "milk", "coffee"])
    read = pandas.DataFrame({"arm": study.ask().names, "value": [1.0, 5.0, 2.0]})
    for wrong in (read.groupby("arm")["value"].mean(), read["value"].sort_values()):
        with pytest.raises(ValueError, match="order of the batch; got a series labelled"):
            study.tell(0, wrong)
    rows = read.set_index([[30, 40, 70]])["value"]  # some rows of a larger table
    arms, wells = read.set_index([[0, 1, 2]]), read.set_index([["A1", "B1", "A2"]])
    for right in (read["value"], read.set_index("arm")["value"], rows, arms["value"],
                  wells["value"]):
        study.tell(0, right)
        study.tell(0, right[1:], positions=[1, 2])
    assert study.batch(0).values.tolist() == [1.0, 5.0, 2.0]
    with pytest.raises(ValueError, match="order of the batch"):
        study.amend(0, read.set_index("arm")["value"][1:], positions=[2, 1], reason="a typo")
    trials, sums = pandas.Series([9, 9], ["a", "b"]), pandas.Series([2, 1], ["b", "a"])
    with pytest.raises(ValueError, match="sums must have the index of trials"):
        pb.CountRace(2).tell_counts(trials, sums)


def test_batch_is_reported_by_object_or_id():
    with Study.create(":memory:", pb.policies.Uniform(2, budget=4)) as study:
        batch = study.ask()
        assert study.tell(batch, [0.1, 0.2], positions=[0, 1]).n_new == 2
        assert study.tell(batch.id, [0.3, 0.4], positions=[2, 3]).complete


def test_allocators_are_policies_of_studies(tmp_path):
    """They open without `policy_type`; an allocator with reported costs is rejected."""
    path, rng = tmp_path / "study.db", np.random.default_rng(1)
    allocator = pb.montecarlo.EstimatorAllocator(2, budget=60, batch_size=10, rng=1)
    Study.create(path, allocator, arms=["plain", "antithetic"]).close()
    while not allocator.done:
        with Study.open(path) as study:
            batch = study.ask()
            values = rng.normal(size=batch.arms.size) * [1.0, 3.0][0 if batch.id % 2 else 1]
            study.tell(batch.id, values)
        allocator.tell(allocator.ask(), values)
    with Study.open(path) as study:
        assert study.ask() is None and study.verify().n_pulls == 60
        assert frozen(study.policy.get_state()) == frozen(allocator.get_state())
    with pytest.raises(ValueError, match="told"):
        Study.create(":memory:",
                     pb.montecarlo.EstimatorAllocator(2, costs="told", budget=100.0))
