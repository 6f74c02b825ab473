from typing import Literal

from numpy import int64
from numpy.typing import NDArray

from pybandit.policies.budget._staged import _StagedPolicy
from pybandit.policies.protocol._ring import _RingPolicy

__all__ = ["VBR", "ContinuousRejects", "SuccessiveRejects"]

class SuccessiveRejects(_StagedPolicy):
    def __init__(self, n_arms: int, *, budget: int) -> None: ...

class VBR(SuccessiveRejects):
    def __init__(self, n_arms: int, *, budget: int) -> None: ...

class ContinuousRejects(_RingPolicy):
    def __init__(self, n_arms: int, *, budget: int, criterion: Literal["C", "A"] = "C") -> None: ...
    @property
    def budget(self) -> int: ...
    @property
    def criterion(self) -> Literal["C", "A"]: ...
    def recommend(self) -> NDArray[int64]: ...
