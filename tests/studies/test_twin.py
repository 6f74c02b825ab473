"""A study and its reference implementation with the same calls in any order."""

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from pybandit.studies import Study

from policies.protocol import frozen
from studies.cases import POLICIES, measured, store_states
from studies.reference import study as twin

NAMES = ["batch sar", "halving", "shadavar", "thompson", "ugap", "continuous rejects",
         "gaussian thompson", "ebtc"]


class AsATwin(RuleBasedStateMachine):
    """Any calls in any order, on a study in memory, one in a file, and the reference."""

    @initialize(name=st.sampled_from(NAMES), in_file=st.booleans(),
                share=st.sampled_from([None, 0, 1, 8]))
    def begin(self, name, in_file, share):
        import tempfile

        store_states(share)
        self.folder = tempfile.TemporaryDirectory() if in_file else None
        self.path = f"{self.folder.name}/study.db" if in_file else ":memory:"
        self.study, self.twin = Study.create(self.path, POLICIES[name]()), twin.Study(
            POLICIES[name]())
        self.head = self.study.status().head

    def teardown(self):
        store_states()
        if hasattr(self, "study"):
            self.study.close()
            if self.folder:
                self.folder.cleanup()

    def both(self, act, same):
        """Assert that study and reference return the same, or both raise."""
        try:
            expected = same()
        except twin.Refused:
            before = self.study.status().head
            with pytest.raises(ValueError):
                act()
            assert self.study.status().head == before
            return
        found = act()
        assert expected is None or astuple(found) == expected

    def number(self, back):
        return len(self.twin.batches) - 1 - back

    @rule()
    def ask(self):
        found, expected = self.study.ask(), self.twin.ask()
        assert (found is None) == (expected is None)
        assert found is None or (found.id, found.arms.tolist()) == expected

    @rule(back=st.sampled_from([0, 0, 0, 1, 2]), drop=st.booleans(), data=st.data())
    def tell(self, back, drop, data):
        number = self.number(back)
        if not 0 <= number < len(self.twin.batches):
            return
        arms = self.twin.batches[number]["arms"]
        kinds = st.lists(st.sampled_from(["told", "told", "told", "nan", "no"]),
                         min_size=len(arms), max_size=len(arms))
        rewards, values = measured(number, arms).tolist(), {}
        for at, kind in enumerate(data.draw(kinds)):
            if kind != "no":
                values[at] = rewards[at] if kind == "told" else np.nan
        if values and data.draw(st.integers(0, 9)) == 0:
            values[data.draw(st.sampled_from(sorted(values)))] = 0.123  # another value
        missing = "drop" if drop else "wait"
        self.both(lambda: self.study.tell(number, list(values.values()), missing=missing,
                                          positions=np.array(list(values), dtype=int)),
                  lambda: self.twin.tell(number, values, drop))

    @rule()
    def tell_all(self):
        number = self.number(0)
        if number >= 0:
            batch = self.twin.batches[number]
            rewards = [old if old is not None else new for old, new in zip(
                batch["values"], measured(number, batch["arms"]).tolist(), strict=True)]
            self.both(lambda: self.study.tell(number, rewards),
                      lambda: self.twin.tell(number, dict(enumerate(rewards))))

    @rule(back=st.sampled_from([0, 0, 1, 1, 2, 3]), data=st.data())
    def amend(self, back, data):
        number = self.number(back)
        if not 0 <= number < len(self.twin.batches):
            return
        batch, values = self.twin.batches[number], {}
        kinds = st.lists(st.sampled_from(["no", "no", "other", "same", "nan"]),
                         min_size=len(batch["arms"]), max_size=len(batch["arms"]))
        for at, kind in enumerate(data.draw(kinds)):
            old = batch["values"][at]
            gone = sorted(value for place, value in batch["withdrawn"] if place == at)
            odds = 1 + 4 * len(gone)
            if kind != "no" and (old is not None or data.draw(st.integers(0, 9)) < odds):
                values[at] = {"nan": np.nan, "same": old or (gone or [0.5])[0],
                              "other": data.draw(st.floats(0.0, 1.0))}[kind]
        self.both(lambda: self.study.amend(number, list(values.values()), reason="a typo",
                                           positions=np.array(list(values), dtype=int)),
                  lambda: self.twin.amend(number, values))

    @rule(back=st.sampled_from([-1, 0, 0, 0, 1]))
    def close_batch(self, back):
        number = self.number(back)
        self.both(lambda: self.study.close_batch(number), lambda: self.twin.close(number))

    @rule(back=st.sampled_from([-1, 0, 0, 0, 1]), discard=st.booleans())
    def abandon(self, back, discard):
        number = self.number(back)
        self.both(lambda: self.study.abandon(number, discard=discard),
                  lambda: self.twin.abandon(number, discard))

    @precondition(lambda self: self.folder)
    @rule(closed=st.booleans())
    def reopen(self, closed):
        """Open the file again, with the first connection closed or, as by another process, open."""
        if closed:
            self.study.close()
        old, self.study = self.study, Study.open(self.path)
        old.close()

    @rule()
    def compare(self):
        found = self.study.verify(self.head)
        self.head = found.head
        assert found.n_batches == len(self.twin.batches)
        assert frozen(self.study.policy.get_state()) == frozen(self.twin.policy.get_state())
        assert self.study.recommend().best_arms.tolist() == self.twin.policy.recommend().tolist()
        rows, batches = self.study.history(), self.twin.batches
        values = [np.nan if one is None else one for batch in batches for one in batch["values"]]
        states = [batch["status"] if batch["status"] == "abandoned" else mark
                  for batch in batches for mark in batch["marks"]]
        assert np.array_equal(np.asarray(rows["value"], dtype=float), values, equal_nan=True)
        assert list(rows["state"]) == states
        assert self.study.status().n_late == sum(len(arms) for arms, _ in self.twin.late)


AsATwin.TestCase.settings = settings(
    max_examples=40, stateful_step_count=25, deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
test_as_a_twin = AsATwin.TestCase


@pytest.mark.parametrize("name", NAMES)
def test_batch_is_amended_while_another_is_open(name):
    other = twin.Study(POLICIES[name]())
    with Study.create(":memory:", POLICIES[name]()) as study:
        for number in range(3):
            other.ask()
            rewards = measured(number, study.ask().arms)
            study.tell(number, rewards)
            other.tell(number, dict(enumerate(rewards.tolist())))
        study.ask()
        other.ask()
        study.amend(1, [0.5], positions=[0], reason="a typo")
        other.amend(1, {0: 0.5})
        assert frozen(study.policy.get_state()) == frozen(other.policy.get_state())
