from numpy import float64
from numpy.typing import ArrayLike, NDArray

from pybandit.policies.budget.halving import _Halving

__all__ = ["SHAdaVar", "SHVar"]

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
