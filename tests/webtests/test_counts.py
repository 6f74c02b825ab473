"""Web tests equal policies that receive the same counts directly, even after kills."""

import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import pybandit as pb
from pybandit.errors import StudyDamagedError
from pybandit.studies._group import whole
from pybandit.webtests import WebTest, write_report
from pybandit.webtests._counts import in_random_order, played
from webtests.count_kills import NAMES, day

from betting.interrupts import alarms, interruption
from betting.races import assert_says, frozen
from programs import figures

PROGRAM = Path(__file__).with_name("count_kills.py")
ONE_BY_ONE = {
    "allocator": lambda: pb.montecarlo.EstimatorAllocator(3, policy="ucb1", value_range=(0, 1),
                                                          rng=1),
    "gaps": lambda: pb.policies.LUCB(3, delta=0.1),
    "endless race": lambda: pb.BettingRace(3, None, value_range=(0, 1)),
    "race": lambda: pb.BettingRace(3, 20_000, value_range=(0, 1), rng=1),
    "threshold": lambda: pb.BettingThreshold(3, None, threshold=0.15, value_range=(0, 1)),
    "ucb1": lambda: pb.policies.UCB1(3),
    "top two": lambda: pb.policies.TopTwo(3, stopping=pb.stopping.GLR(delta=0.1, law="bernoulli"),
                                          rng=1),
    "halving": lambda: pb.policies.SequentialHalving(3, budget=900),
    "elimination": lambda: pb.policies.SuccessiveElimination(
        3, stopping=pb.stopping.GLR(delta=0.1, law="bernoulli")),
}


def test_web_test_equals_the_race(tmp_path):
    """Opened again for every batch, each recorded twice; an arm is added and one is retired."""
    path, race = tmp_path / "study.db", pb.CountRace(3)
    WebTest.create(path, race, arms=NAMES).close()
    for number in range(8):
        with WebTest.open(path) as study:
            counts = day(study, number)
            told = study.tell_counts(counts, key=f"day {number}", who="Ada")
            again = study.tell_counts(counts, key=f"day {number}")
            assert (told.n_new, told.n_known, again.n_new, again.n_known) == (
                len(counts), 0, 0, len(counts))
            race.tell_counts(*np.array(list(counts.values())).T)
            if number == 2:
                assert study.add_arm("form") == race.add_arm()
            if number == 4:
                study.retire("video", "it does not play")
                study.retire("video", "it still does not")
                race.retire(2)
            assert frozen(study.policy.get_state()) == frozen(race.get_state())
    with WebTest.open(path) as study:
        assert study.names == (*NAMES, "form") and type(study.policy) is pb.CountRace
        status, found, best = study.status(), study.verify(), study.recommend()
        assert status.n_events == found.n_events == 1 + 8 + 2
        assert status.n_pulls == found.n_pulls == race.n_pulls == 8 * 300
        assert best.best_arms.tolist() == race.recommend().tolist() and best.best_names == ["form"]
        assert status.survivors.tolist() == race.survivors.tolist()
        assert study.split(100).tolist() == race.split(100).tolist()
        table = study.counts()
        assert int(table["trials"].sum()) == race.n_pulls and set(table["who"]) == {"Ada"}
        assert list(table["key"])[:3] == ["day 0"] * 3
        retired = [event.body for event in study.log() if event.kind == "retire"]
        assert [body["reason"] for body in retired] == ["it does not play"]
        write_report(study, tmp_path / "report.html")
    assert "CountRace" in (tmp_path / "report.html").read_text("utf-8")


@pytest.mark.parametrize("path", ["study.db", ":memory:"])
@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_other_policies_receive_single_outcomes(name, path, tmp_path, monkeypatch):
    """The policy is that of rewards in the recorded order per arm, whatever the batches are."""
    monkeypatch.chdir(tmp_path)
    study = WebTest.create(path, ONE_BY_ONE[name](), arms=NAMES)
    for number in range(5):
        study.tell_counts(day(study, number), rng=number)
        if path != ":memory:":
            study.close()
            study = WebTest.open(path)
    orders = [in_random_order(event.body["trials"], event.body["sums"], event.body["seed"])
              for event in study.log() if event.kind == "counts"]
    joined = [np.concatenate([order[arm] for order in orders]) for arm in range(3)]
    alone = WebTest.create(":memory:", ONE_BY_ONE[name]())
    policy = alone._policy.inner
    waiting = played(policy, joined)
    assert frozen(study.policy.get_state()) == frozen(alone.policy.get_state())
    assert [one.tolist() for one in study._policy.counts.waiting] == [
        one.tolist() for one in waiting]
    assert study.verify().n_pulls == policy.n_pulls > 0
    assert study.split(10).sum() == 10
    study.close()


@pytest.mark.parametrize("k, expected", [(0, [4, 3, 3]), (3, [10, 0, 0])])
def test_split_of_policy_that_is_done_at_the_start(k, expected):
    with WebTest.create(":memory:",
                      pb.policies.BatchSAR(3, k, batch_size=1, max_batches=60)) as study:
        assert study.policy.done and study.split(10).tolist() == expected


@pytest.mark.parametrize("law", ["bernoulli", "gaussian"])
def test_thompson_sampling_receives_counts(law, tmp_path):
    """It takes counts directly; reading the split changes nothing."""
    path = tmp_path / "study.db"
    policy = pb.policies.ThompsonSampling(3, rng=1, law=law, batch_size=500)
    WebTest.create(path, policy, arms=NAMES).close()
    for number in range(8):
        with WebTest.open(path) as study:
            if number % 3 == 0:
                study.split(100)
            counts = {name: (200, 10 + 10 * arm) for arm, name in enumerate(NAMES)}
            study.tell_counts(counts, key=f"{number}", repeated=True)
            study.verify()
        policy.ask()
        policy.tell_counts([200] * 3, [10, 20, 30])
    with WebTest.open(path) as study:
        assert study.split(500).tolist() == policy.shares.tolist()
        assert study.split(50).sum() == 50 and study.split(50).argmax() == 2
        assert frozen(study.policy.get_state()) == frozen(
            pb.policies.ThompsonSampling.from_state(study.policy.get_state()).get_state())
        assert study.policy.pulls.tolist() == [1600] * 3


def test_orders_are_equally_likely():
    """All six orders of two successes in four trials, for each arm independently."""
    seen = {}
    for seed in range(6000):
        first, second = in_random_order(np.array([4, 2]), np.array([2.0, 1.0]), [seed])
        place = (*first.tolist(), *second.tolist())
        seen[place] = seen.get(place, 0) + 1
    assert len(seen) == 12
    found = np.array(list(seen.values()))
    assert ((found - 500.0) ** 2 / 500.0).sum() < 31.3  # .999 quantile of chi-square (11)


def test_invalid_counts_are_rejected(tmp_path):
    study = WebTest.create(tmp_path / "study.db", pb.CountRace(3), arms=NAMES)
    study.tell_counts({"home": (10, 3)}, key="monday")
    other = WebTest.create(":memory:", pb.policies.UCB1(3), arms=NAMES)
    other.tell_counts({"home": (10, 3)})
    for one, call, error, words in [
        (study, lambda: study.tell_counts({"hom": (1, 0)}), ValueError, ["'hom'"]),
        (study, lambda: study.tell_counts({}), TypeError, ["dict"]),
        (study, lambda: study.tell_counts([("home", 1, 0)]), TypeError, ["dict"]),
        (study, lambda: study.tell_counts({"home": 3}), TypeError,
         ["(trials, sum, squares)", "'home'"]),
        (study, lambda: study.tell_counts({"home": (3.5, 1)}), TypeError, ["trials", "3.5"]),
        (study, lambda: study.tell_counts({"home": (3, "x")}), TypeError, ["sum of arm 'home'"]),
        (study, lambda: study.tell_counts({"home": (3, 4)}), ValueError, ["4", "3 trials"]),
        (study, lambda: study.tell_counts({"home": (10, 4)}, key="monday"), ValueError,
         ["already recorded as 'monday'", "4 of 10", "3 of 10"]),
        (study, lambda: study.tell_counts({"home": (3, 1)}, key=7), TypeError, ["key", "7"]),
        (study, study.study.ask, ValueError, ["does not ask for batches", "split"]),
        (study, lambda: study.add_arm("home"), ValueError, ["'home'", "arm 0"]),
        (study, lambda: study.add_arm(""), TypeError, ["name"]),
        (study, lambda: study.retire("form", "gone"), ValueError, ["'form'"]),
        (study, lambda: study.retire("home", ""), TypeError, ["reason"]),
        (study, lambda: study.split(-1), ValueError, ["n must"]),
        (other, other.study.ask, ValueError, ["does not ask for batches"]),
        (other, lambda: other.tell_counts({"home": (3, 1.5)}), ValueError,
         ["integer numbers", "1.5 of 3", "CountRace"]),
        (other, lambda: other.add_arm("form"), ValueError, ["CountRace", "UCB1"]),
    ]:
        events = one.status().n_events
        with pytest.raises(error) as caught:
            call()
        assert_says(caught.value, *words)
        assert one.status().n_events == events
        one.verify()
    study.retire("home", "slow")
    study.retire("price", "wrong")
    with pytest.raises(ValueError, match="last one that is not retired"):
        study.retire("video", "also")
    assert study.status().done and study.verify().n_events == 4


def test_two_processes_see_changes_of_each_other(tmp_path):
    """Each sees the changes of the other, including names of new arms."""
    first = WebTest.create(tmp_path / "study.db", pb.CountRace(3), arms=NAMES)
    second = WebTest.open(tmp_path / "study.db")
    first.add_arm("form")
    second.tell_counts({"form": (9, 3), "home": (9, 1)}, key="a")
    assert first.tell_counts({"form": (9, 3), "home": (9, 1)}, key="a").n_known == 2
    assert first.names == second.names == (*NAMES, "form")
    assert list(first.counts()["name"]) == ["home", "form"]


def test_keys_of_rolled_back_batches_are_forgotten(tmp_path):
    """A key is known only if its batch is on the disk."""
    path, first = tmp_path / "study.db", dict.fromkeys(NAMES, (9, 3))

    def told(study, key, n_new=1):
        assert study.tell_counts(first, key=key, repeated=True).n_new == 3 * n_new

    def fails():
        raise OSError("no space left")

    with WebTest.create(path, pb.CountRace(3), arms=NAMES) as study:
        told(study, "Monday")
        with pytest.raises(OSError, match="no space left"):
            whole(study.study, [lambda: told(study, "Tuesday"),
                                lambda: told(study, "Tuesday", 0), fails])
        study.retire(NAMES[2], "it is broken on phones")
        told(study, "Friday")
        for key in ("Monday", "Friday"):
            told(study, key, 0)
        told(study, "Tuesday")
        with WebTest.open(path) as other:
            told(other, "Friday", 0)
            told(other, "Sunday")
        told(study, "Sunday", 0)
        with pytest.raises(ValueError, match="already recorded as 'Sunday'"):
            study.tell_counts({"home": (9, 4)}, key="Sunday")
        assert list(dict.fromkeys(study.counts()["key"])) == [
            "Monday", "Friday", "Tuesday", "Sunday"]


def test_changed_file_is_damage(tmp_path):
    path = tmp_path / "study.db"
    for make in (lambda: pb.CountRace(3), lambda: pb.policies.UCB1(3)):
        with WebTest.create(path, make(), arms=NAMES, overwrite=True) as study:
            for number in range(3):
                study.tell_counts(day(study, number))
            parts = study.study._store.parts
        for statement in ("UPDATE state SET body = x'4e' WHERE part = 'webtest.counts'",
                          f"DELETE FROM state WHERE part = '{next(iter(parts))}'",
                          "UPDATE log SET body = x'4e' WHERE number = 2"):
            forged = shutil.copy(path, tmp_path / "forged.db")
            with closing(sqlite3.connect(forged)) as db, db:
                db.execute(statement)
            with pytest.raises(StudyDamagedError):
                WebTest.open(forged).verify()


def acts(number):
    return {"tell_counts": lambda study: study.tell_counts(day(study, number), key=f"{number}"),
            "amend_counts": lambda study: study.amend_counts("0", {"home": (90, 9)},
                                                             reason="robots"),
            "add_arm": lambda study: study.add_arm("form"),
            "retire": lambda study: study.retire("home", "slow")}


def looked(study):
    return study.status().n_events, study.names, frozen(study.policy.get_state())


@pytest.mark.parametrize("kind", acts(0))
def test_interrupted_counts_are_recorded_or_not(kind, tmp_path):
    """The event is recorded or not, and the test continues."""
    rng, came, length = np.random.default_rng(1), 0, 2e-3
    with alarms():
        while came < 12:
            study = WebTest.create(tmp_path / "study.db", pb.CountRace(3), arms=NAMES,
                                   overwrite=True)
            study.tell_counts(day(study, 0), key="0")
            before = looked(study)
            start = time.perf_counter()
            error = interruption(1e-6 + length * rng.random(), acts(1)[kind], study)
            if error is None:
                length = time.perf_counter() - start
            came += error is not None
            assert looked(study)[0] in (before[0], before[0] + 1)
            assert (looked(study) == before) == (looked(study)[0] == before[0])
            if looked(study) == before:
                acts(1)[kind](study)
            assert looked(study)[0] == before[0] + 1
            study.verify()
            study.close()


def test_web_tests_killed_at_random_lose_nothing():
    found = figures(PROGRAM, 20, 1)
    assert found["kills"] == 20 and found["acknowledged"] > 20


@pytest.mark.slow
def test_two_hundred_kills():
    """The documentation has the figures of one run."""
    assert figures(PROGRAM, 200, 2)["acknowledged"] > 200


def test_arms_added_by_another_process_are_seen(tmp_path):
    one = WebTest.create(tmp_path / "study.db", pb.CountRace(2), arms=["old", "new"])
    other = WebTest.open(tmp_path / "study.db")
    assert one.add_arm("third") == 2
    assert other.names == ("old", "new", "third") and "3 arms" in repr(other)


def test_verify_counts_batches_of_counts():
    study = WebTest.create(":memory:", pb.CountRace(2), arms=["old", "new"])
    for number in range(3):
        study.tell_counts({"old": (9, number), "new": (9, 4)})
    assert study.verify().n_batches == study.status().n_batches == 3
    for name in ("amend", "tell", "batch"):
        with pytest.raises(AttributeError, match="takes counts, by tell_counts"):
            getattr(study, name)
    with pytest.raises(AttributeError, match="tell_counts is a method of pybandit.webtests"):
        study.study.tell_counts  # noqa: B018


@pytest.mark.parametrize("head", ["zz", "ab12", 3, "é" * 64])
def test_invalid_digest_is_not_damage(head):
    study = WebTest.create(":memory:", pb.CountRace(2))
    with pytest.raises((ValueError, TypeError), match="head must be a digest of 64 hexadecimal"):
        study.verify(head)
