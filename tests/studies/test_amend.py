"""Corrected results: one more event, and the policy that the right results would give."""

import sqlite3
from contextlib import closing
from dataclasses import astuple

import numpy as np
import pytest

import pybandit as pb
from pybandit.lab.controls import readings_of, were_kept
from pybandit.lab.plates import Layout, Plates
from pybandit.studies import Study

from betting.races import RACE, REWARDS
from policies.protocol import frozen
from studies.cases import POLICIES, measured

nan = np.nan


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "study.db")


def steps(study, most, wrong=lambda number, arms: measured(number, arms)):
    """Report whole batches, with wrong values where `wrong` gives them."""
    for _ in range(most):
        batch = study.ask()
        if batch is None:
            return
        study.tell(batch.id, wrong(batch.id, batch.arms))


@pytest.mark.some(15)
@pytest.mark.parametrize("name", POLICIES)
def test_amended_policy_equals_policy_with_right_results(name, path):
    """Amend the last batch, before the wrong results affect a request: equal bit for bit."""
    straight = Study.create(":memory:", POLICIES[name]())
    study, rng = Study.create(path, POLICIES[name]()), np.random.default_rng(1)
    for number in range(10):
        batch, same = study.ask(), straight.ask()
        assert (batch is None) == (same is None)
        if batch is None:
            break
        right = measured(number, batch.arms)
        straight.tell(number, right)
        at = np.flatnonzero(rng.random(right.size) < 0.5)
        told = right.copy()
        told[at] = rng.random(at.size)
        study.tell(number, told)
        assert astuple(study.amend(number, right[at], positions=at, reason="a typo")) == (at.size,
                                                                                          0)
        assert frozen(study.policy.get_state()) == frozen(straight.policy.get_state())
    assert study.verify().n_pulls == straight.status().n_pulls
    study.close()
    with Study.open(path) as study:
        assert frozen(study.policy.get_state()) == frozen(straight.policy.get_state())


@pytest.mark.some(15)
@pytest.mark.parametrize("name", POLICIES)
def test_amended_policy_continues_if_it_would_have_asked_for_other_arms(name, path):
    """Some wells are lost, some late; amend with and without an open batch."""
    study, rng = Study.create(path, POLICIES[name]()), np.random.default_rng(len(name))
    for number in range(16):
        batch = study.ask()
        if batch is None:
            break
        told = np.where(rng.random(batch.arms.size) < 0.3, rng.random(batch.arms.size),
                        measured(number, batch.arms))
        told[rng.random(told.size) < 0.1] = nan
        study.tell(number, told)
        study.close_batch(number)
        if number % 4 == 3:
            if number % 8 == 3:
                study.ask()
            before = int(rng.integers(number + 1))
            record = study.batch(before)
            at = np.flatnonzero(record.states == "known")
            right = measured(before, np.array([study.names.index(name) for name in record.names]))
            right[rng.random(right.size) < 0.2] = nan
            done = study.amend(before, right[at], positions=at, reason="read again")
            assert done.n_amended + done.n_known == at.size
            assert astuple(study.amend(before, right[at], positions=at,
                                       reason="again")) == (0, at.size)
            state = study.policy.get_state()
            assert frozen(type(study.policy).from_state(state).get_state()) == frozen(state)
            asked = study.ask()
            assert asked is None or (asked.id == number + 1) or study.policy.done
        if number % 5 == 4:
            study.close()
            study = Study.open(path)
    study.verify()
    study.close()


def test_amendment_does_not_change_past_requests():
    """Halving drops the best arm because of a typo; after the amendment it is asked for again."""
    study = Study.create(":memory:", pb.policies.BatchHalving(8, 1, batch_size=8, max_batches=3,
                                                              max_repeats=2, rng=0))
    means = np.arange(8.0)
    first = study.ask()
    study.tell(0, np.where(first.arms == 7, 0.0, means[first.arms]))
    second = study.ask()
    assert 7 not in second.arms
    assert astuple(study.amend(0, [7.0], positions=[7], reason="a zero too few")) == (1, 0)
    assert np.array_equal(study.ask().arms, second.arms)
    assert 7 in study.policy.ask() and study.recommend().best_arms.tolist() == [7]
    study.tell(1, means[second.arms])
    status = study.status()
    assert (status.n_pulls, status.n_batches, status.n_amendments) == (16, 2, 1)
    # arms that it would have asked for and were not measured are lost; measured ones are known
    lost = 16 - study.policy.pulls.sum()
    assert study.policy.pulls[second.arms].min() >= 2 and lost == status.n_lost == 0
    third = study.ask()
    assert 7 in third.arms
    study.tell(2, means[third.arms])
    assert study.recommend().best_arms.tolist() == [7] and study.status().done
    study.verify()


def test_open_batches_and_late_results_are_amended():
    study = Study.create(":memory:", pb.policies.Uniform(3, budget=6), ["a", "b", "c"])
    study.ask()
    study.tell(0, [0.5, nan, nan, nan, nan, nan])
    assert astuple(study.amend(0, [0.75], positions=[0], reason="typo", who="she")) == (1, 0)
    assert astuple(study.tell(0, [0.75], positions=[0])) == (0, 1, False)
    assert astuple(study.amend(0, [nan], positions=[0], reason="spilt")) == (1, 0)
    assert study.batch(0).states.tolist() == ["lost", *["open"] * 5]
    assert astuple(study.tell(0, [0.25, 0.2], positions=[0, 1])) == (2, 0, False)
    study.close_batch(0)
    assert study.tell(0, [0.9], positions=[5]).n_new == 1
    assert astuple(study.amend(0, [0.4, 0.8], positions=[1, 5], reason="typo")) == (2, 0)
    assert study.policy.means.tolist() == [0.25, 0.4, 0.8]
    assert astuple(study.amend(0, [nan], positions=[5], reason="the wrong plate")) == (1, 0)
    assert study.batch(0).states.tolist() == ["known", "known", *["lost"] * 4]
    assert study.status().n_lost == 4
    assert study.tell(0, [0.7], positions=[5]).n_new == 1
    assert study.policy.means[2] == 0.7
    rows = study.history()
    assert list(rows["who"])[0] == study.amendments()[2].who
    found = [(one.event, one.position, one.name, one.value, one.reason)
             for one in study.amendments()]
    assert found[0] == (3, 0, "a", 0.75, "typo") and study.amendments()[0].who == "she"
    assert [one[1:3] for one in found] == [(0, "a"), (0, "a"), (1, "b"), (5, "c"), (5, "c")]
    assert [one.before for one in study.amendments()] == [0.5, 0.75, 0.2, 0.9, 0.8]
    study.verify()


def test_amended_waiting_late_result_is_stored(path):
    """The file holds the amended value too, for every process that opens it."""
    study = Study.create(path, pb.policies.RoundRobin(2, 1, batch_size=2, max_batches=3))
    study.ask()
    study.tell(0, [0.1, nan], missing="drop")
    study.ask()
    study.tell(0, [0.6], positions=[1])
    study.amend(0, [0.9], positions=[1], reason="a typo")
    study.verify()
    study.close()
    with Study.open(path) as again:
        again.tell(1, [0.1, 0.9])
        assert again.policy.means.tolist() == [0.1, 0.9]
        again.verify()


def test_withdrawn_result_stays_withdrawn_when_repeated(path):
    """The same file or a delayed request changes nothing; another result is recorded."""
    study = Study.create(path, pb.policies.Uniform(2, budget=4), ["a", "b"])
    study.ask()
    told = [0.1, 0.9, 0.2, 0.8]
    study.tell(0, told)
    study.amend(0, [nan], positions=[1], reason="a bubble")
    assert astuple(study.tell(0, told)) == (0, 4, True)
    assert study.batch(0).states.tolist() == ["known", "lost", "known", "known"]
    assert study.policy.means.tolist() == [pytest.approx(0.15), 0.8]
    assert astuple(study.amend(0, [0.9], positions=[1], reason="it was no bubble")) == (1, 0)
    assert study.policy.means[1] == pytest.approx(0.85)
    study.amend(0, [nan], positions=[1], reason="it was one")
    assert astuple(study.tell(0, [0.5], positions=[1])) == (1, 0, True)
    study.amend(0, [nan], positions=[1], reason="as bad")
    assert astuple(study.tell(0, [0.5], positions=[1])) == (0, 1, True)
    assert astuple(study.tell(0, told)) == (0, 4, True)
    study.verify()


@pytest.mark.parametrize("change, error, message", [
    (dict(reason=""), ValueError, "reason must say why"),
    (dict(reason=3), TypeError, "reason must be text; got int"),
    (dict(positions=[1]), ValueError, "batch 0, well 1, arm 1 \\(b\\) has none: report it"),
    (dict(positions=[9]), ValueError, "positions must be in \\[0, 4\\)"),
    (dict(positions=[0, 0], results=[1.0, 1.0]), ValueError, "positions must be unique"),
    (dict(results=[np.inf]), ValueError, "finite.*well 0, arm 0 \\(a\\)"),
    (dict(results=[1.0, 2.0]), ValueError, "same one-dimensional shape"),
    (dict(batch_id=1), ValueError, "batch 1 was abandoned"),
    (dict(batch_id=7), ValueError, "must be the id of one of the 3 batches"),
])
def test_invalid_amendments_are_rejected(change, error, message):
    study = Study.create(":memory:", pb.policies.RoundRobin(4, 1, batch_size=4, max_batches=9),
                         list("abcd"))
    study.ask()
    study.tell(0, [0.5, nan, 0.1, 0.2])
    study.close_batch(0)
    study.abandon(study.ask().id)
    study.ask()
    head = study.status().head
    given = dict(batch_id=0, results=[0.6], positions=[0], reason="typo") | change
    with pytest.raises(error, match=message):
        study.amend(given.pop("batch_id"), given.pop("results"), **given)
    assert study.status().head == head
    with pytest.raises(ValueError, match="if that is wrong, use amend"):
        study.tell(0, [0.6], positions=[0])


def test_value_that_policy_rejects_is_not_amended(path):
    study = Study.create(path, pb.policies.KLUCB(3))
    steps(study, 4)
    head = study.status().head
    with pytest.raises(ValueError, match="must be in \\[0, 1\\]"):
        study.amend(0, [2.0], positions=[0], reason="typo")
    assert study.status().head == head and study.verify().head == head


def test_race_is_amended_if_it_asks_for_the_same_items(path):
    def make():
        return pb.BettingRace(4, 300, **RACE)

    study, straight = Study.create(path, make()), Study.create(":memory:", make())
    for number in range(4):
        batch, same = study.ask(), straight.ask()
        right = REWARDS[batch.items, batch.arms]
        straight.tell(same.id, right)
        told = right.copy()
        told[0] = 1.0 - told[0]
        study.tell(batch.id, told)
        study.amend(number, [right[0]], positions=[0], reason="typo")
        assert frozen(study.policy.get_state()) == frozen(straight.policy.get_state())
    with pytest.raises(ValueError, match="a race needs every evaluation"):
        study.amend(0, [nan], positions=[0], reason="failed")
    # with all first results against the leader, it would have continued with other arms
    while study.ask() is not None:
        batch = study.ask()
        study.tell(batch.id, REWARDS[batch.items, batch.arms])
    best, head = int(study.recommend().best_arms[0]), study.status().head
    batches = {event.body["batch"]: event.body["arms"] for event in study.log()
               if event.kind == "ask"}
    message = "with these it would have asked for other arms"
    with pytest.raises(ValueError, match=message):
        for number, arms in batches.items():
            study.amend(number, np.where(arms == best, 0.0, 1.0), positions=range(arms.size),
                        reason="upside down")
            head = study.status().head
    assert study.status().head == head
    study.verify()
    study.close()


def test_user_defined_policy_without_late_results(path):
    """It can be replayed as long as it asks for the same arms."""
    class Mine(pb.policies.UCB1):
        def tell(self, arms, rewards, missing="raise"):
            super().tell(arms, rewards, missing)

    study = Study.create(path, Mine(3))
    steps(study, 20)
    assert study.amend(19, [0.9], positions=[0], reason="typo").n_amended == 1
    head = study.status().head
    with pytest.raises(ValueError, match="which arms Mine asks for, or Mine must define add_late"):
        study.amend(2, [0.0], positions=[0], reason="typo")
    assert study.status().head == head and study.verify().head == head
    study.close()


def test_changed_amendments_are_detected(path):
    """A changed or removed amendment is detected."""
    with Study.create(path, pb.policies.RoundRobin(4, 1, batch_size=4, max_batches=9)) as study:
        steps(study, 3)
        noted = study.status().head
        study.amend(1, [0.9], positions=[2], reason="typo")
        study.verify(noted)
        event = list(study.log())[-1]
        assert event.kind == "amend" and event.body["reason"] == "typo"
        assert event.body["values"].tolist() == [0.9]
    changes = ("UPDATE log SET who = 'nobody' WHERE kind = 'amend'",
               "DELETE FROM log WHERE kind = 'amend'")
    for change in changes:
        with closing(sqlite3.connect(path)) as db, db:
            db.execute(change)
        with pytest.raises(pb.errors.StudyDamagedError), Study.open(path) as study:
            study.verify()


@pytest.mark.parametrize("source", [
    {"plates": 3}, {"plates": {"0": np.zeros(4)}}, {"file": 3, "plates": {"0": np.zeros(4)}},
    {"file": "a", "plates": {"0": "x"}}, {"file": "a", "plates": {"0": np.zeros((2, 2))}}, {}])
def test_user_defined_sources_are_not_readings(source):
    study = Study.create(":memory:", pb.policies.Uniform(2, budget=4), ["a", "b"],
                         settings=BOTH.settings())
    study.ask()
    study.tell(0, [0.1], positions=[0], source=source)
    assert readings_of(study) == []
    assert not were_kept(study, 0, ["0"], np.zeros(4)).any()
    study.verify()


def test_readings_of_plates_with_other_sizes():
    """The last readings count; missing controls are NaN; the largest numbers are accepted."""
    study = Study.create(":memory:", pb.policies.Uniform(2, budget=4), ["a", "b"],
                         settings=BOTH.settings())
    study.ask()
    for size in (4, 2):
        study.tell(0, [0.1], positions=[0],
                   source={"file": "a.csv", "plates": {"0": np.full(size, 1.7e308)}})
    one, = readings_of(study)
    assert one.values.tolist() == [1.7e308] * 2 and one.files == ["a.csv"] * 2
    assert (one.controls.n, one.positives.n) == (2, 0) and np.isnan(one.z_prime)
    assert were_kept(study, 0, ["0"], np.full(4, 1.7e308)).tolist() == [True] * 4


BOTH = Plates(Layout(8, 12), controls=(0, 1), positives=(94, 95))


def test_sources_are_stored_without_new_results():
    """A source is stored even without new results, and does not replay the policy."""
    study = Study.create(":memory:", pb.policies.Uniform(2, budget=4), ["a", "b"], settings={})
    study.ask()
    source = {"file": "a.csv", "plates": {"0": np.array([1.0, 2.0, nan, nan])}}
    study.tell(0, [0.1, 0.2], positions=[0, 1], source=source)
    assert astuple(study.tell(0, [0.1], positions=[0], source=source)) == (0, 1, False)
    source["file"] = "b.csv"
    source["plates"]["0"] = np.array([nan, 5.0, nan, 4.0])
    assert astuple(study.amend(0, [0.2], positions=[1], reason="typo", source=source)) == (0, 1)
    study.tell(0, [0.3, 0.4], positions=[2, 3])
    assert astuple(study.amend(0, [], positions=np.empty(0, int), reason="late",
                               source=source)) == (0, 0)
    kinds = [event.kind for event in study.log()]
    assert kinds == ["create", "ask", "tell", "tell", "amend", "tell", "amend"]
    one, = readings_of(study)
    assert (one.name, one.batch, one.files) == ("0", 0, ["a.csv", "a.csv", "b.csv", "b.csv"])
    assert np.array_equal(one.values, [nan, 5.0, nan, 4.0], equal_nan=True)
    assert readings_of(study, 1) == [] and np.isnan(one.z_prime) and one.controls.n == 0
    with pytest.raises(TypeError, match="source must be a dict; got list"):
        study.tell(0, [0.1], positions=[0], source=[1])
    with pytest.raises(TypeError, match="source.x must be made of"):
        study.tell(0, [0.1], positions=[0], source={"x": object()})
    study.verify()
    other = Study.create(":memory:", pb.policies.Uniform(2, budget=4))
    other.abandon(other.ask().id)
    with pytest.raises(ValueError, match="batch 0 was abandoned"):
        other.tell(0, [nan] * 4, source=source)
