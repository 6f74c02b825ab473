"""Races by betting as the policies of studies: a batch is a block of items."""

from typing import Any

import numpy as np

from pybandit import betting
from pybandit.betting._blocks import check_range
from pybandit.betting._paired import PairedRace

# every kind of race that there is, by its name
RACES = {name: one for name in betting.__all__
         if isinstance(one := getattr(betting, name), type) and issubclass(one, PairedRace)}
COUNTED = {name: one for name in betting.__all__
           if hasattr(one := getattr(betting, name), "tell_counts")}


class RacePolicy:
    """A race under the protocol of policies: what is asked are arms, their items are known.

    A lost evaluation is refused: what an item would have added to the total is unknown.
    """

    race_type: Any
    may_lose = False

    def __init__(self, race):
        self.race = race

    @classmethod
    def from_state(cls, state):
        return cls(cls.race_type.from_state(state))

    def get_state(self):
        return self.race.get_state()

    def ask(self):
        return self.race.ask()[0]

    def tell(self, arms, rewards, missing="raise"):
        items = self.race.ask()[1]
        self.race.tell(arms, items, rewards)

    def _check_rewards(self, arms, rewards, missing):
        """Refuse what the race will refuse, of what is known."""
        known = ~np.isnan(rewards)
        race = self.race
        check_range(rewards[known], arms[known], arms[known] * 0, race._limits(),
                    race.value_range)

    def add_late(self, arms, rewards):
        raise NotImplementedError("a race loses nothing, so nothing is late")

    def items_of(self, wells):
        """Items of batches in order, (arms, status) each; arrays like their arms."""
        start, order = 0, self.race.get_state()["order"]
        for arms, status in wells:
            alive = np.unique(arms).size
            length = arms.size // alive
            places = np.arange(start, start + length)
            yield np.repeat(places if order is None else order[places], alive)
            start += length * (status == "complete")

    @property
    def budget(self):
        """Evaluations at most, or None."""
        return getattr(self.race, "budget", self.race.max_pulls)

    @property
    def k(self):
        return getattr(self.race, "k", 1)

    @property
    def decided(self):
        """True if the answer is proven; a race on counts is then done."""
        return getattr(self.race, "decided", self.race.done)

    def __getattr__(self, name):
        if name in ("n_arms", "done", "n_pulls", "n_batches", "pulls", "means", "survivors",
                    "recommend"):
            return getattr(self.race, name)
        raise AttributeError(name)


class CountPolicy(RacePolicy):
    """A race on counts: it is told these, and asks for nothing."""

    budget = None

    def ask(self):
        raise ValueError("a study of a race on counts asks for no batches: split says how the next "
                         "trials are shared out, tell_counts takes what came of them")

    def items_of(self, wells):
        return iter(())

    def tell_counts(self, trials, sums, squares=None):
        self.race._tell_counts(trials, sums, squares)

    def add_arm(self):
        self.race.add_arm()

    def retire(self, arm):
        self.race.retire(arm)


POLICIES = {name: type(name, (RacePolicy,), {"race_type": one}) for name, one in RACES.items()}


POLICIES |= {name: type(name, (CountPolicy,), {"race_type": one}) for name, one in COUNTED.items()}


def as_policy(policy):
    """A race as a policy; anything else as it is."""
    if type(policy) in COUNTED.values():
        return POLICIES[type(policy).__name__](policy)
    if not isinstance(policy, PairedRace):
        return policy
    name = type(policy).__name__
    if type(policy) is not RACES.get(name):
        raise TypeError(f"policy must be a race of pybandit's, or a Policy; got {name}")
    if policy._is_told_costs():
        raise ValueError("policy must be a race whose costs are known beforehand, since a study "
                         "records no costs; got costs='told'")
    if "ahead" in policy.get_state():
        raise ValueError("policy must be a race that was told whole blocks; got one with answers "
                         "ahead of its block: a study keeps these itself")
    return POLICIES[name](policy)
