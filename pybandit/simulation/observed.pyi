from collections.abc import Sequence
from typing import overload

from numpy import float64
from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike, NDArray

from pybandit.simulation.base import Environment

__all__ = ["EmpiricalBandit", "TableBandit"]

_Rng = int | SeedSequence | Generator | None

class EmpiricalBandit(Environment):
    @overload
    def __init__(self, samples: Sequence[ArrayLike]) -> None: ...
    @overload
    def __init__(self, *, values: ArrayLike, counts: ArrayLike) -> None: ...

class TableBandit(Environment):
    def __init__(self, rewards: ArrayLike | Sequence[ArrayLike]) -> None: ...
    def reset(self) -> None: ...
    def pull(self, arms: ArrayLike, rng: _Rng = None) -> NDArray[float64]: ...
