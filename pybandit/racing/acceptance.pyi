from collections.abc import Callable
from typing import Any, Literal, final

from numpy import int64
from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike, NDArray

from pybandit.racing._looks import Looks
from pybandit.racing.bounds import BettingBound, EBSBound, NormalBound
from pybandit.racing.factors import Factors
from pybandit.racing.schedule import Schedule

__all__ = ["AcceptResult", "AcceptanceTest", "accept"]

_Bound = Literal["student", "normal"] | NormalBound | EBSBound | BettingBound
_Rng = int | SeedSequence | Generator | None

@final
class AcceptResult:
    __match_args__: tuple[str, ...]
    @property
    def accepted(self) -> bool: ...
    @property
    def n_looks(self) -> int: ...
    @property
    def n_evaluations(self) -> int: ...
    @property
    def exact(self) -> bool: ...
    def __init__(self, accepted: bool, n_looks: int, n_evaluations: int, exact: bool) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def to_dict(self) -> dict[str, Any]: ...

def accept(
    log_ratios: ArrayLike | Factors | Callable[[NDArray[int64]], ArrayLike],
    log_threshold: float = 0.0,
    *,
    n_factors: int | None = None,
    bound: _Bound = "student",
    delta: float | None = None,
    looks: Looks | None = None,
    rng: _Rng = None,
) -> AcceptResult: ...
@final
class AcceptanceTest:
    def __init__(
        self,
        log_ratios: ArrayLike | Factors | Callable[[NDArray[int64]], ArrayLike],
        *,
        n_factors: int | None = None,
        bound: _Bound = "student",
        delta: float | None = None,
        looks: Looks | None = None,
        rng: _Rng = None,
    ) -> None: ...
    @property
    def n_factors(self) -> int: ...
    @property
    def schedule(self) -> Schedule: ...
    @property
    def address(self) -> int: ...
    def raise_status(self, status: int) -> None: ...
    def test(self, log_threshold: float = 0.0, *, rng: _Rng = None) -> AcceptResult: ...
