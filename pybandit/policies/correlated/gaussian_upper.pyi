from collections.abc import Callable
from typing import Any

from numpy import int64
from numpy.typing import ArrayLike, NDArray

from pybandit.policies.correlated._gaussian import _GaussianPolicy

__all__ = ["BayesUCB", "GPUCB"]

_Kernel = ArrayLike | Callable[[Any], Any] | None

class _UpperPolicy(_GaussianPolicy):
    def recommend(self) -> NDArray[int64]: ...

class GPUCB(_UpperPolicy):
    def __init__(
        self,
        n_arms: int,
        *,
        budget: int,
        noise_std: float | None,
        kernel: _Kernel = None,
        features: ArrayLike | None = None,
        prior_std: float = 1.0,
        delta: float = 0.05,
        noise_prior: tuple[float, float] = (1.0, 1.0),
        refit_every: int | None = None,
    ) -> None: ...
    @property
    def delta(self) -> float: ...

class BayesUCB(_UpperPolicy):
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
    ) -> None: ...
