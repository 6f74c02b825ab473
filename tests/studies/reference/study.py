"""Reference implementation of a study: a policy and lists, without a file."""

import copy
import math

OVER = "complete", "closed"


class Refused(Exception):
    """Raised for calls that a study rejects."""


class Study:
    """A study whose batches are dicts with arms, status, values (None: unknown) and marks."""

    def __init__(self, policy):
        self.policy, self.batches, self.late = policy, [], []
        self.first, self.events = copy.deepcopy(policy), []

    def ask(self):
        if not self.batches or self.batches[-1]["status"] != "open":
            if self.policy.done:
                return None
            arms = self.policy.ask().tolist()
            self.events.append(("ask", len(self.batches), None))
            self.batches.append(dict(arms=arms, status="open", values=[None] * len(arms),
                                     marks=["open"] * len(arms), withdrawn=set()))
        return len(self.batches) - 1, self.batches[-1]["arms"]

    def tell(self, number, values, drop=False):
        """Report `values`, a dict of values by position; NaN is missing."""
        batch = self.find(number)
        told = {at: value for at, value in values.items() if not math.isnan(value)}
        for at, value in told.items():
            if batch["marks"][at] in ("known", "late") and batch["values"][at] != value:
                raise Refused("another value")
        if batch["status"] == "abandoned" and told:
            raise Refused("abandoned")
        new = {at: value for at, value in told.items()
               if batch["marks"][at] == "open" or (batch["marks"][at] == "lost"
                                                   and (at, value) not in batch["withdrawn"])}
        late = batch["status"] in OVER
        if new:
            self.events.append(("late" if late else "tell", number, new))
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

    def amend(self, number, values):
        """Correct `values`, a dict of values by position; NaN withdraws."""
        batch = self.find(number)
        if batch["status"] == "abandoned":
            raise Refused("abandoned")
        had = {at for at in values if batch["marks"][at] in ("known", "late")}
        had |= values.keys() & {at for at, _ in batch["withdrawn"]}
        if any(not math.isnan(values[at]) for at in values.keys() - had):
            raise Refused("nothing to amend")
        new = {at: values[at] for at in had
               if values[at] != batch["values"][at]
               and not (math.isnan(values[at]) and batch["values"][at] is None)}
        for at, value in new.items():
            if math.isnan(value):
                batch["withdrawn"].add((at, batch["values"][at]))
                batch["marks"][at] = "lost"
            elif batch["values"][at] is None:
                batch["marks"][at] = "known" if batch["status"] == "open" else "late"
            batch["values"][at] = None if math.isnan(value) else value
            # the last event that reported it
            told = [told for kind, of, told in self.events
                    if of == number and kind in ("tell", "late") and at in told][-1]
            told[at] = value
        if new and batch["status"] != "open":
            self.tell_again()
        return len(new), len(values) - len(new)

    def tell_again(self):
        """Return the policy started again and given the pulls, [arm, value] each."""
        policy, pulls, told, late, asked = copy.deepcopy(self.first), [], {}, [], False
        for kind, number, values in self.events:
            batch = self.batches[number]
            if kind == "ask":
                told[number], asked = {}, True
            elif kind == "tell":
                told[number] |= values
            elif kind == "late":
                known = {at: value for at, value in values.items() if not math.isnan(value)}
                late += [(batch["arms"][at], value) for at, value in known.items()]
            else:
                asked = False
                pulls += [(arm, told[number].get(at, math.nan))
                          for at, arm in enumerate(batch["arms"])]
                pulls = force(policy, pulls, False)
            if not asked:
                late = add(policy, late)
        late += [pull for pull in force(policy, pulls, True) if not math.isnan(pull[1])]
        if not asked:
            late = add(policy, late)
        if self.batches[-1]["status"] == "open":
            policy.ask()  # makes its random draws
        self.policy, self.late = policy, [([arm], [value]) for arm, value in late]

    def find(self, number):
        if not 0 <= number < len(self.batches):
            raise Refused("no such batch")
        return self.batches[number]

    def finish(self, batch, status):
        batch["status"] = status
        self.events.append(("over", self.batches.index(batch), None))
        values = [math.nan if value is None else value for value in batch["values"]]
        pulls = force(self.policy, list(zip(batch["arms"], values, strict=True)), True)
        left = [pull for pull in pulls if not math.isnan(pull[1])]
        if left:
            self.late.append(tuple(map(list, zip(*left, strict=True))))
        self.take_late()

    def take_late(self):
        if self.batches[-1]["status"] not in OVER:
            return
        add(self.policy, [(arm, value) for arms, values in self.late
                          for arm, value in zip(arms, values, strict=True)])
        self.late = []


def add(policy, late):
    """Report late results one by one, as many as were lost."""
    for arm, value in late:
        if policy.n_pulls > policy.pulls.sum():
            policy.add_late([arm], [value])
    return []


def force(policy, pulls, is_last):
    """Report pulls, (arm, value) each, as the policy asks for them; return the remaining ones.

    If it asks for others, it is asked once more without a report, so that it makes the same
    random draws.
    """
    is_forced = bool(pulls) and not policy.done and policy.ask().tolist() != [
        arm for arm, _ in pulls]
    while pulls and not policy.done:
        asked = policy.ask().tolist()
        if len(asked) > len(pulls) and not is_last:
            break
        values, others, pulls = [], [], list(pulls)
        for arm in asked:
            found = next((pull for pull in pulls if pull[0] == arm), None)
            values.append(math.nan if found is None else found[1])
            if found is None:
                others.append(arm)
            else:
                pulls.remove(found)
        policy.tell(asked, values, missing="drop")
        late = [pull for pull in pulls[:len(others)] if not math.isnan(pull[1])]
        policy.add_late([arm for arm, _ in late], [value for _, value in late])
        pulls = pulls[len(others):]
        if is_forced and not policy.done:
            policy.ask()
    return pulls
