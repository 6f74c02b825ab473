from numpy import int64
from numpy.typing import ArrayLike, NDArray

from pybandit.policies.base import NativePolicy

__all__ = ["EBTC"]

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
