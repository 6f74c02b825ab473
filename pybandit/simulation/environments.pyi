from numpy.typing import ArrayLike

from pybandit.simulation.base import Environment

__all__ = [
    "BernoulliBandit",
    "BinomialBandit",
    "Environment",
    "GaussianBandit",
    "ScaledBernoulliBandit",
    "TruncatedNormalBandit",
    "UniformBandit",
]

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
