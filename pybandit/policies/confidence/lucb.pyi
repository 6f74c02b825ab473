from pybandit.policies.stopping._sequential import SequentialPolicy

__all__ = ["KLLUCB", "LUCB"]

class _BoundsPolicy(SequentialPolicy):
    @property
    def delta(self) -> float: ...
    @property
    def epsilon(self) -> float: ...

class LUCB(_BoundsPolicy):
    def __init__(
        self,
        n_arms: int,
        k: int = 1,
        *,
        delta: float = 0.05,
        noise_std: float = 1.0,
        epsilon: float = 0.0,
        max_pulls: int | None = None,
    ) -> None: ...
    @property
    def noise_std(self) -> float: ...

class KLLUCB(_BoundsPolicy):
    def __init__(
        self,
        n_arms: int,
        k: int = 1,
        *,
        delta: float = 0.05,
        epsilon: float = 0.0,
        max_pulls: int | None = None,
    ) -> None: ...
