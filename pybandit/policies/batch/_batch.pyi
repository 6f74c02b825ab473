from numpy import int64
from numpy.typing import NDArray

from pybandit.policies.protocol._ring import _RingPolicy

class _BatchPolicy(_RingPolicy):
    @property
    def batch_size(self) -> int: ...
    @property
    def max_repeats(self) -> int: ...

class _AcceptingPolicy(_BatchPolicy):
    @property
    def accepted(self) -> NDArray[int64]: ...
    @property
    def survivors(self) -> NDArray[int64]: ...
    def recommend(self) -> NDArray[int64]: ...
