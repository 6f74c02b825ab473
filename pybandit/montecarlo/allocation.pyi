from collections.abc import Sequence
from typing import Any, Literal, Self

from numpy import float64, int64
from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike, NDArray

from pybandit.policies.protocol.base import NativePolicy

__all__ = ["EstimatorAllocator"]

class EstimatorAllocator(NativePolicy):
    def __init__(
        self,
        n_arms: int,
        *,
        policy: str | NativePolicy = "thompson-variance",
        costs: Literal["equal", "told"] = "equal",
        value_range: ArrayLike | None = None,
        weights: Literal["mean", "inverse-variance", "predictable"] = "mean",
        budget: float | None = None,
        batch_size: int = 1,
        pilot: int = 10,
        centre: float | None = None,
        max_cost: float | None = None,
        dependent_costs: bool = False,
        cost_floor: float = 1e-9,
        least_values: int | None = None,
        rng: int | SeedSequence | Generator | None = None,
    ) -> None: ...
    @property
    def policy(self) -> str | NativePolicy: ...
    @property
    def costs(self) -> str: ...
    @property
    def weights(self) -> str: ...
    @property
    def budget(self) -> float | None: ...
    @property
    def value_range(self) -> NDArray[float64] | None: ...
    @property
    def centre(self) -> float | None: ...
    @property
    def max_cost(self) -> float | None: ...
    @property
    def batch_size(self) -> int: ...
    @property
    def pilot(self) -> int: ...
    @property
    def least_values(self) -> int: ...
    @property
    def dependent_costs(self) -> bool: ...
    @property
    def cost_floor(self) -> float: ...
    @property
    def total_cost(self) -> float: ...
    def seed(self, rng: Generator) -> None: ...
    @property
    def estimate(self) -> float: ...
    @property
    def standard_error(self) -> float: ...
    @property
    def mean_costs(self) -> NDArray[float64]: ...
    def tell(  # type: ignore[override]
        self,
        estimators: ArrayLike,
        values: ArrayLike,
        costs: ArrayLike | None = None,
        missing: Literal["raise", "drop"] = "raise",
    ) -> None: ...
    @property
    def variances(self) -> NDArray[float64]: ...
    def recommend(self) -> NDArray[int64]: ...
    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self: ...
    def interval(
        self,
        *,
        delta: float = 0.05,
        method: Literal["betting", "asymptotic", "normal"] | None = None,
        anytime: bool | None = None,
    ) -> tuple[float, float]: ...
    def plot(
        self, ax: Any = None, *, of: Literal["means", "costs"] = "means",
        names: Sequence[str] | None = None,
    ) -> Any: ...
