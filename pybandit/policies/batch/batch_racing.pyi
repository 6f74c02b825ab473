from numpy import int64
from numpy.typing import NDArray

from pybandit.policies.batch._batch import _AcceptingPolicy

__all__ = ["BatchRacing"]

class BatchRacing(_AcceptingPolicy):
    def __init__(
        self,
        n_arms: int,
        k: int = 1,
        *,
        batch_size: int = 1,
        delta: float = 0.05,
        noise_std: float = 0.5,
        max_repeats: int | None = None,
    ) -> None: ...
    @property
    def delta(self) -> float: ...
    @property
    def noise_std(self) -> float: ...
    @property
    def decided(self) -> bool: ...
    @property
    def survivors(self) -> NDArray[int64]: ...
