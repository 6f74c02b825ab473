from numpy import int64
from numpy.typing import NDArray

from pybandit.policies.protocol.base import NativePolicy

class _IndexPolicy(NativePolicy):
    @property
    def budget(self) -> int | None: ...
    def recommend(self) -> NDArray[int64]: ...
