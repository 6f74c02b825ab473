"""Names of models and labels of items: arguments of functions, and keys of stored scores."""

import numpy as np

from pybandit._shared.checks import as_list, check_integer, shown
from pybandit.betting._paired import MOST_ARMS


class Keys:
    """Keys of stored scores: names of models and labels of items, or their numbers.

    Attributes
    ----------
    names : tuple of str or None
        Names of the models; None if the caller gave none.
    labels : tuple or None
        Labels of the items; None if the caller gave none.
    """

    def __init__(self, names=None, labels=None):
        self.names, self.labels = names, labels

    def of(self, place):
        """Return the key of a place: ``(model, item)`` or ``(model, model, item)``, in numbers."""
        *models, item = place
        if self.names is not None:
            models = [self.names[model] for model in models]
        return (*models, self.item(item))

    def item(self, item):
        """Return the label of an item, or its number."""
        return item if self.labels is None else self.labels[item]

    def model(self, model):
        """Return the argument of a function for a model: its name, or its number."""
        return model if self.names is None else self.names[model]

    def check(self, key, name):
        """Raise TypeError if `key` does not have the form of these keys."""
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
    """Return the names, or None, and the number of models; `models` is names or a number."""
    if models is None:
        raise ValueError("models must be given if scores is a function: their number, or their "
                         "names; got None")
    if _is_number(models):
        return None, check_integer("models", models, 2, MOST_ARMS)
    names = tuple(str(name) if isinstance(name, np.str_) else name
                  for name in as_list("models", models, "a number, or names"))
    for name in names:
        if not isinstance(name, str) or not name:
            raise TypeError("models must be a number, or a sequence of names (non-empty text); "
                            f"got {shown(name)} among them")
    if not 2 <= len(names) <= MOST_ARMS:
        raise ValueError(f"models must be at least 2 names and at most {MOST_ARMS:,}; got "
                         f"{len(names):,}")
    _check_once("models", names)
    return names, len(names)


def items_of(items):
    """Return the labels, or None, and the number of items; `items` is labels or a number."""
    if items is None:
        raise ValueError("items must be given if scores is a function: their number, or their "
                         "labels; got None")
    if _is_number(items):
        return None, check_integer("items", items, 1)
    labels = as_list("items", items, "a number, or labels")
    labels = tuple(label.item() if isinstance(label, (np.integer, np.str_)) else label
                   for label in labels)
    for label in labels:
        if not isinstance(label, (str, int)) or isinstance(label, bool):
            raise TypeError("items must be a number, or labels (text or integers); got "
                            f"{shown(label)} among them")
    _check_once("items", labels)
    # a file stores text: 7 and "7" would be the same item
    _check_once("items as text", tuple(map(str, labels)))
    return labels, len(labels)


def _is_number(given):
    """Return True unless `given` is a sequence; `check_integer` then refuses other types."""
    if isinstance(given, np.ndarray):
        return given.ndim == 0
    return isinstance(given, (str, bytes, dict)) or not hasattr(given, "__iter__")


def _check_once(name, labels):
    seen = set()
    for label in labels:
        if label in seen:
            raise ValueError(f"{name} must differ from each other; got {shown(label)} twice")
        seen.add(label)
