"""Policy of a web test's study: a policy or race together with its counts."""

from functools import cache
from typing import Any

import numpy as np

from pybandit._shared.checks import LARGEST_REWARD, MOST_PULLS
from pybandit.betting import CountRace
from pybandit.studies._codec import flat
from pybandit.studies._journal import repeated
from pybandit.studies._recorder import type_of
from pybandit.webtests._counts import Counts

# name of the part of a state that belongs to the test instead of the policy
PART = "webtest.counts"


class CountedPolicy:
    """A policy, or a race on counts, that takes batches of counts from events of a log.

    Attributes
    ----------
    inner : Policy, RacePolicy or CountRace
    race : CountRace or None
        `inner` if it is a race.
    counts : Counts
    """

    inner_type: Any
    events = ("counts", "arm", "retire", "amend")

    def __init__(self, inner, counts=None):
        self.inner, self.counts = inner, Counts() if counts is None else counts

    @classmethod
    def from_state(cls, state):
        state = dict(state)
        part = state.pop(PART, None)
        inner = cls.inner_type.from_state(state)
        check_part(part, inner.n_arms)
        return cls(inner, Counts.of(part))

    def get_state(self):
        part = self.counts.part()
        return self.inner.get_state() | ({PART: part} if part else {})

    @property
    def wrapped(self):
        """The object that the user passed."""
        return getattr(self.inner, "wrapped", self.inner)

    @property
    def race(self):
        return self.inner if isinstance(self.inner, CountRace) else None

    @property
    def names_added(self):
        """Names of the arms added since the test began."""
        return self.counts.names

    @property
    def n_recorded(self):
        """Number of batches of counts."""
        return self.counts.n

    @property
    def k(self):
        return getattr(self.inner, "k", 1)

    @property
    def decided(self):
        """True if the answer is proven; a race on counts is then done."""
        return getattr(self.inner, "decided", self.inner.done)

    def __getattr__(self, name):
        if name.startswith("_") or name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)

    def ask(self):
        raise ValueError("a web test does not ask for batches: split returns the next trials of "
                         "each arm, tell_counts records their counts")

    def apply(self, kind, body, past):
        """Apply an event; `past()` returns all events before it."""
        if kind == "counts":
            self.counts.take(self.inner, body)
        elif kind == "arm":
            self.inner.add_arm()
            self.counts.names.append(body["name"])
        elif kind == "retire":
            self.inner.retire(body["arm"])
        else:
            again = repeated(lambda one: self._repeated(past, one), body)
            self.inner, self.counts = again.inner, again.counts

    def _repeated(self, past, amendment):
        """Return the policy after all batches, with their counts as they are known now."""
        events = iter(past())
        _, first = next(events)
        again = type(self).from_state(first["state"])
        for kind, body in corrected(events, amendment):
            again.apply(kind, body, None)
        return again


def corrected(past, amendment):
    """Return the events before an amendment with all counts corrected.

    Parameters
    ----------
    past : iterable of (kind, body)
        Events after "create"; they are not modified.
    amendment : dict or None
        Body of the amendment that follows these events; None if there is none.

    Returns
    -------
    list of (kind, body)
        Events without amendments.
    """
    events, told_by = [], {}
    for kind, body in past:
        if kind == "amend":
            _correct(events, told_by, body)
            continue
        if kind == "counts":
            told_by[body["key"]] = len(events)
        events.append((kind, body))
    if amendment is not None:
        _correct(events, told_by, amendment)
    return events


def _correct(events, told_by, amendment):
    """Put an amendment's counts into the event that reported them."""
    number = told_by[amendment["key"]]
    kept = {name: value for name, value in events[number][1].items() if name != "squares"}
    new = {name: amendment[name] for name in ("trials", "sums", "squares") if name in amendment}
    if new["trials"].size != kept["trials"].size:
        raise ValueError(f"counts of {amendment['key']!r} must have {kept['trials'].size} arms; "
                         f"got {new['trials'].size}")
    events[number] = "counts", kept | new


@cache
def counted_type(inner_type):
    """Return the subclass of `CountedPolicy` for a class of policies or races, with its name."""
    return type(inner_type.__name__, (CountedPolicy,), {"inner_type": inner_type})


def counted_type_of(name, policy_type):
    """Return the class of a web test's policy by name; see `studies._recorder.type_of`."""
    if name == CountRace.__name__ and policy_type in (None, CountRace):
        return counted_type(CountRace)
    return counted_type(type_of(name, policy_type))


def check_part(part, n_arms):
    """Raise ValueError if `part` is not a valid return value of `Counts.part`."""
    if part is None:
        return
    n, names = part["n"], part["names"]
    arrays = part["lengths"], part["waiting"]
    if not (type(n) is int and 0 <= n <= MOST_PULLS and type(names) is list
            and all(type(name) is str for name in names)
            and flat(arrays[:1], (np.int64,)) and flat(arrays[1:], (np.uint8,))
            and arrays[0].size in (0, n_arms) and (arrays[0] >= 0).all()
            and arrays[0].sum() == arrays[1].size and (arrays[1] <= 1).all()
            and _is_split(part["split"], n_arms)):
        raise ValueError(f"its counts are not those of a test of {n_arms} arms")


def _is_split(split, n_arms):
    """Return True if this is a valid state of the test of the split with `n_arms` arms."""
    shares, counts = split["shares"], split["counts"]
    return (flat((shares, counts), (np.float64, np.int64)) and shares.size <= n_arms
            and bool(((shares >= 0) & (shares <= 1)).all() and (counts >= 0).all()
                     and (counts <= MOST_PULLS).all())
            and all(type(split[name]) is float and abs(split[name]) <= LARGEST_REWARD
                    for name in ("past", "most")) and split["most"] >= 0)
