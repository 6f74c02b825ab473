from numpy import int64
from numpy.typing import NDArray

from pybandit.policies.protocol._ring import _RingPolicy

__all__ = ["Uniform"]

class _StagedPolicy(_RingPolicy):
    @property
    def budget(self) -> int: ...
    def recommend(self) -> NDArray[int64]: ...

class Uniform(_StagedPolicy):
    def __init__(self, n_arms: int, *, budget: int) -> None: ...
