"""Names of models and labels of items, which functions are called with and scores are kept by."""

import numpy as np

from pybandit._shared.checks import as_list, check_integer, shown
from pybandit.betting._paired import MOST_ARMS


class Keys:
    """The keys that scores are kept by: names of models and labels of items, else their numbers.

    Attributes
    ----------
    names : tuple of str or None
        Of the models, where the caller gave names.
    labels : tuple or None
        Of the items, where the caller gave labels.
    """

    def __init__(self, names=None, labels=None):
        self.names, self.labels = names, labels

    def of(self, place):
        """The key of a place, ``(model, item)`` or ``(model, model, item)``, all numbers."""
        *models, item = place
        if self.names is not None:
            models = [self.names[model] for model in models]
        return (*models, self.item(item))

    def item(self, item):
        """The label of an item, or its number."""
        return item if self.labels is None else self.labels[item]

    def model(self, model):
        """The argument of a function for a model: its name, or its number."""
        return model if self.names is None else self.names[model]

    def check(self, key, name):
        """Raise TypeError unless this is of the form of the keys that are used here."""
        is_name = self._is_number if self.names is None else lambda one: isinstance(one, str)
        is_label = self._is_number if self.labels is None else lambda one: True
        if not (isinstance(key, tuple) and len(key) > 1 and all(map(is_name, key[:-1]))
                and is_label(key[-1])):
            model = "integers" if self.names is None else "names"
            item = "integers" if self.labels is None else "labels"
            raise TypeError(f"{name} must have keys (model, item), or (a, b, item) of pairs, with "
                            f"{model} for models and {item} for items; got {shown(key)}")

    @staticmethod
    def _is_number(one):
        return isinstance(one, (int, np.integer)) and not isinstance(one, bool) and one >= 0


def models_of(models):
    """Names, or None, and the number of models, given as names or as their number."""
    if models is None:
        raise ValueError("models must be given where scores is a function: their number, or their "
                         "names; got None")
    if _is_number(models):
        return None, check_integer("models", models, 2, MOST_ARMS)
    names = tuple(str(name) if isinstance(name, np.str_) else name
                  for name in as_list("models", models, "a number, or names"))
    for name in names:
        if not isinstance(name, str) or not name:
            raise TypeError("models must be a number, or a sequence of names, which are text; got "
                            f"{shown(name)} among them")
    if not 2 <= len(names) <= MOST_ARMS:
        raise ValueError(f"models must be at least 2 names and at most {MOST_ARMS:,}; got "
                         f"{len(names):,}")
    _check_once("models", names)
    return names, len(names)


def items_of(items):
    """Labels, or None, and the number of items, given as labels or as their number."""
    if items is None:
        raise ValueError("items must be given where scores is a function: their number, or their "
                         "labels; got None")
    if _is_number(items):
        return None, check_integer("items", items, 1)
    labels = as_list("items", items, "a number, or labels")
    labels = tuple(label.item() if isinstance(label, (np.integer, np.str_)) else label
                   for label in labels)
    for label in labels:
        if not isinstance(label, (str, int)) or isinstance(label, bool):
            raise TypeError("items must be a number, or labels, which are text or integers; got "
                            f"{shown(label)} among them")
    _check_once("items", labels)
    # a file keeps text: 7 and "7" would be one item there
    _check_once("items as text", tuple(map(str, labels)))
    return labels, len(labels)


def _is_number(given):
    """Return True unless this is a sequence; the check of numbers refuses all the rest."""
    if isinstance(given, np.ndarray):
        return given.ndim == 0
    return isinstance(given, (str, bytes, dict)) or not hasattr(given, "__iter__")


def _check_once(name, labels):
    seen = set()
    for label in labels:
        if label in seen:
            raise ValueError(f"{name} must differ from each other; got {shown(label)} twice")
        seen.add(label)
