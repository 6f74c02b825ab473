from typing import overload

from numpy import float64
from numpy.typing import ArrayLike, NDArray

__all__ = ["kl_ucb", "kl_variance", "ucb1", "ucb_v"]

@overload
def ucb1(mean: float, n: float, t: float, *, exploration: float = ...) -> float: ...
@overload
def ucb1(
    mean: ArrayLike, n: ArrayLike, t: ArrayLike, *, exploration: ArrayLike = ...
) -> float | NDArray[float64]: ...
@overload
def ucb_v(
    mean: float,
    variance: float,
    n: float,
    t: float,
    *,
    value_range: tuple[float, float] = ...,
    c: float = ...,
    zeta: float = ...,
) -> float: ...
@overload
def ucb_v(
    mean: ArrayLike,
    variance: ArrayLike,
    n: ArrayLike,
    t: ArrayLike,
    *,
    value_range: ArrayLike = ...,
    c: ArrayLike = ...,
    zeta: ArrayLike = ...,
) -> float | NDArray[float64]: ...
@overload
def kl_ucb(mean: float, n: float, t: float) -> float: ...
@overload
def kl_ucb(mean: ArrayLike, n: ArrayLike, t: ArrayLike) -> float | NDArray[float64]: ...
@overload
def kl_variance(
    pair_statistic: float, n_pairs: float, delta: float
) -> tuple[float, float]: ...
@overload
def kl_variance(
    pair_statistic: ArrayLike, n_pairs: ArrayLike, delta: ArrayLike
) -> tuple[float | NDArray[float64], float | NDArray[float64]]: ...
