"""Random bits as the kernels consume them, computed from the raw 64-bit words of a PCG64."""

import numpy as np

TWIN_OF = ("bitgen",)  # kernels of csrc


class Bits:
    """NumPy's PCG64: 32-bit words are first the low, then the high half of a 64-bit word."""

    def __init__(self, seed):
        self._generator = np.random.PCG64(seed)
        self._high_half = None

    def next_uint64(self):
        return int(self._generator.random_raw())

    def next_uint32(self):
        if self._high_half is not None:
            word, self._high_half = self._high_half, None
            return word
        raw = self.next_uint64()
        self._high_half = raw >> 32
        return raw & 0xFFFFFFFF

    def below(self, bound):
        """Return a uniform integer in [0, bound), by Lemire's multiplication with rejection."""
        rejected = (1 << 32) % bound
        while True:
            product = self.next_uint32() * bound
            if product & 0xFFFFFFFF >= rejected:
                return product >> 32

    def gumbels(self, n):
        """Return n standard Gumbel draws, from the midpoints of 2**52 intervals of (0, 1)."""
        words = [self.next_uint64() >> 12 for _ in range(n)]
        u = (np.array(words, dtype=float) + 0.5) * 2.0**-52
        return -np.log(-np.log(u))
