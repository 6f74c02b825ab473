from numpy import int64
from numpy.typing import NDArray

from pybandit.policies.protocol.base import NativePolicy

class _RingPolicy(NativePolicy):
    @property
    def survivors(self) -> NDArray[int64]: ...
