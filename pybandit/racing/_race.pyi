from typing import Literal, NamedTuple

from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike

from pybandit.racing.bounds import BettingBound, EBSBound, NormalBound
from pybandit.racing.factors import Factors
from pybandit.tables.blocks import Blocks

__all__ = ["RaceResult", "race"]

_Bound = (
    Literal["student", "normal", "ebs", "betting", "auto"] | NormalBound | EBSBound | BettingBound
)
_Variance = Literal["pairwise", "marginal"]
_Indices = Literal["auto", "permutation", "rejection", "keyed"]
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
    variance: _Variance = "pairwise",
    first_look: int | None = None,
    value_range: ArrayLike | None = None,
    max_fraction: float = 1.0,
    indices: _Indices = "auto",
    rng: _Rng = None,
) -> RaceResult: ...
