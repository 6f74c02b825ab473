from typing import Literal

from numpy.random import Generator, SeedSequence

from pybandit.policies.stopping._sequential import SequentialPolicy
from pybandit.policies.stopping.glr import GLR
from pybandit.policies.stopping.wagers import Betting

__all__ = ["TopTwo"]

class TopTwo(SequentialPolicy):
    def __init__(
        self,
        n_arms: int,
        *,
        stopping: GLR | Betting | None = None,
        law: Literal["gaussian", "bernoulli", "poisson", "gaussian-unknown"] | None = None,
        noise_std: float | None = None,
        leader: Literal["thompson", "empirical", "ucb"] = "thompson",
        challenger: Literal["cost", "cost-improved", "thompson"] = "cost",
        beta: float | Literal["ids"] = 0.5,
        max_pulls: int | None = None,
        rng: int | SeedSequence | Generator | None = None,
    ) -> None: ...
    @property
    def leader(self) -> str: ...
    @property
    def challenger(self) -> str: ...
    @property
    def beta(self) -> float | Literal["ids"]: ...
    def seed(self, rng: Generator) -> None: ...
