from typing import Literal

from numpy import int64
from numpy.typing import ArrayLike, NDArray

from pybandit.policies._base import NativePolicy
from pybandit.policies._ring import _RingPolicy

__all__ = ["EBTC", "ContinuousRejects"]

class EBTC(NativePolicy):
    def __init__(
        self,
        n_arms: int,
        *,
        epsilon: float = 0.1,
        variances: ArrayLike | None = None,
        variance_aware: bool = False,
        budget: int | None = None,
    ) -> None: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def variance_aware(self) -> bool: ...
    @property
    def budget(self) -> int | None: ...
    def recommend(self) -> NDArray[int64]: ...

class ContinuousRejects(_RingPolicy):
    def __init__(self, n_arms: int, budget: int, criterion: Literal["C", "A"] = "C") -> None: ...
    @property
    def budget(self) -> int: ...
    @property
    def criterion(self) -> Literal["C", "A"]: ...
    def recommend(self) -> NDArray[int64]: ...
