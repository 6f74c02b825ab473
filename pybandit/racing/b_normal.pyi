from typing import Literal, overload

from numpy import float64, int64
from numpy.typing import ArrayLike, NDArray

__all__ = ["b_normal", "boundary", "crossing_probability", "normal_sample_complexity"]

_Convention = Literal["one-sided", "two-sided", "union"]

@overload
def b_normal(delta: float, first_fraction: float, *, convention: _Convention = ...) -> float: ...
@overload
def b_normal(
    delta: ArrayLike, first_fraction: ArrayLike, *, convention: _Convention = ...
) -> float | NDArray[float64]: ...
def boundary(delta: float, fractions: ArrayLike, *, convention: _Convention = ...) -> float: ...
def crossing_probability(
    boundary: float, fractions: ArrayLike, *, convention: _Convention = ...
) -> float: ...
@overload
def normal_sample_complexity(
    gap: float,
    population_size: int,
    n_states: int,
    *,
    delta: float = ...,
    first_look: int = ...,
    convention: _Convention = ...,
) -> int: ...
@overload
def normal_sample_complexity(
    gap: ArrayLike,
    population_size: int,
    n_states: int,
    *,
    delta: float = ...,
    first_look: int = ...,
    convention: _Convention = ...,
) -> int | NDArray[int64]: ...
