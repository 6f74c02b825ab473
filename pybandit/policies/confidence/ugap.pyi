from numpy import int64
from numpy.typing import NDArray

from pybandit.policies.confidence.lucb import _BoundsPolicy

__all__ = ["UGapEc"]

class UGapEc(_BoundsPolicy):
    def __init__(
        self,
        n_arms: int,
        k: int = 1,
        *,
        delta: float = 0.05,
        noise_std: float = 1.0,
        epsilon: float = 0.0,
        max_pulls: int | None = None,
    ) -> None: ...
    @property
    def noise_std(self) -> float: ...
    def recommend(self) -> NDArray[int64]: ...
