from typing import Literal

from numpy import int64
from numpy.typing import NDArray

from pybandit.policies.stopping._sequential import SequentialPolicy

__all__ = ["APT", "GoodArms"]

class _ThresholdPolicy(SequentialPolicy):
    @property
    def threshold(self) -> float: ...
    @property
    def epsilon(self) -> float: ...

class APT(_ThresholdPolicy):
    def __init__(
        self,
        n_arms: int,
        *,
        threshold: float,
        epsilon: float = 0.0,
        max_pulls: int | None = None,
    ) -> None: ...
    def recommend(self) -> NDArray[int64]: ...

class GoodArms(_ThresholdPolicy):
    def __init__(
        self,
        n_arms: int,
        *,
        threshold: float,
        delta: float = 0.05,
        law: Literal["gaussian", "bernoulli", "gaussian-unknown"] = "gaussian",
        noise_std: float = 1.0,
        sampling: Literal["hdoc", "lucb-g", "apt"] = "hdoc",
        epsilon: float = 0.0,
        max_pulls: int | None = None,
    ) -> None: ...
    @property
    def delta(self) -> float: ...
    @property
    def sampling(self) -> str: ...
    @property
    def good(self) -> NDArray[int64]: ...
    @property
    def bad(self) -> NDArray[int64]: ...
    def recommend(self) -> NDArray[int64]: ...
