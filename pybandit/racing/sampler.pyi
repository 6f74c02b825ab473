from typing import Any, Literal, final, overload

from numpy import bool_, float64, int64
from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike, NDArray

from pybandit.racing._looks import Looks
from pybandit.racing.bounds import BettingBound, EBSBound, NormalBound
from pybandit.racing.factors import Factors
from pybandit.racing.schedule import Schedule
from pybandit.tables.blocks import Blocks

__all__ = ["DrawInfo", "RacingSampler"]

_Bound = Literal["student", "normal"] | NormalBound | EBSBound | BettingBound
_Rng = int | SeedSequence | Generator | None

@final
class DrawInfo:
    __match_args__: tuple[str, ...]
    @property
    def n_evaluations(self) -> int | NDArray[int64]: ...
    @property
    def n_looks(self) -> int | NDArray[int64]: ...
    @property
    def exact(self) -> bool | NDArray[bool_]: ...
    @property
    def fraction(self) -> float: ...
    def __init__(
        self,
        n_evaluations: int | NDArray[int64],
        n_looks: int | NDArray[int64],
        exact: bool | NDArray[bool_],
        fraction: float,
    ) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]
    def to_dict(self) -> dict[str, Any]: ...

@final
class RacingSampler:
    def __init__(
        self,
        factors: ArrayLike | Factors | Blocks,
        log_prior: ArrayLike | None = None,
        *,
        bound: _Bound = "student",
        delta: float | None = None,
        looks: Looks | None = None,
        layout: Literal["gather", "shuffled"] = "gather",
        rng: _Rng = None,
    ) -> None: ...
    @property
    def n_factors(self) -> int: ...
    @property
    def n_states(self) -> int: ...
    @property
    def schedule(self) -> Schedule: ...
    @property
    def log_prior(self) -> NDArray[float64]: ...
    @log_prior.setter
    def log_prior(self, values: ArrayLike) -> None: ...
    @property
    def address(self) -> int: ...
    def raise_status(self, status: int) -> None: ...
    @overload
    def draw(self, size: None = None, *, rng: _Rng = None) -> tuple[int, DrawInfo]: ...
    @overload
    def draw(
        self, size: int | tuple[int, ...], *, rng: _Rng = None
    ) -> tuple[NDArray[int64], DrawInfo]: ...
