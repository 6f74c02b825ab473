from typing import Literal

from numpy import int64
from numpy.typing import NDArray

from pybandit.policies.batch import _BatchPolicy

__all__ = ["BatchSAR"]

class BatchSAR(_BatchPolicy):
    def __init__(
        self,
        n_arms: int,
        k: int,
        batch_size: int,
        max_batches: int,
        max_repeats: int | None = None,
        improved: bool = True,
        tie: Literal["reject", "index"] = "reject",
    ) -> None: ...
    @property
    def max_batches(self) -> int: ...
    @property
    def improved(self) -> bool: ...
    @property
    def tie(self) -> Literal["reject", "index"]: ...
    @property
    def accepted(self) -> NDArray[int64]: ...
    @property
    def survivors(self) -> NDArray[int64]: ...
    def recommend(self) -> NDArray[int64]: ...
