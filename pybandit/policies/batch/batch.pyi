
from numpy import int64
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from pybandit.policies.batch._batch import _BatchPolicy

__all__ = ["BatchHalving", "RoundRobin"]

_Rng = int | SeedSequence | Generator | None

class RoundRobin(_BatchPolicy):
    def __init__(
        self,
        n_arms: int,
        k: int = 1,
        *,
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
        k: int = 1,
        *,
        batch_size: int,
        max_batches: int,
        max_repeats: int | None = None,
        rng: _Rng = None,
    ) -> None: ...
    @property
    def max_batches(self) -> int: ...
    @property
    def stage_batches(self) -> NDArray[int64]: ...
    def seed(self, rng: Generator) -> None: ...
    def recommend(self) -> NDArray[int64]: ...
