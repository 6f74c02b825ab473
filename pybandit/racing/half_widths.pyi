from typing import Literal, overload

from numpy import float64, int64
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "b_normal",
    "boundary",
    "crossing_probability",
    "empirical_bernstein_serfling",
    "kl_ucb",
    "kl_variance",
    "normal",
    "normal_sample_complexity",
    "student",
    "ucb1",
    "ucb_v",
]

_Convention = Literal["one-sided", "two-sided", "union"]

@overload
def normal(n: float, population: float, std: float, boundary: float) -> float: ...
@overload
def normal(
    n: ArrayLike, population: ArrayLike, std: ArrayLike, boundary: ArrayLike
) -> float | NDArray[float64]: ...
@overload
def student(n: float, population: float, std: float, boundary: float) -> float: ...
@overload
def student(
    n: ArrayLike, population: ArrayLike, std: ArrayLike, boundary: ArrayLike
) -> float | NDArray[float64]: ...
@overload
def empirical_bernstein_serfling(
    n: float, population: float, std: float, value_range: float, delta: float
) -> float: ...
@overload
def empirical_bernstein_serfling(
    n: ArrayLike, population: ArrayLike, std: ArrayLike, value_range: ArrayLike, delta: ArrayLike
) -> float | NDArray[float64]: ...
@overload
def b_normal(delta: float, first_fraction: float, convention: _Convention = ...) -> float: ...
@overload
def b_normal(
    delta: ArrayLike, first_fraction: ArrayLike, convention: _Convention = ...
) -> float | NDArray[float64]: ...
def boundary(delta: float, fractions: ArrayLike, convention: _Convention = ...) -> float: ...
def crossing_probability(
    boundary: float, fractions: ArrayLike, convention: _Convention = ...
) -> float: ...
@overload
def normal_sample_complexity(
    gap: float,
    population: int,
    n_states: int,
    delta: float,
    first_look: int = ...,
    convention: _Convention = ...,
) -> int: ...
@overload
def normal_sample_complexity(
    gap: ArrayLike,
    population: int,
    n_states: int,
    delta: float,
    first_look: int = ...,
    convention: _Convention = ...,
) -> int | NDArray[int64]: ...
@overload
def ucb1(mean: float, n: float, t: float, constant: float = ...) -> float: ...
@overload
def ucb1(
    mean: ArrayLike, n: ArrayLike, t: ArrayLike, constant: ArrayLike = ...
) -> float | NDArray[float64]: ...
@overload
def ucb_v(
    mean: float,
    variance: float,
    n: float,
    t: float,
    c: float = ...,
    zeta: float = ...,
    value_range: float = ...,
) -> float: ...
@overload
def ucb_v(
    mean: ArrayLike,
    variance: ArrayLike,
    n: ArrayLike,
    t: ArrayLike,
    c: ArrayLike = ...,
    zeta: ArrayLike = ...,
    value_range: ArrayLike = ...,
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
