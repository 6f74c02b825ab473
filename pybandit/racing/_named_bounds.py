"""Bounds by name: "student" and "normal"."""

from pybandit._shared.checks import check_choice, refuse_class, shown
from pybandit.racing.bounds import NormalBound, StudentBound

SHORTCUTS = {"student": StudentBound, "normal": NormalBound}
# Bounds that need a range, and the expressions that make them.
NEED_RANGES = {"ebs": "pb.racing.EBSBound(value_range=..., delta=...)",
               "betting": "pb.racing.BettingBound(value_range=(low, high), delta=...)"}
# Attributes of any bound object.
PROTOCOL = ("terms", "default_first_look", "smallest_first_look")


def as_bound(bound, delta):
    """Return the bound object for the arguments `bound` and `delta` of a race."""
    if not isinstance(bound, str):
        refuse_class("bound", bound, "a bound object")
        if not all(hasattr(bound, name) for name in PROTOCOL):
            raise TypeError(f"bound must be a bound object or one of {sorted(SHORTCUTS)}; got "
                            f"{shown(bound)}")
        if bound.__hash__ is None:
            raise TypeError(f"bound must be hashable, as frozen dataclasses are; got "
                            f"{shown(bound)}")
        if delta is not None:
            raise ValueError(f"delta must be given to the bound object itself if bound is one; "
                             f"got delta={shown(delta)} and bound={bound!r}")
        return bound
    if bound in NEED_RANGES:
        raise ValueError(f"bound must be an object for {bound!r}, which needs a range; got a "
                         f"string: write bound={NEED_RANGES[bound]}")
    check_choice("bound", bound, tuple(SHORTCUTS))
    return SHORTCUTS[bound](**({} if delta is None else {"delta": delta}))


def words_of(bound):
    """Return the name and delta of a bound, for a repr."""
    name = type(bound).__name__
    known = {"StudentBound": "student", "NormalBound": "normal", "EBSBound": "ebs",
             "BettingBound": "betting"}
    delta = getattr(bound, "delta", None)
    return known.get(name, name) + ("" if delta is None else f", delta {delta:g}")
