from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from pybandit.policies.correlated._gaussian import _GaussianPolicy

__all__ = ["ExpectedImprovement", "ProbabilityOfImprovement"]

_Kernel = ArrayLike | Callable[[Any], Any] | None

class _Improvement(_GaussianPolicy):
    @property
    def xi(self) -> float: ...

class ExpectedImprovement(_Improvement):
    def __init__(
        self,
        n_arms: int,
        *,
        budget: int,
        noise_std: float | None,
        kernel: _Kernel = None,
        features: ArrayLike | None = None,
        prior_std: float = 1.0,
        xi: float = 0.0,
        noise_prior: tuple[float, float] = (1.0, 1.0),
        refit_every: int | None = None,
    ) -> None: ...

class ProbabilityOfImprovement(_Improvement):
    def __init__(
        self,
        n_arms: int,
        *,
        budget: int,
        noise_std: float | None,
        kernel: _Kernel = None,
        features: ArrayLike | None = None,
        prior_std: float = 1.0,
        xi: float = 0.01,
        noise_prior: tuple[float, float] = (1.0, 1.0),
        refit_every: int | None = None,
    ) -> None: ...
