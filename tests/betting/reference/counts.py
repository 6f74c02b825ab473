"""Reference implementation of bets on counts: visit by visit, in the order given.

`capitals` is the wealth of each bet against each arm if no arm is dropped. It uses every single
reward in [0, 1]. The race knows only sums, so it cannot have more wealth.
"""

import itertools
import math

import numpy as np

STEPS = range(-9, 21)


def weight_of(j):
    """Return the weight of bet j: equal for 0 to 3; k steps outside, as 1 / (k (k + 1))."""
    if 0 <= j <= 3:
        return 0.85 / 4
    k, most, share = (-j, 9, 0.05) if j < 0 else (j - 3, 17, 0.10)
    return share / (k * (k + 1)) / sum(1 / (i * (i + 1)) for i in range(1, most + 1))


WEIGHTS = np.array([weight_of(j) for j in STEPS])


def scale(n, s, q, trials):
    """Return 1 / sqrt(variance of a reward * mean trials per arm); one reward of 1/2 is added."""
    variance = (q + 0.25) / (n + 1) - ((s + 0.5) / (n + 1)) ** 2
    return 1.0 / math.sqrt(variance * np.mean(trials))


def log_factor(n, s, q, stake, level):
    """Return the least sum of log(1 + stake (x - level)): n rewards, sum s, sum of squares q."""
    if n == 0:
        return 0.0
    if stake < 0:
        s, q, stake, level = n - s, n - 2 * s + q, -stake, 1 - level
    q = min(max(q, s * s / n), s)
    if q <= 0:  # q may also be 0 because squares underflow
        return n * math.log1p(-stake * level)
    k = s * s / q
    return k * math.log1p(stake * (q / s - level)) + (n - k) * math.log1p(-stake * level)


def log_wealth(logs):
    """Return the log of the weighted mean wealth, given logs; the last axis is the bets."""
    logs = logs + np.log(WEIGHTS)
    top = logs.max(axis=-1, keepdims=True)
    return (top + np.log(np.exp(logs - top).sum(axis=-1, keepdims=True)))[..., 0]


def capitals(batches, with_squares=True):
    """Return the wealth after batches of (arm, reward in [0, 1]): shape (arms, bets).

    With `with_squares` False, the stakes use the sums alone.
    """
    n_arms = 1 + max(arm for batch in batches for arm, _ in batch)
    capital, seen, bets = np.ones((n_arms, len(STEPS))), [[] for _ in range(n_arms)], None
    for batch in batches:
        here = [sum(arm == one for one, _ in batch) for arm in range(n_arms)]
        present = [arm for arm in range(n_arms) if here[arm]]
        if any(seen[arm] for arm in present) and len(present) > 1:
            past = np.array(list(itertools.chain(*seen)))
            if bets is None:
                squares = (past**2 if with_squares else past).sum()
                u = scale(past.size, past.sum(), squares, [here[arm] for arm in present])
                bets = [1.2 * u * 2.0**-j for j in STEPS]
            for arm in present:
                rival = max((one for one in present if one != arm),
                            key=lambda one: (np.mean(seen[one] or [-1.0]), -one))
                capital[arm] *= won(batch, arm, rival, here, past.mean(), bets)
        for arm, reward in batch:
            seen[arm].append(reward)
    return capital


def won(batch, arm, rival, here, mean, bets):
    both = here[arm] + here[rival]
    weights = {rival: 2 * here[arm] / both, arm: -2 * here[rival] / both}
    worst = max(0.9, weights[rival] * mean, -weights[arm] * (1 - mean))
    made = []
    for bet in bets:
        bet, product = min(bet, 0.9 / worst), 1.0
        for one, reward in batch:
            if one in weights:
                product *= 1 + bet * weights[one] * (reward - mean)
        made.append(product)
    return np.array(made)
