from numpy import float64, int64
from numpy.typing import ArrayLike, NDArray

from pybandit.policies.batch._batch import _BatchPolicy

__all__ = ["BatchScreening"]

class BatchScreening(_BatchPolicy):
    def __init__(
        self,
        n_arms: int,
        k: int = 1,
        *,
        batch_size: int,
        max_batches: int,
        max_repeats: int | None = None,
        prior_means: ArrayLike | None = None,
        noise_std: float | None = None,
        allow_unmeasured: bool = False,
    ) -> None: ...
    @property
    def max_batches(self) -> int: ...
    @property
    def noise_std(self) -> float | None: ...
    @property
    def allow_unmeasured(self) -> bool: ...
    @property
    def prior_means(self) -> NDArray[float64] | None: ...
    @property
    def unmeasured(self) -> NDArray[int64]: ...
    def recommend(self) -> NDArray[int64]: ...
