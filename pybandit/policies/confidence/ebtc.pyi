from typing import Literal

from numpy import float64
from numpy.typing import ArrayLike, NDArray

from pybandit.policies.stopping._sequential import SequentialPolicy
from pybandit.policies.stopping.glr import GLR
from pybandit.policies.stopping.wagers import Betting

__all__ = ["EBTC"]

class EBTC(SequentialPolicy):
    def __init__(
        self,
        n_arms: int,
        *,
        stopping: GLR | Betting | None = None,
        noise_std: ArrayLike | Literal["estimated"] | None = None,
        epsilon: float = 0.1,
        max_pulls: int | None = None,
    ) -> None: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def noise_std(self) -> NDArray[float64] | Literal["estimated"] | None: ...
