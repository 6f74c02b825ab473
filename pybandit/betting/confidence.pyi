from typing import Any, Literal, NamedTuple, final

from numpy import float64
from numpy.typing import ArrayLike, NDArray

__all__ = ["ConfidenceBounds", "ConfidenceSequence", "confidence_sequence"]

_Method = Literal["betting", "empirical-bernstein", "hoeffding", "asymptotic"]

class ConfidenceBounds(NamedTuple):
    lower: NDArray[float64]
    upper: NDArray[float64]

def confidence_sequence(
    values: ArrayLike,
    *,
    population_size: float = ...,
    delta: float = 0.05,
    value_range: tuple[float, float] | None = (0, 1),
    method: _Method = "betting",
    n_bets: int | None = None,
    planned: int | None = None,
) -> ConfidenceBounds: ...
@final
class ConfidenceSequence:
    def __init__(
        self,
        *,
        population_size: float = ...,
        delta: float = 0.05,
        value_range: tuple[float, float] | None = (0, 1),
        method: _Method = "betting",
        n_bets: int | None = None,
        planned: int | None = None,
    ) -> None: ...
    @property
    def population_size(self) -> float: ...
    @property
    def delta(self) -> float: ...
    @property
    def value_range(self) -> tuple[float, float] | None: ...
    @property
    def method(self) -> _Method: ...
    @property
    def n_bets(self) -> int | None: ...
    @property
    def planned(self) -> int | None: ...
    @property
    def n(self) -> int: ...
    @property
    def mean(self) -> float: ...
    @property
    def lower(self) -> float: ...
    @property
    def upper(self) -> float: ...
    def tell(self, values: ArrayLike) -> ConfidenceBounds: ...
    def get_state(self) -> dict[str, Any]: ...
    @staticmethod
    def from_state(state: dict[str, Any]) -> ConfidenceSequence: ...
