from pybandit.policies.protocol._index import _IndexPolicy

__all__ = ["KLUCB", "UCB1", "UCBV"]

class _UpperBound(_IndexPolicy): ...

class UCB1(_UpperBound):
    def __init__(self, n_arms: int, *, exploration: float = 2.0) -> None: ...
    @property
    def exploration(self) -> float: ...

class UCBV(_UpperBound):
    def __init__(
        self,
        n_arms: int,
        *,
        value_range: tuple[float, float] = (0.0, 1.0),
        c: float = 1.0,
        zeta: float = 1.2,
    ) -> None: ...
    @property
    def c(self) -> float: ...
    @property
    def zeta(self) -> float: ...
    @property
    def value_range(self) -> tuple[float, float]: ...

class KLUCB(_UpperBound):
    def __init__(self, n_arms: int) -> None: ...
