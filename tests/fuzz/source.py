"""Choices derived from bytes: equal bytes give equal choices, so that a fuzzer can search."""

import struct

import numpy as np

INTEGERS = [-1, 0, 1, 2, 3, 7, 64, 255, 10**6, 2**31, 2**53, 2**53 + 1, 2**62, 2**63 - 1,
            2**63, 2**64, -2**31, -2**63]
FLOATS = [0.0, -0.0, 0.5, -0.5, 1.0, 1.0 + 2**-52, 1.0 - 2**-53, 5e-324, 1e-300, 1e16, 1e155, 1e308,
          np.nan, np.inf, -np.inf]


class Choices:
    """A sequence of bytes, followed by zeros, from which choices are drawn."""

    def __init__(self, content):
        self.content, self.at = content, 0

    def take(self, size):
        taken = self.content[self.at:self.at + size]
        self.at += size
        return taken + bytes(size - len(taken))

    def below(self, bound):
        """Return an integer in [0, bound), with bound at most 2**16; 0 if bound is 0."""
        if bound <= 256:
            return self.take(1)[0] % max(bound, 1)
        return int.from_bytes(self.take(2), "little") % bound

    def of(self, things):
        return things[self.below(len(things))]

    def integer(self):
        """Return an integer that is small, at a limit, or any with 64 bits."""
        kind = self.below(3)
        if kind == 0:
            return struct.unpack("b", self.take(1))[0]
        return self.of(INTEGERS) if kind == 1 else struct.unpack("<q", self.take(8))[0]

    def real(self):
        """Return a float: a special value, a multiple of a third or a tenth, or any bits."""
        kind = self.below(4)
        if kind == 0:
            return self.of(FLOATS)
        if kind == 1:
            return struct.unpack("<d", self.take(8))[0]
        return self.below(256) / (3.0 if kind == 2 else 10.0) - 10.0

    def rest(self):
        taken, self.at = self.content[self.at:], max(self.at, len(self.content))
        return taken
