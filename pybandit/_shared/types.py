"""Types used in many signatures."""

from numpy import float64, int64
from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike, NDArray

__all__ = ["ArrayLike", "Floats", "Ints", "Rng"]

Floats = NDArray[float64]
Ints = NDArray[int64]
Rng = int | SeedSequence | Generator | None
