from numpy.typing import ArrayLike

from pybandit.policies.protocol.base import NativePolicy

class CountedPolicy(NativePolicy):
    def tell_counts(self, trials: ArrayLike, sums: ArrayLike) -> None: ...
