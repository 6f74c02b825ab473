from typing import Literal, NamedTuple

from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike

from pybandit.racing._looks import Looks
from pybandit.racing.bounds import BettingBound, EBSBound, NormalBound
from pybandit.racing.factors import Factors
from pybandit.tables.blocks import Blocks

__all__ = ["RaceResult", "race"]

_Bound = Literal["student", "normal"] | NormalBound | EBSBound | BettingBound
_Rng = int | SeedSequence | Generator | None

class RaceResult(NamedTuple):
    best: int
    n_looks: int
    n_evaluations: int
    exact: bool

def race(
    factors: ArrayLike | Factors | Blocks,
    log_prior: ArrayLike | None = None,
    *,
    bound: _Bound = "student",
    delta: float | None = None,
    looks: Looks | None = None,
    rng: _Rng = None,
) -> RaceResult: ...
