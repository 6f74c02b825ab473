from numpy import float64
from numpy.typing import ArrayLike, NDArray

from pybandit.policies.budget._staged import _StagedPolicy

__all__ = ["SHAdaVar", "SHVar", "SequentialHalving"]

class _Halving(_StagedPolicy):
    @property
    def reuse(self) -> bool: ...
    @property
    def spend_all(self) -> bool: ...

class SequentialHalving(_Halving):
    def __init__(
        self, n_arms: int, *, budget: int, reuse: bool = False, spend_all: bool = False
    ) -> None: ...

class SHVar(_Halving):
    def __init__(
        self,
        n_arms: int,
        *,
        budget: int,
        noise_std: ArrayLike,
        reuse: bool = False,
        spend_all: bool = False,
    ) -> None: ...
    @property
    def noise_std(self) -> NDArray[float64]: ...

class SHAdaVar(_Halving):
    def __init__(
        self,
        n_arms: int,
        *,
        budget: int,
        delta: float = 0.05,
        reuse: bool = False,
        spend_all: bool = False,
    ) -> None: ...
    @property
    def delta(self) -> float: ...
