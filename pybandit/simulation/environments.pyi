from collections.abc import Sequence
from typing import overload

from numpy import float64
from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike, NDArray

from pybandit.simulation.base import Environment

__all__ = [
    "BernoulliBandit",
    "BinomialBandit",
    "CostlyBandit",
    "EmpiricalBandit",
    "Environment",
    "GaussianBandit",
    "ScaledBernoulliBandit",
    "TableBandit",
    "TruncatedNormalBandit",
    "UniformBandit",
]

_Rng = int | SeedSequence | Generator | None

class GaussianBandit(Environment):
    def __init__(self, means: ArrayLike, noise_std: ArrayLike = 1.0) -> None: ...

class UniformBandit(Environment):
    def __init__(self, means: ArrayLike, noise_std: ArrayLike) -> None: ...

class TruncatedNormalBandit(Environment):
    def __init__(
        self, means: ArrayLike, noise_std: ArrayLike, *, low: float = 0.0, high: float = 1.0
    ) -> None: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...

class BinomialBandit(Environment):
    def __init__(self, means: ArrayLike, *, trials: int) -> None: ...
    @property
    def trials(self) -> int: ...

class BernoulliBandit(BinomialBandit):
    def __init__(self, means: ArrayLike) -> None: ...

class ScaledBernoulliBandit(Environment):
    def __init__(
        self, midpoints: ArrayLike, scales: ArrayLike, probabilities: ArrayLike
    ) -> None: ...

class EmpiricalBandit(Environment):
    @overload
    def __init__(self, samples: Sequence[ArrayLike]) -> None: ...
    @overload
    def __init__(self, *, values: ArrayLike, counts: ArrayLike) -> None: ...

class TableBandit(Environment):
    def __init__(self, rewards: ArrayLike | Sequence[ArrayLike]) -> None: ...
    def reset(self) -> None: ...
    def pull(self, arms: ArrayLike, rng: _Rng = None) -> NDArray[float64]: ...

class CostlyBandit(Environment):
    def __init__(
        self, environment: Environment, costs: ArrayLike, *, cost_shape: float | None = None
    ) -> None: ...
    @property
    def environment(self) -> Environment: ...
    @property
    def cost_shape(self) -> float | None: ...
