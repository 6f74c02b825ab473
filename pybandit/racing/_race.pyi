from typing import Any, Literal, final

from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike

from pybandit.racing._looks import Looks
from pybandit.racing.bounds import BettingBound, EBSBound, NormalBound
from pybandit.racing.factors import Factors
from pybandit.tables.blocks import Blocks

__all__ = ["RaceResult", "race"]

_Bound = Literal["student", "normal"] | NormalBound | EBSBound | BettingBound
_Rng = int | SeedSequence | Generator | None

@final
class RaceResult:
    __match_args__: tuple[str, ...]
    @property
    def best(self) -> int: ...
    @property
    def n_looks(self) -> int: ...
    @property
    def n_evaluations(self) -> int: ...
    @property
    def exact(self) -> bool: ...
    def __init__(self, best: int, n_looks: int, n_evaluations: int, exact: bool) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    @property
    def decided(self) -> bool: ...
    def summary(self) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...

def race(
    factors: ArrayLike | Factors | Blocks,
    log_prior: ArrayLike | None = None,
    *,
    bound: _Bound = "student",
    delta: float | None = None,
    looks: Looks | None = None,
    rng: _Rng = None,
) -> RaceResult: ...
