"""Similarity of the candidates of a parameter grid: families, distances and a kernel.

A family consists of the candidates of one grid with the same estimator classes. Its
candidates lie in the unit cube of their numeric parameters. Each parameter is scaled to
[0, 1], after a logarithm if its values are closer to geometric than to arithmetic. Values
that are not numbers (None, text, booleans, objects) differ by a distance of half an edge.
"""

import math
import numbers
from functools import cached_property

import joblib
import numpy as np

CATEGORY_DISTANCE = 0.5
# prior variances: of the common level, of a family's level, and within a family
SHARED, FAMILY, WITHIN = 1.0, 0.5, 1.0


class ParameterKernel:
    """Squared-exponential kernel over the candidates of a list of grids.

    Parameters
    ----------
    candidates : list of dict
        Parameter settings, as those of scikit-learn's ``ParameterGrid``.
    grids : sequence of int
        Index of each candidate's grid in the list.

    Attributes
    ----------
    families : ndarray of int64, shape (n_candidates,)
        Family of each candidate, numbered by first appearance.
    distances : ndarray of float64, shape (n_candidates, n_candidates)
        Squared distances; infinite between families.
    """

    def __init__(self, candidates, grids):
        keys = [(grid, *sorted((name, type(value).__name__) for name, value in candidate.items()
                               if _is_estimator(value)))
                for grid, candidate in zip(grids, candidates, strict=True)]
        number = {key: i for i, key in enumerate(dict.fromkeys(keys))}
        self.families = np.array([number[key] for key in keys], dtype=np.int64)
        self._candidates = candidates

    @cached_property
    def distances(self):
        """Squared distances, computed on first use: not every policy needs them."""
        distances = np.full((self.families.size, self.families.size), np.inf)
        for family in np.unique(self.families):
            members = np.flatnonzero(self.families == family)
            distances[np.ix_(members, members)] = squared_distances(
                [self._candidates[i] for i in members])
        return distances

    def __call__(self, length_scale):
        """Return the kernel matrix: the variances of both levels plus the part within families."""
        same = np.isfinite(self.distances)
        return SHARED + FAMILY * same + WITHIN * np.exp(-self.distances / length_scale**2)


def squared_distances(candidates):
    """Return squared distances between one family's candidates, float64, shape (n, n).

    They are added up parameter by parameter: coordinates for each text or object would take n
    columns.
    """
    total = np.zeros((len(candidates), len(candidates)))
    for name in sorted({name for candidate in candidates for name in candidate}):
        places, kinds = _places_and_kinds([candidate.get(name) for candidate in candidates])
        total += (places[:, None] - places) ** 2
        total += CATEGORY_DISTANCE**2 * (kinds[:, None] != kinds)
    return total


def _places_and_kinds(values):
    """Return each value's place in [0, 1] if it is a number, and the index of its category."""
    is_number = np.array([_is_number(value) for value in values])
    places = np.full(len(values), 0.5)  # values that are not numbers are in the middle
    if is_number.any():
        places[is_number] = scaled([float(v) for v in values if _is_number(v)])
    keys = keys_of(values)
    others = [None if n else keys[id(v)] for n, v in zip(is_number, values, strict=True)]
    number = {key: i for i, key in enumerate(dict.fromkeys(others))}
    return places, np.array([number[other] for other in others])


def scaled(values):
    """Map numbers to [0, 1], by their logarithm if that spaces them more evenly."""
    values = np.asarray(values, dtype=np.float64)
    distinct = np.unique(values)
    if distinct.size == 1:
        return np.full(values.size, 0.5)
    if distinct[0] > 0 and _unevenness(np.log(distinct)) < _unevenness(distinct):
        values, distinct = np.log(values), np.log(distinct)
    return (values - distinct[0]) / (distinct[-1] - distinct[0])


def _unevenness(increasing):
    steps = np.diff(increasing)
    return steps.std() / steps.mean()


def keys_of(values):
    """Return id -> key of each value; a value shared by many candidates is hashed once."""
    return {at: key_of(value) for at, value in {id(value): value for value in values}.items()}


def key_of(value):
    """Return a hashable key that is equal only for equal values of one type: True is not 1.

    A repr is not enough: Gaussian process kernels omit their bounds, and long arrays print "...".
    """
    if type(value) in (tuple, frozenset):
        return type(value), type(value)(map(key_of, value))
    try:
        hash(value)
    except TypeError:
        try:
            return type(value), joblib.hash(value)
        except Exception:  # not picklable; treating equal values as different costs a fit
            return type(value), id(value)
    return type(value), value


def _is_number(value):
    """Return True if a value converts to a finite float: fractions do, 10**400 does not."""
    if not isinstance(value, numbers.Real) or isinstance(value, (bool, np.bool_)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _is_estimator(value):
    return hasattr(value, "fit") or hasattr(value, "get_params")
