from typing import Literal

from numpy import int64
from numpy.typing import NDArray

from pybandit.policies.stopping._sequential import SequentialPolicy

__all__ = ["LilUCB"]

class LilUCB(SequentialPolicy):
    def __init__(
        self,
        n_arms: int,
        *,
        delta: float = 0.05,
        noise_std: float = 1.0,
        guarantee: Literal["proven", "heuristic"] = "proven",
        max_pulls: int | None = None,
    ) -> None: ...
    @property
    def delta(self) -> float: ...
    @property
    def noise_std(self) -> float: ...
    @property
    def guarantee(self) -> str: ...
    @property
    def share(self) -> float: ...
    def recommend(self) -> NDArray[int64]: ...
