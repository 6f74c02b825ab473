from typing import overload

from numpy import float64
from numpy.typing import ArrayLike, NDArray

__all__ = ["empirical_bernstein_serfling", "normal", "student"]

@overload
def normal(n: float, population_size: float, std: float, boundary: float) -> float: ...
@overload
def normal(
    n: ArrayLike, population_size: ArrayLike, std: ArrayLike, boundary: ArrayLike
) -> float | NDArray[float64]: ...
@overload
def student(n: float, population_size: float, std: float, boundary: float) -> float: ...
@overload
def student(
    n: ArrayLike, population_size: ArrayLike, std: ArrayLike, boundary: ArrayLike
) -> float | NDArray[float64]: ...
@overload
def empirical_bernstein_serfling(
    n: float, population_size: float, std: float, value_range: float, delta: float
) -> float: ...
@overload
def empirical_bernstein_serfling(
    n: ArrayLike,
    population_size: ArrayLike,
    std: ArrayLike,
    value_range: ArrayLike,
    delta: ArrayLike,
) -> float | NDArray[float64]: ...
