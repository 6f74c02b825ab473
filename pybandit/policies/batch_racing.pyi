from numpy import int64
from numpy.typing import NDArray

from pybandit.policies.batch import _BatchPolicy

__all__ = ["BatchRacing"]

class BatchRacing(_BatchPolicy):
    def __init__(
        self,
        n_arms: int,
        k: int,
        delta: float = 0.1,
        batch_size: int = 1,
        max_repeats: int | None = None,
        sigma: float = 0.5,
    ) -> None: ...
    @property
    def delta(self) -> float: ...
    @property
    def sigma(self) -> float: ...
    @property
    def accepted(self) -> NDArray[int64]: ...
    @property
    def survivors(self) -> NDArray[int64]: ...
    def recommend(self) -> NDArray[int64]: ...
