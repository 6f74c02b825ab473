from numpy.typing import ArrayLike

from pybandit.simulation.base import Environment

__all__ = ["CostlyBandit"]

class CostlyBandit(Environment):
    def __init__(
        self, environment: Environment, costs: ArrayLike, *, cost_shape: float | None = None
    ) -> None: ...
    @property
    def environment(self) -> Environment: ...
    @property
    def cost_shape(self) -> float | None: ...
