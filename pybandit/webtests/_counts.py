"""Batches of counts: trials of each arm, and the sum of their rewards.

A policy with `tell_counts` receives them directly. For any other policy, the successes and
failures of a batch are put into a random order, and wait arm by arm until the policy asks for
them.
"""

from collections.abc import Mapping

import numpy as np

from pybandit._shared.checks import MOST_HELD, MOST_PULLS, check_integer, check_scalar, shown
from pybandit.betting import CountRace
from pybandit.betting._count_checks import outside, squares_outside
from pybandit.webtests._split import Split


class Counts:
    """State of a web test in addition to its policy.

    Attributes
    ----------
    n : int
        Number of batches recorded.
    names : list of str
        Names of added arms.
    waiting : list of ndarray of uint8
        Outcomes of each arm that the policy has not asked for yet, in order; empty for a
        policy that takes counts.
    split : Split
        The test of the split of visits.
    """

    def __init__(self, n=0, names=(), waiting=(), split=None):
        self.n, self.names, self.waiting = n, list(names), list(waiting)
        self.split = Split() if split is None else split

    @classmethod
    def of(cls, part):
        """Return the `Counts` stored in a part of a state; new ones if the part is None."""
        if part is None:
            return cls()
        ends = np.cumsum(part["lengths"])[:-1]
        waiting = np.split(part["waiting"], ends) if part["lengths"].size else ()
        return cls(part["n"], part["names"], waiting, Split(**part["split"]))

    def part(self):
        """Return the part of a state that `of` reads; an empty dict if nothing was counted."""
        if not (self.n or self.names):
            return {}
        lengths = np.array([one.size for one in self.waiting], dtype=np.int64)
        return {"n": self.n, "names": self.names, "lengths": lengths,
                "waiting": np.concatenate([np.empty(0, np.uint8), *self.waiting]),
                "split": self.split.part()}

    def take(self, policy, body):
        """Report a batch of counts to the policy."""
        trials, sums = body["trials"], body["sums"]
        if isinstance(policy, CountRace):
            # without the warnings of tell_counts: this may be a replay
            policy._tell_counts(trials, sums, body.get("squares"))
        elif hasattr(policy, "tell_counts"):
            policy.ask()  # draw now, so that random numbers do not depend on calls of split
            getattr(policy, "_tell_counts", policy.tell_counts)(trials, sums)
        else:
            new = in_random_order(trials, sums, body["seed"])
            old = self.waiting or [new[0][:0]] * len(new)
            self.waiting = played(policy, [np.concatenate(both)
                                           for both in zip(old, new, strict=True)])
        if "shares" in body:
            self.split.take(trials, body["shares"])
        self.n += 1


def in_random_order(trials, sums, seed):
    """Return the successes and failures of each arm in a uniformly random order; uint8.

    Given its number of successes, a sequence of independent outcomes with one probability has all
    orders equally likely. These outcomes, and any sequence of such batches, therefore have the
    distribution of the visits in their true order, if the outcomes of an arm are exchangeable
    within the batch, given the past, the numbers of visits and the other arms. A policy's
    guarantee for independent rewards then holds; if it needs identical distributions, they must
    also be the same in all batches. The numbers of visits must not depend on their outcomes.
    """
    rng, orders = np.random.default_rng(seed), []
    for n, successes in zip(trials.tolist(), sums.tolist(), strict=True):
        order = np.zeros(n, dtype=np.uint8)
        order[:int(successes)] = 1
        orders.append(rng.permutation(order))
    return orders


def played(policy, waiting):
    """Report waiting outcomes while they cover the policy's requests; return the remaining ones."""
    starts, sizes = np.zeros(len(waiting), dtype=np.int64), [one.size for one in waiting]
    while not policy.done:
        arms = np.asarray(policy.ask())
        needs = np.bincount(arms, minlength=len(waiting))
        if not arms.size or (starts + needs > sizes).any():
            break
        rewards = np.empty(arms.size)
        for arm in np.flatnonzero(needs):
            rewards[arms == arm] = waiting[arm][starts[arm]:starts[arm] + needs[arm]]
        policy.tell(arms, rewards)
        starts += needs
    return [one[start:].copy() for one, start in zip(waiting, starts, strict=True)]


def checked_counts(counts, names, policy):
    """Return trials, sums and squares of all arms, given ``{name: (trials, sum[, squares])}``.

    They are arrays of int64, float64 and float64; squares are None if there are none.
    """
    if not isinstance(counts, Mapping) or not counts:
        raise TypeError(f"counts must be a dict of (trials, sum) by the arms' names; got "
                        f"{shown(counts)}")
    places = {name: arm for arm, name in enumerate(names.tolist())}
    columns, sizes = np.zeros((3, names.size)), set()
    for name, row in counts.items():
        if name not in places:
            raise ValueError(f"counts must name arms of the test; got {shown(name)}")
        try:
            tried, came, *squares = row
            if len(squares) > 1:
                raise ValueError
        except (TypeError, ValueError):
            raise TypeError(f"counts must be (trials, sum) or (trials, sum, squares); got "
                            f"{shown(row)} for arm {shown(name)}") from None
        values = [check_integer(f"trials of arm {name!r}", tried, 0, MOST_PULLS)]
        for what, value in zip(("sum", "squares"), (came, *squares), strict=False):
            values.append(check_scalar(f"{what} of arm {name!r}", value, "finite", np.isfinite))
        columns[:len(values), places[name]] = values
        sizes.add(len(values))
    if len(sizes) > 1:
        raise ValueError("counts must have squares for every arm or for none; got "
                         f"{shown(dict(counts))}")
    trials, sums, squares = columns[0].astype(np.int64), columns[1], columns[2]
    check_columns(trials, sums, squares if 3 in sizes else None, names, policy)
    return trials, sums, squares if 3 in sizes else None


def check_columns(trials, sums, squares, names, policy):
    """Raise for counts that the policy will reject; messages use the names of the arms."""
    if policy.race is not None:
        _check_sums(trials, sums, squares, names, policy.race.value_range)
    elif squares is not None:
        raise ValueError(f"counts must be (trials, sum) for {type(policy).__name__}: CountRace "
                         "takes squares")
    elif not hasattr(policy.inner, "tell_counts"):
        _check_successes(trials, sums, names)


def _check_sums(trials, sums, squares, names, value_range):
    """Make the same check as the race; messages use the names of the arms."""
    bad = outside(trials, sums, value_range)
    if bad.any():
        arm = int(bad.argmax())
        raise ValueError(f"counts must have sums of rewards in {value_range}; got {sums[arm]:.15g} "
                         f"for {trials[arm]} trials of arm {names[arm]!r}")
    if squares is None:
        return
    bad = squares_outside(trials, sums, squares, value_range)
    if bad.any():
        arm = int(bad.argmax())
        raise ValueError(f"counts must have squares of rewards in {value_range}; got "
                         f"{squares[arm]:.15g} for {trials[arm]} trials of sum {sums[arm]:.15g} of "
                         f"arm {names[arm]!r}")


def _check_successes(trials, sums, names):
    """Raise if sums are not numbers of successes."""
    bad = ~((sums >= 0) & (sums <= trials) & (np.floor(sums) == sums))
    if bad.any():
        arm = int(bad.argmax())
        raise ValueError(f"counts must be integer numbers of successes, at most the trials, for a "
                         f"policy that receives single rewards; got {sums[arm]} of {trials[arm]} "
                         f"for arm {names[arm]!r}: CountRace accepts other sums")
    check_integer("trials in all", int(trials.sum(dtype=object)), 0, MOST_HELD)


def split_of(policy, n, shares=None):
    """Return the split of n trials that the policy requests: int64, one value per arm.

    `shares` are the weights of a race on counts if they are unequal.
    """
    if policy.race is not None and shares is None:
        return policy.race.split(n)
    if policy.race is not None:
        weights = np.zeros(policy.n_arms)
        weights[policy.race.survivors] = shares[policy.race.survivors]
        return _shared_out(n, weights)
    n = check_integer("n", n, 0, MOST_PULLS)
    wanted = np.asarray(policy.recommend())[:1] if policy.done else np.asarray(policy.inner.ask())
    weights = np.bincount(wanted, minlength=policy.n_arms)
    if not wanted.size:  # a policy that finds no arm
        weights += 1
    return _shared_out(n, weights)


def _shared_out(n, weights):
    exact = n * (weights / weights.sum())
    shares = np.floor(exact).astype(np.int64)
    # the rest goes to the largest remainders, among equal ones to the first
    over = np.argsort(shares - exact, kind="stable")[:n - int(shares.sum())]
    shares[over] += 1
    return shares
