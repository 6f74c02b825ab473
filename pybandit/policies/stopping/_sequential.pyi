from numpy import int64
from numpy.typing import NDArray

from pybandit.policies.protocol.base import NativePolicy
from pybandit.policies.stopping.glr import GLR
from pybandit.policies.stopping.wagers import Betting

class SequentialPolicy(NativePolicy):
    @property
    def stopping(self) -> GLR | Betting | None: ...
    @property
    def max_pulls(self) -> int | None: ...
    @property
    def decided(self) -> bool: ...
    def recommend(self) -> NDArray[int64]: ...
