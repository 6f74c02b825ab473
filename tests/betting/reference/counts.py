"""Bets on counts as plainly as they can be written: visit by visit, in the order given.

`capitals` are what the bets against each arm have made of 1, each bet by itself, where nobody
is dropped. A reward between 0 and 1 counts as what it is: the race, which knows sums alone,
can have no more.
"""

import itertools

import numpy as np

BETS = [0.02, 0.04, 0.08, 0.16, 0.32, 0.64]


def capitals(batches):
    """Of batches, each a list of (arm, reward in [0, 1]): shape (arms, bets)."""
    n_arms = 1 + max(arm for batch in batches for arm, _ in batch)
    capital, seen = np.ones((n_arms, len(BETS))), [[] for _ in range(n_arms)]
    for batch in batches:
        here = [sum(arm == one for one, _ in batch) for arm in range(n_arms)]
        if any(map(len, seen)):
            mean = np.mean(list(itertools.chain(*seen)))
            for arm in range(n_arms):
                others = [one for one in range(n_arms) if one != arm and here[one]]
                if here[arm] and others:
                    rival = max(others, key=lambda one: (np.mean(seen[one] or [-1.0]), -one))
                    capital[arm] *= won(batch, arm, rival, here, mean)
        for arm, reward in batch:
            seen[arm].append(reward)
    return capital


def won(batch, arm, rival, here, mean):
    both = here[arm] + here[rival]
    weights = {rival: 2 * here[arm] / both, arm: -2 * here[rival] / both}
    worst = max(weights[rival] * mean, -weights[arm] * (1 - mean))
    made = []
    for bet in BETS:
        bet, product = min(bet, 0.9 / worst) if worst else bet, 1.0
        for one, reward in batch:
            if one in weights:
                product *= 1 + bet * weights[one] * (reward - mean)
        made.append(product)
    return np.array(made)
