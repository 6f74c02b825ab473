from numpy import int64
from numpy.typing import NDArray

from pybandit.policies.stopping._sequential import SequentialPolicy
from pybandit.policies.stopping.glr import GLR
from pybandit.policies.stopping.wagers import Betting

__all__ = ["SuccessiveElimination"]

class SuccessiveElimination(SequentialPolicy):
    def __init__(
        self,
        n_arms: int,
        k: int = 1,
        *,
        stopping: GLR | Betting,
        max_pulls: int | None = None,
    ) -> None: ...
    @property
    def alive(self) -> NDArray[int64]: ...
    def recommend(self) -> NDArray[int64]: ...
