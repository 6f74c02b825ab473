from typing import Literal, NamedTuple, final

from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike

from pybandit.racing.bounds import BettingBound, EBSBound, NormalBound
from pybandit.racing.factors import Factors
from pybandit.racing.schedule import Schedule

__all__ = ["AcceptResult", "AcceptanceTest", "accept"]

_Bound = (
    Literal["student", "normal", "ebs", "betting", "auto"] | NormalBound | EBSBound | BettingBound
)
_Indices = Literal["auto", "permutation", "rejection", "keyed"]
_Rng = int | SeedSequence | Generator | None

class AcceptResult(NamedTuple):
    accepted: bool
    n_looks: int
    n_evaluations: int
    exact: bool

def accept(
    log_ratios: ArrayLike | Factors,
    log_threshold: float = 0.0,
    *,
    bound: _Bound = "student",
    delta: float | None = None,
    first_look: int | None = None,
    value_range: float | tuple[float, float] | None = None,
    max_fraction: float = 1.0,
    indices: _Indices = "auto",
    rng: _Rng = None,
) -> AcceptResult: ...
@final
class AcceptanceTest:
    def __init__(
        self,
        log_ratios: ArrayLike | Factors,
        *,
        bound: _Bound = "student",
        delta: float | None = None,
        first_look: int | None = None,
        value_range: float | tuple[float, float] | None = None,
        max_fraction: float = 1.0,
        indices: _Indices = "auto",
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
