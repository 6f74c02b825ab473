from pybandit.policies.protocol._index import _IndexPolicy

__all__ = ["GapE", "GapEV", "UCBE"]

class _BudgetPolicy(_IndexPolicy):
    @property
    def complexity(self) -> float | None: ...

class _GapPolicy(_BudgetPolicy):
    @property
    def value_range(self) -> float: ...
    @property
    def complexity_scale(self) -> float: ...

class GapE(_GapPolicy):
    def __init__(
        self,
        n_arms: int,
        *,
        budget: int,
        value_range: float | tuple[float, float],
        complexity: float | None = None,
        complexity_scale: float = 1.0,
    ) -> None: ...

class GapEV(_GapPolicy):
    def __init__(
        self,
        n_arms: int,
        *,
        budget: int,
        value_range: float | tuple[float, float],
        complexity: float | None = None,
        complexity_scale: float = 1.0,
    ) -> None: ...

class UCBE(_BudgetPolicy):
    def __init__(self, n_arms: int, *, budget: int, complexity: float) -> None: ...
