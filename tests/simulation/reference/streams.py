"""SeedSequence and PCG64 in plain integers, and streams of runs by NumPy's own generators."""

import numpy as np

TWIN_OF = ["stream"]

WORD, LONG, WIDE = (1 << 32) - 1, (1 << 64) - 1, (1 << 128) - 1
MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
ARMS = 0x61726D73


class Hash:
    """The hash function of SeedSequence, which changes its constant at each call."""

    def __init__(self, start, multiplier):
        self.at, self.multiplier = start, multiplier

    def __call__(self, value):
        value ^= self.at
        self.at = self.at * self.multiplier & WORD
        value = value * self.at & WORD
        return value ^ value >> 16


def mix(x, y):
    value = (0xCA01F9DD * x - 0x4973F715 * y) & WORD
    return value ^ value >> 16


def state_words(entropy, n_words=8, pool_size=4):
    """Return what generate_state(n_words) of a SeedSequence with this entropy returns."""
    hashed = Hash(0x43B0D7E5, 0x931E8875)
    pool = [hashed(entropy[i] if i < len(entropy) else 0) for i in range(pool_size)]
    for source in range(pool_size):
        for target in range(pool_size):
            if source != target:
                pool[target] = mix(pool[target], hashed(pool[source]))
    for word in entropy[pool_size:]:
        for target in range(pool_size):
            pool[target] = mix(pool[target], hashed(word))
    hashed = Hash(0x8B51F9DD, 0x58F38DED)
    return [hashed(pool[i % pool_size]) for i in range(n_words)]


def raw_numbers(words, key, n, pool_size=4):
    """Return PCG64(SeedSequence(words, spawn_key=key)).random_raw(n)."""
    padded = words + [0] * (pool_size - len(words)) + key
    parts = state_words(padded, pool_size=pool_size)
    low, high, step_low, step_high = (parts[i] | parts[i + 1] << 32 for i in (2, 0, 6, 4))
    step = ((step_high << 64 | step_low) << 1 | 1) & WIDE
    state = (step + (high << 64 | low)) * MULTIPLIER + step & WIDE
    numbers = []
    for _ in range(n):
        state = state * MULTIPLIER + step & WIDE
        turn, folded = state >> 122, (state >> 64 ^ state) & LONG
        numbers.append((folded >> turn | folded << (64 - turn)) & LONG)
    return numbers


def run_generator(seed, i):
    """Return the generator of run i."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(i,)))


def arm_generator(seed, i, arm):
    """Return the generator of an arm's common rewards in run i."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(i, ARMS, arm)))


def common_rewards(seed, i, means, n):
    """Return the first n common rewards of each arm, Gaussian with variance 1."""
    return np.array([mean + arm_generator(seed, i, arm).standard_normal(n)
                     for arm, mean in enumerate(means)])
