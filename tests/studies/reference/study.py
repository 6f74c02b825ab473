"""A study as plain as can be: a policy, lists, and no file."""

import math

OVER = "complete", "closed"


class Refused(Exception):
    """What a study would refuse."""


class Study:
    """Batches are dicts: arms, status, values (None: not known), marks."""

    def __init__(self, policy):
        self.policy, self.batches, self.late = policy, [], []

    def ask(self):
        if not self.batches or self.batches[-1]["status"] != "open":
            if self.policy.done:
                return None
            arms = self.policy.ask().tolist()
            self.batches.append(dict(arms=arms, status="open", values=[None] * len(arms),
                                     marks=["open"] * len(arms)))
        return len(self.batches) - 1, self.batches[-1]["arms"]

    def tell(self, number, values, drop=False):
        """`values`: a dict from position to value, NaN where missing."""
        batch = self.find(number)
        told = {at: value for at, value in values.items() if not math.isnan(value)}
        for at, value in told.items():
            if batch["marks"][at] in ("known", "late") and batch["values"][at] != value:
                raise Refused("another value")
        if batch["status"] == "abandoned" and told:
            raise Refused("abandoned")
        new = {at: value for at, value in told.items() if batch["marks"][at] in ("open", "lost")}
        late = batch["status"] in OVER
        for at, value in new.items():
            batch["values"][at] = value
            batch["marks"][at] = "late" if late else "known"
        if late and new:
            self.late.append(([batch["arms"][at] for at in new], list(new.values())))
            self.take_late()
        if drop and batch["status"] == "open":
            for at in values.keys() - told.keys():
                if batch["marks"][at] == "open":
                    batch["marks"][at] = "lost"
        if batch["status"] == "open" and "open" not in batch["marks"]:
            self.finish(batch, "complete")
        return len(new), len(told) - len(new), batch["status"] != "open"

    def close(self, number):
        batch = self.find(number)
        if batch["status"] == "abandoned":
            raise Refused("abandoned")
        if batch["status"] == "open":
            batch["marks"] = ["lost" if mark == "open" else mark for mark in batch["marks"]]
            self.finish(batch, "closed")

    def abandon(self, number, discard=False):
        batch = self.find(number)
        if batch["status"] in OVER:
            raise Refused("over")
        if batch["status"] == "open":
            if not discard and set(batch["marks"]) != {"open"}:
                raise Refused("has results")
            batch["status"] = "abandoned"

    def find(self, number):
        if not 0 <= number < len(self.batches):
            raise Refused("no such batch")
        return self.batches[number]

    def finish(self, batch, status):
        batch["status"] = status
        values = [math.nan if value is None else value for value in batch["values"]]
        self.policy.tell(batch["arms"], values, missing="drop")
        self.take_late()

    def take_late(self):
        if self.batches[-1]["status"] not in OVER:
            return
        for arms, values in self.late:
            self.policy.add_late(arms, values)
        self.late = []
