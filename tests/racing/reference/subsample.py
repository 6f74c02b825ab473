"""Reference implementation of the five kinds of index streams, one index at a time.

Each class has restart(bits), which starts a new order, and next(bits, n), which returns its
next n indices.
"""

import itertools
import math
from fractions import Fraction

TWIN_OF = ("subsample",)  # kernels of csrc

MASK = (1 << 64) - 1


class Permutation:
    """Partial Fisher-Yates shuffle; each order starts from the permutation of the last one."""

    def __init__(self, size, run=1):
        self.size = size
        self.order = list(range(size))

    def restart(self, bits):
        self.position = 0

    def next(self, bits, n):
        for at in range(self.position, self.position + n):
            chosen = at + bits.below(self.size - at)
            self.order[at], self.order[chosen] = self.order[chosen], self.order[at]
        self.position += n
        return self.order[self.position - n : self.position]


class Rejection:
    """Uniform indices, drawn again if already read."""

    def __init__(self, size, run=1):
        self.size = size

    def restart(self, bits):
        self.read = []

    def next(self, bits, n):
        target = len(self.read) + n
        while len(self.read) < target:
            index = bits.below(self.size)
            if index not in self.read:
                self.read.append(index)
        return self.read[target - n :]


class Blocks:
    """Blocks of consecutive rows from a random origin; a shorter block is last."""

    def __init__(self, size, run):
        self.size, self.run = size, run
        self.order = list(range(size // run))

    def restart(self, bits):
        self.position = 0
        self.origin = bits.below(self.size)

    def next(self, bits, n):
        rows = [self._row(bits, position) for position in range(self.position, self.position + n)]
        self.position += n
        return rows

    def _row(self, bits, position):
        block, within = divmod(position, self.run)
        whole = len(self.order)
        if within == 0 and block < whole:
            chosen = block + bits.below(whole - block)
            self.order[block], self.order[chosen] = self.order[chosen], self.order[block]
        which = self.order[block] if block < whole else block
        return (self.origin + which * self.run + within) % self.size


class Groups(Blocks):
    """Blocks that start at row 0."""

    def restart(self, bits):
        self.position = self.origin = 0


class Keyed:
    """A 12-round Feistel network on a height x width grid, repeated for cells outside."""

    ROUNDS = 12

    def __init__(self, size, run=1):
        self.size = size
        self.width = math.isqrt(size - 1) + 1
        self.height = -(-size // self.width)

    def restart(self, bits):
        self.position = 0
        self.keys = [bits.next_uint64() for _ in range(self.ROUNDS)]

    def next(self, bits, n):
        self.position += n
        return [self._walk(position) for position in range(self.position - n, self.position)]

    def _walk(self, index):
        index = self._network(index)
        while index >= self.size:
            index = self._network(index)
        return index

    def _network(self, index):
        left, right = divmod(index, self.width)
        for even, odd in zip(self.keys[::2], self.keys[1::2], strict=True):
            left = (left + (splitmix(right + even) >> 32) * self.height // 2**32) % self.height
            right = (right + (splitmix(left + odd) >> 32) * self.width // 2**32) % self.width
        return left * self.width + right


def splitmix(x):
    """Return the finaliser of splitmix64, on 64-bit words."""
    x &= MASK
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


KINDS = {
    "permutation": Permutation,
    "rejection": Rejection,
    "blocks": Blocks,
    "groups": Groups,
    "keyed": Keyed,
}


def uniform_law(size, length):
    """Return equal probabilities for every ordered sample of `length` indices."""
    prefixes = list(itertools.permutations(range(size), length))
    return dict.fromkeys(prefixes, Fraction(1, len(prefixes)))


def block_law(size, run, length):
    """Return the probability of each sequence of the first `length` indices of a Blocks order."""
    orders = list(itertools.permutations(range(size // run)))
    law = {}
    for origin in range(size):
        for order in orders:
            rows = [block * run + within for block in order for within in range(run)]
            rows += range(len(rows), size)
            prefix = tuple((origin + row) % size for row in rows[:length])
            law[prefix] = law.get(prefix, 0) + Fraction(1, size * len(orders))
    return law
