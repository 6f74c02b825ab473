from typing import Literal

from numpy import int64
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from pybandit.policies._base import NativePolicy

__all__ = ["BatchHalving", "BatchRacing", "BatchSAR", "RoundRobin"]

_Rng = int | SeedSequence | Generator | None

class _BatchPolicy(NativePolicy):
    @property
    def batch_size(self) -> int: ...
    @property
    def max_repeats(self) -> int: ...
    @property
    def survivors(self) -> NDArray[int64]: ...

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

class BatchSAR(_BatchPolicy):
    def __init__(
        self,
        n_arms: int,
        k: int,
        batch_size: int,
        max_batches: int,
        max_repeats: int | None = None,
        improved: bool = True,
        tie: Literal["reject", "index"] = "reject",
    ) -> None: ...
    @property
    def max_batches(self) -> int: ...
    @property
    def improved(self) -> bool: ...
    @property
    def tie(self) -> Literal["reject", "index"]: ...
    @property
    def accepted(self) -> NDArray[int64]: ...
    @property
    def survivors(self) -> NDArray[int64]: ...
    def recommend(self) -> NDArray[int64]: ...

class BatchRacing(_BatchPolicy):
    def __init__(
        self,
        n_arms: int,
        k: int,
        delta: float = 0.1,
        batch_size: int = 1,
        max_repeats: int | None = None,
        sigma: float = 0.5,
    ) -> None: ...
    @property
    def delta(self) -> float: ...
    @property
    def sigma(self) -> float: ...
    @property
    def accepted(self) -> NDArray[int64]: ...
    @property
    def survivors(self) -> NDArray[int64]: ...
    def recommend(self) -> NDArray[int64]: ...
