from pybandit.policies.stopping._sequential import SequentialPolicy

__all__ = ["OCBA"]

class OCBA(SequentialPolicy):
    def __init__(
        self, n_arms: int, *, budget: int | None = None, n_initial: int = 10
    ) -> None: ...
    @property
    def budget(self) -> int | None: ...
    @property
    def n_initial(self) -> int: ...
