"""Models and items of a store: numbers that stay, whatever the order in which names are given."""

SCHEMA = """
CREATE TABLE models (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE items (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
"""


class Names:
    """The names of one evaluation, and the numbers that the file has for them.

    Parameters
    ----------
    models, items : sequence or None
        Names of the models and labels of the items; None if they are numbers.
    n_models : int
        The number of models, if they are numbers.
    """

    def __init__(self, models=None, items=None, n_models=0):
        self.are_models, self.n_models = models is not None, n_models
        self._given = {"models": models, "items": items}
        self._numbers, self._names = {}, {}

    def about(self, n_items):
        """Facts about the keys, which the file keeps."""
        models, items = self._given["models"], self._given["items"]
        about = {"models": "numbers" if models is None else "names",
                 "items": "numbers" if items is None else "labels"}
        return about if items is not None else {"n_items": str(n_items), **about}

    def join(self, db):
        """Number the names that the file does not know, and read the numbers of the others."""
        for table, given in self._given.items():
            if given is None:
                continue
            # 7 and "7" are one label on the disk; the border refuses both in one evaluation
            known = {name: number for number, name in db.execute(f"SELECT * FROM {table}")}
            new = [(str(name),) for name in given if str(name) not in known]
            if new:
                db.executemany(f"INSERT INTO {table} (name) VALUES (?)", new)
                known = {name: number for number, name in db.execute(f"SELECT * FROM {table}")}
            self._numbers[table] = {name: known[str(name)] for name in given}
            self._names[table] = {number: name for name, number in self._numbers[table].items()}

    def of(self, key):
        """The numbers of a key, ``(model, item)``; KeyError for a name that was not given."""
        model, item = key
        numbers = self._numbers
        return (numbers["models"][model] if "models" in numbers else model,
                numbers["items"][item] if "items" in numbers else item)

    def item(self, item):
        """The number of an item."""
        return self._numbers["items"][item] if "items" in self._numbers else item

    def key(self, place):
        """The key of numbers, or None if this evaluation does not have the name."""
        model, item = place
        if "models" in self._names:
            model = self._names["models"].get(model)
        if "items" in self._names:
            item = self._names["items"].get(item)
        return None if model is None or item is None else (model, item)
