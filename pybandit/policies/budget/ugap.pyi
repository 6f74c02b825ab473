from numpy import int64
from numpy.typing import NDArray

from pybandit.policies.budget.gap import _BudgetPolicy

__all__ = ["UGapEb"]

class UGapEb(_BudgetPolicy):
    def __init__(
        self,
        n_arms: int,
        *,
        budget: int,
        complexity: float | None = None,
        noise_std: float | None = None,
        epsilon: float = 0.0,
    ) -> None: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def noise_std(self) -> float | None: ...
    def recommend(self) -> NDArray[int64]: ...
