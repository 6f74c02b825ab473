from collections.abc import Sequence
from typing import Any, final

from numpy import float64
from numpy.typing import ArrayLike, NDArray

__all__ = ["Betting"]

@final
class Betting:
    def __init__(self, *, delta: float = 0.05, epsilon: float = 0.0) -> None: ...
    @property
    def delta(self) -> float: ...
    @property
    def law(self) -> str: ...
    @property
    def epsilon(self) -> float: ...
    def options(self) -> dict[str, Any]: ...
    def margins(
        self,
        rewards: Sequence[ArrayLike] | None = None,
        *,
        pulls: None = None,
        means: None = None,
        variances: None = None,
    ) -> NDArray[float64]: ...
    def is_sure(
        self,
        rewards: Sequence[ArrayLike] | None = None,
        *,
        pulls: None = None,
        means: None = None,
        variances: None = None,
    ) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
