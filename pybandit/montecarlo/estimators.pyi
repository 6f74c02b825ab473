from numpy import float64, int64
from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike, NDArray

from pybandit.simulation.environments import Environment

__all__ = ["CIRCaplet", "LogisticEvidence"]

_Rng = int | SeedSequence | Generator | None

class CIRCaplet(Environment):
    def __init__(
        self,
        strike: float,
        *,
        thetas: ArrayLike | None = None,
        eta: float = 0.016,
        kappa: float = 0.2,
        sigma: float = 0.02,
        r0: float = 0.08,
        maturity: float = 1.0,
        notional: float = 1000.0,
        n_steps: int = 100,
    ) -> None: ...
    @property
    def strike(self) -> float: ...
    @property
    def maturity(self) -> float: ...
    @property
    def thetas(self) -> NDArray[float64]: ...
    def paths(
        self, arms: ArrayLike, rng: _Rng = None
    ) -> tuple[NDArray[float64], NDArray[float64]]: ...

class LogisticEvidence(Environment):
    def __init__(
        self,
        features: ArrayLike,
        *,
        labels: ArrayLike,
        n_anneals: ArrayLike = (400, 2000, 8000),
        prior_variance: float = 0.05,
        width: float = 0.5,
        log_scale: float | None = None,
        log_evidence: float | None = None,
    ) -> None: ...
    @property
    def n_anneals(self) -> NDArray[int64]: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def log_scale(self) -> float: ...
    def log_likelihood(self, theta: ArrayLike) -> float: ...
