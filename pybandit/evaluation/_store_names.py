"""Keys of a store as text: names of models and labels of items, in any order."""

import hashlib
import json

PAIR = "["  # first character of the text of two models, a JSON list


class Names:
    """Names of the models and items of one evaluation, and their text in the file.

    Parameters
    ----------
    arms : sequence of str
        Names of the models.
    labels : sequence or None
        Labels of the items; None if they are numbers.
    n_items : int
        The number of items.
    """

    def __init__(self, arms, labels, n_items):
        self._arms, self._n_items = set(arms), n_items
        # 7 and "7" are the same label in the file: `items_of` refuses both in one evaluation
        self._labels = None if labels is None else {str(label): label for label in labels}

    def about(self):
        """Return the facts about the items that the file records, as text by name."""
        items = "numbers"
        if self._labels is not None:
            text = "\0".join(sorted(self._labels))
            items = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
        return {"n_items": str(self._n_items), "items": items}

    def of(self, key):
        """Return the text of a key, ``(model, item)`` or ``(model, model, item)``."""
        *arms, item = key
        return _text(arms), str(item)

    def key(self, place):
        """Return the key of a text, or None if this evaluation has no such model or item."""
        arms, item = _arms(place[0]), self._item(place[1])
        return (*arms, item) if item is not None and self._arms.issuperset(arms) else None

    def _item(self, text):
        if self._labels is not None:
            return self._labels.get(text)
        number = int(text) if text.isdecimal() and len(text) < 20 else self._n_items
        return number if number < self._n_items else None


def _text(arms):
    """Return the text of one model or of two.

    A single name that begins like the text of two is written as a JSON list of one name.
    """
    if len(arms) == 1 and not arms[0].startswith(PAIR):
        return arms[0]
    return json.dumps(list(arms), ensure_ascii=False)


def _arms(text):
    """Return the models of a text."""
    if not text.startswith(PAIR):
        return [text]
    try:
        arms = json.loads(text)
    except ValueError:
        return [text]
    return arms if isinstance(arms, list) and all(isinstance(one, str) for one in arms) else [text]
