from collections.abc import Callable
from typing import Any

from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike

from pybandit.policies.correlated._gaussian import _GaussianPolicy

__all__ = ["GaussianThompson"]

_Kernel = ArrayLike | Callable[[Any], Any] | None

class GaussianThompson(_GaussianPolicy):
    def __init__(
        self,
        n_arms: int,
        *,
        budget: int,
        noise_std: float | None,
        kernel: _Kernel = None,
        features: ArrayLike | None = None,
        prior_std: float = 1.0,
        noise_prior: tuple[float, float] = (1.0, 1.0),
        refit_every: int | None = None,
        rng: int | SeedSequence | Generator | None = None,
    ) -> None: ...
    def seed(self, rng: Generator) -> None: ...
