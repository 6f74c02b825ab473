from collections.abc import Callable
from typing import Any, Literal

from numpy import int64
from numpy.typing import ArrayLike, NDArray

from pybandit.policies.correlated._gaussian import _GaussianPolicy

__all__ = ["BayesGap"]

_Kernel = ArrayLike | Callable[[Any], Any] | None

class BayesGap(_GaussianPolicy):
    def __init__(
        self,
        n_arms: int,
        *,
        budget: int,
        noise_std: float | None,
        kernel: _Kernel = None,
        features: ArrayLike | None = None,
        prior_std: float = 1.0,
        epsilon: float = 0.0,
        n_beta: Literal["T", "T-K"] = "T",
        recommendation: Literal["pulled", "posterior-mean", "bound"] = "pulled",
        noise_prior: tuple[float, float] = (1.0, 1.0),
        refit_every: int | None = None,
    ) -> None: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def n_beta(self) -> str: ...
    @property
    def recommendation(self) -> str: ...
    def recommend(self) -> NDArray[int64]: ...
