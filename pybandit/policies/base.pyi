from typing import Any, Self

from numpy import int64
from numpy.typing import NDArray

from pybandit.policies.policy import Policy as Policy

class NativePolicy(Policy):
    @property
    def done(self) -> bool: ...
    def ask(self) -> NDArray[int64]: ...
    def get_state(self) -> dict[str, Any]: ...
    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self: ...
