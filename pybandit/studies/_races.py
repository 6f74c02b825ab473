"""Adapters that make betting races policies of studies; a batch is a block of items."""

from typing import Any

import numpy as np

from pybandit import betting
from pybandit._shared.checks import refuse_class, shown
from pybandit.betting._blocks import check_range
from pybandit.betting._paired import PairedRace
from pybandit.policies import Policy


class RacePolicy:
    """A race with the interface of a policy: it asks for arms, and the race knows their items.

    Evaluations cannot be lost: the race needs the scores of all surviving arms on each item.
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

    @property
    def wrapped(self):
        """The object that the user passed."""
        return self.race

    def ask(self):
        return self.race.ask()[0]

    def tell(self, arms, rewards, missing="raise"):
        items = self.race.ask()[1]
        self.race.tell(arms, items, rewards)

    def _check_rewards(self, arms, rewards, missing):
        """Raise ValueError if the race will reject one of the known rewards."""
        known = ~np.isnan(rewards)
        race = self.race
        check_range(rewards[known], arms[known], arms[known] * 0, race._limits(),
                    race.value_range)

    def add_late(self, arms, rewards):
        raise NotImplementedError("a race has no lost evaluations, so none can be late")

    def items_of(self, wells):
        """Yield, for each batch, the item of each of its arms.

        `wells` has (arms, status) of each batch, in order.
        """
        start, order = 0, self.race.get_state()["order"]
        for arms, status in wells:
            alive = np.unique(arms).size
            length = arms.size // alive
            places = np.arange(start, start + length)
            yield np.repeat(places if order is None else order[places], alive)
            start += length * (status == "complete")

    @property
    def budget(self):
        """Maximum number of evaluations, or None."""
        return getattr(self.race, "budget", self.race.max_pulls)

    @property
    def k(self):
        return getattr(self.race, "k", 1)

    @property
    def decided(self):
        """True if the answer is proven."""
        return getattr(self.race, "decided", self.race.done)

    def __getattr__(self, name):
        if name in ("n_arms", "done", "n_pulls", "n_batches", "pulls", "means", "survivors",
                    "recommend"):
            return getattr(self.race, name)
        raise AttributeError(name)


# The policy class of each kind of race, by the name of the race.
RACES = {name: type(name, (RacePolicy,), {"race_type": one}) for name in betting.__all__
         if isinstance(one := getattr(betting, name), type) and issubclass(one, PairedRace)}


def as_policy(policy):
    """Return a race as a policy, or a policy unchanged; raise TypeError for anything else."""
    refuse_class("policy", policy, "a Policy or a race")
    if hasattr(policy, "tell_counts") and not hasattr(policy, "tell"):
        raise TypeError(f"policy must ask for batches; a {type(policy).__name__} takes counts: "
                        "pass it to pybandit.webtests.WebTest.create")
    if isinstance(policy, Policy):
        return policy
    if not isinstance(policy, PairedRace):
        raise TypeError(f"policy must be a Policy or a race; got {shown(policy)}")
    name = type(policy).__name__
    if name not in RACES or type(policy) is not RACES[name].race_type:
        raise TypeError(f"policy must be one of pybandit's races, or a Policy; got {name}")
    if policy._is_told_costs():
        raise ValueError("policy must be a race whose costs are known in advance: a study records "
                         "no costs; got costs='told'")
    if "ahead" in policy.get_state():
        raise ValueError("policy must be a race without an unfinished block; got one in the middle "
                         "of a block: report the rest of the block before creating the study")
    return RACES[name](policy)
