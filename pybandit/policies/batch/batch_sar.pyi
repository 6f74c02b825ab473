from typing import Literal

from pybandit.policies.batch._batch import _AcceptingPolicy

__all__ = ["BatchSAR"]

class BatchSAR(_AcceptingPolicy):
    def __init__(
        self,
        n_arms: int,
        k: int = 1,
        *,
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
