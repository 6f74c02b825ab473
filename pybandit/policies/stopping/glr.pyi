from collections.abc import Sequence
from typing import Any, Literal, final

from numpy import float64
from numpy.typing import ArrayLike, NDArray

__all__ = ["GLR", "lower_bound", "optimal_proportions"]

_Known = Literal["gaussian", "bernoulli", "poisson"]
_Law = Literal["gaussian", "bernoulli", "poisson", "gaussian-unknown"]

@final
class GLR:
    def __init__(
        self,
        *,
        delta: float = 0.05,
        law: _Law = "gaussian",
        noise_std: float = 1.0,
        guarantee: Literal["proven", "heuristic"] = "proven",
        epsilon: float = 0.0,
    ) -> None: ...
    @property
    def delta(self) -> float: ...
    @property
    def law(self) -> str: ...
    @property
    def is_gaussian(self) -> bool: ...
    @property
    def noise_std(self) -> float: ...
    @property
    def guarantee(self) -> str: ...
    @property
    def epsilon(self) -> float: ...
    def options(self) -> dict[str, Any]: ...
    def margins(
        self,
        rewards: Sequence[ArrayLike] | None = None,
        *,
        pulls: ArrayLike | None = None,
        means: ArrayLike | None = None,
        variances: ArrayLike | None = None,
    ) -> NDArray[float64]: ...
    def is_sure(
        self,
        rewards: Sequence[ArrayLike] | None = None,
        *,
        pulls: ArrayLike | None = None,
        means: ArrayLike | None = None,
        variances: ArrayLike | None = None,
    ) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

def optimal_proportions(
    means: ArrayLike, *, law: _Known = "gaussian", noise_std: float = 1.0
) -> NDArray[float64]: ...
def lower_bound(
    means: ArrayLike, *, delta: float = 0.05, law: _Known = "gaussian", noise_std: float = 1.0
) -> float: ...
