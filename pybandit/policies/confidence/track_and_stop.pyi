from typing import Literal

from pybandit.policies.stopping._sequential import SequentialPolicy
from pybandit.policies.stopping.glr import GLR
from pybandit.policies.stopping.wagers import Betting

__all__ = ["TrackAndStop"]

class TrackAndStop(SequentialPolicy):
    def __init__(
        self,
        n_arms: int,
        *,
        stopping: GLR | Betting | None = None,
        law: Literal["gaussian", "bernoulli", "poisson"] | None = None,
        noise_std: float | None = None,
        tracking: Literal["D", "C"] = "D",
        max_pulls: int | None = None,
    ) -> None: ...
    @property
    def tracking(self) -> str: ...
