from numpy import int64
from numpy.typing import NDArray

from pybandit.policies._sequential import SequentialPolicy
from pybandit.policies.glr import GLR
from pybandit.policies.wagers import Betting

__all__ = ["SuccessiveElimination"]

class SuccessiveElimination(SequentialPolicy):
    def __init__(
        self, n_arms: int, stopping: GLR | Betting, k: int = 1, *, budget: int | None = None
    ) -> None: ...
    @property
    def alive(self) -> NDArray[int64]: ...
    def recommend(self) -> NDArray[int64]: ...
