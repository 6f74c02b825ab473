"""Labels of values: the index of a series is always compared with the expected labels."""

import numpy as np

from pybandit._shared.checks import labels_of, shown

REMEDY = "pass .to_numpy() if the values are in that order"


def differing(held, expected):
    """Return the first difference between two lists of labels, in words."""
    if len(held) != len(expected):
        return f"{len(held)} labels for {len(expected)}"
    at = next(at for at, (wanted, given) in enumerate(zip(expected, held, strict=True))
              if not _same(wanted, given))
    return f"{shown(held[at])} where {shown(expected[at])} was expected, at position {at}"


def are_same(held, expected):
    """Return True if two lists of labels are equal, in the same order."""
    return len(held) == len(expected) and all(map(_same, held, expected))


def _same(one, other):
    try:
        return one is other or bool(one == other)
    except Exception:  # labels may be objects of any class
        return False


def unlabelled(values):
    """Return the values of a series or a frame; return other values unchanged."""
    return values.to_numpy() if hasattr(values, "to_numpy") else values


def in_order(name, values, *expected, what="the index of the scores"):
    """Return `values` if they have no labels, or the labels of one of the lists `expected`.

    Raises
    ------
    ValueError
        If the labels differ; the message names the first difference.
    """
    held = labels_of(values)
    if held is None:  # as usual: the lists below have one entry per item
        return values
    known = [list(one) for one in expected if one is not None]
    if not known or any(are_same(held, one) for one in known):
        return values
    raise ValueError(f"{name} must have {what}, in their order; got "
                     f"{differing(held, known[0])}: {REMEDY}")


def aligned(name, values, expected, what):
    """Return `values` in the order of `expected`, a list of labels.

    The index of a series gives the label of each value. An index 0, 1, 2, ... that differs from
    `expected` is refused, because it may be the default index of pandas.

    Raises
    ------
    ValueError
        If the index has other labels or repeated labels, or may be the default index.
    """
    held = labels_of(values)
    if held is None or are_same(held, expected):
        return values
    if are_same(held, range(len(held))):
        raise ValueError(f"{name} must have the index of {what}; got 0, 1, 2, ... to "
                         f"{len(held) - 1}: {REMEDY}")
    places = {label: place for place, label in enumerate(held)}
    if len(held) == len(expected) and len(places) == len(held) and all(
            label in places for label in expected):
        order = [places[label] for label in expected]
        return np.asarray(values)[order]
    raise ValueError(f"{name} must have the index of {what}; got {differing(held, expected)}: "
                     f"{REMEDY}")


def told_in_order(name, values, arms, items=None):
    """Refuse values given to `tell` whose index does not hold the arms or the items.

    The index of a series may be that of the series `arms` (or `items`), or hold the arms, the
    items, or pairs of them.
    """
    if type(values) in (np.ndarray, list, tuple, float, int):
        return
    held = labels_of(values)
    if held is None:
        return
    given = [arms] if items is None else [arms, items]
    numbers = [np.asarray(one).tolist() for one in given]
    known = [*filter(None, map(labels_of, given)), *numbers]
    if items is not None and len(numbers[0]) == len(numbers[1]):
        known.append(list(zip(*numbers, strict=True)))
    if not any(are_same(held, one) for one in known):
        raise ValueError(f"{name} must have the index of arms, in their order; got "
                         f"{differing(held, known[0])}: {REMEDY}")
