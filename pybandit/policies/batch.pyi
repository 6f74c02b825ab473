
from numpy import int64
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from pybandit.policies._ring import _RingPolicy

__all__ = ["BatchHalving", "RoundRobin"]

_Rng = int | SeedSequence | Generator | None

class _BatchPolicy(_RingPolicy):
    @property
    def batch_size(self) -> int: ...
    @property
    def max_repeats(self) -> int: ...

class RoundRobin(_BatchPolicy):
    def __init__(
        self,
        n_arms: int,
        k: int,
        batch_size: int,
        max_batches: int,
        max_repeats: int | None = None,
    ) -> None: ...
    @property
    def max_batches(self) -> int: ...
    def recommend(self) -> NDArray[int64]: ...

class BatchHalving(_BatchPolicy):
    def __init__(
        self,
        n_arms: int,
        k: int,
        batch_size: int,
        max_batches: int,
        max_repeats: int | None = None,
        rng: _Rng = None,
    ) -> None: ...
    @property
    def max_batches(self) -> int: ...
    @property
    def stage_batches(self) -> NDArray[int64]: ...
    def recommend(self) -> NDArray[int64]: ...
