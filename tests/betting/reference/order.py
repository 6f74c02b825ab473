"""Reference implementation of the order of a race's items: NumPy's SFC64, drawn completely."""

import numpy as np

TWIN_OF = ("order",)  # kernels of csrc


def order_of(rng, n):
    """Return the items 0 to n - 1 in the order of a race that `rng` seeds."""
    bits = np.random.SFC64()
    words = rng.integers(1 << 64, size=3, dtype=np.uint64)
    bits.state = {"bit_generator": "SFC64", "has_uint32": 0, "uinteger": 0,
                  "state": {"state": np.append(words, np.uint64(1))}}
    bits.random_raw(12)
    private = np.random.Generator(bits)
    drawn = {}
    while len(drawn) < n // 2:
        drawn.setdefault(int(private.integers(n, dtype=np.uint32)))
    rest = [item for item in range(n) if item not in drawn]
    for i in range(len(rest)):
        other = i + int(private.integers(len(rest) - i, dtype=np.uint32))
        rest[i], rest[other] = rest[other], rest[i]
    return [*drawn, *rest]
