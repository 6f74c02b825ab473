from collections.abc import Sequence
from typing import Literal

from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike

from pybandit.racing._race import RaceResult
from pybandit.racing.bounds import NormalBound
from pybandit.racing.factors import Populations

def race_populations(
    populations: Populations | Sequence[ArrayLike],
    log_prior: ArrayLike | None = None,
    *,
    bound: Literal["student", "normal"] | NormalBound = "student",
    delta: float | None = None,
    first_look: int = 3,
    rng: int | SeedSequence | Generator | None = None,
) -> RaceResult: ...
