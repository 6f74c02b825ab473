from typing import Literal

from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike

from pybandit.racing._race import RaceResult
from pybandit.racing.factors import Factors

def lil_ucb(
    factors: ArrayLike | Factors,
    log_prior: ArrayLike | None = None,
    *,
    value_range: ArrayLike,
    delta: float = 0.05,
    guarantee: Literal["heuristic", "proven"] = "heuristic",
    rng: int | SeedSequence | Generator | None = None,
) -> RaceResult: ...
