from typing import Literal

from numpy import float64, int64
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from pybandit.policies.regret._counted import CountedPolicy

__all__ = ["ThompsonSampling"]

class ThompsonSampling(CountedPolicy):
    def __init__(
        self,
        n_arms: int,
        *,
        law: Literal["bernoulli", "gaussian"] = "bernoulli",
        noise_std: float = 1.0,
        prior: tuple[float, float] = (1.0, 1.0),
        fractional: bool = False,
        batch_size: int = 1,
        rng: None | int | SeedSequence | Generator = None,
    ) -> None: ...
    @property
    def law(self) -> str: ...
    @property
    def prior(self) -> tuple[float, float]: ...
    @property
    def fractional(self) -> bool: ...
    @property
    def noise_std(self) -> float: ...
    @property
    def posteriors(self) -> NDArray[float64]: ...
    @property
    def batch_size(self) -> int: ...
    @property
    def shares(self) -> NDArray[int64]: ...
    def seed(self, rng: Generator) -> None: ...
    def recommend(self) -> NDArray[int64]: ...
