from collections.abc import Callable
from typing import Literal, NamedTuple, final

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

class AcceptResult(NamedTuple):
    accepted: bool
    n_looks: int
    n_evaluations: int
    exact: bool

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
