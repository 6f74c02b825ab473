from pybandit.policies.budget._staged import _StagedPolicy

__all__ = ["SequentialHalving"]

class _Halving(_StagedPolicy):
    @property
    def reuse(self) -> bool: ...
    @property
    def spend_all(self) -> bool: ...

class SequentialHalving(_Halving):
    def __init__(
        self, n_arms: int, *, budget: int, reuse: bool = False, spend_all: bool = False
    ) -> None: ...
