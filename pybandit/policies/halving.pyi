from numpy import int64
from numpy.typing import ArrayLike, NDArray

from pybandit.policies._ring import _RingPolicy

__all__ = ["SHAdaVar", "SHVar", "SequentialHalving", "SuccessiveRejects", "Uniform",
           "VBR"]

class _StagedPolicy(_RingPolicy):
    @property
    def budget(self) -> int: ...
    def recommend(self) -> NDArray[int64]: ...

class Uniform(_StagedPolicy):
    def __init__(self, n_arms: int, budget: int) -> None: ...

class SuccessiveRejects(_StagedPolicy):
    def __init__(self, n_arms: int, budget: int) -> None: ...

class VBR(SuccessiveRejects):
    def __init__(self, n_arms: int, budget: int) -> None: ...

class _Halving(_StagedPolicy):
    @property
    def reuse(self) -> bool: ...
    @property
    def spend_all(self) -> bool: ...

class SequentialHalving(_Halving):
    def __init__(
        self, n_arms: int, budget: int, *, reuse: bool = False, spend_all: bool = False
    ) -> None: ...

class SHVar(_Halving):
    def __init__(
        self,
        n_arms: int,
        budget: int,
        variances: ArrayLike,
        *,
        reuse: bool = False,
        spend_all: bool = False,
    ) -> None: ...

class SHAdaVar(_Halving):
    def __init__(
        self,
        n_arms: int,
        budget: int,
        delta: float = 0.05,
        *,
        reuse: bool = False,
        spend_all: bool = False,
    ) -> None: ...
    @property
    def delta(self) -> float: ...
