from numpy.typing import ArrayLike

from pybandit.policies._sequential import SequentialPolicy
from pybandit.policies.glr import GLR
from pybandit.policies.wagers import Betting

__all__ = ["EBTC"]

class EBTC(SequentialPolicy):
    def __init__(
        self,
        n_arms: int,
        *,
        epsilon: float = 0.1,
        variances: ArrayLike | None = None,
        variance_aware: bool = False,
        budget: int | None = None,
        stopping: GLR | Betting | None = None,
    ) -> None: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def variance_aware(self) -> bool: ...
