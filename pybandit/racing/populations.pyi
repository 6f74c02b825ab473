from collections.abc import Sequence

from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike

from pybandit.racing._race import RaceResult
from pybandit.racing.factors import Populations

def race_populations(
    populations: Populations | Sequence[ArrayLike],
    offsets: ArrayLike | None = None,
    *,
    delta: float = 0.05,
    boundary: float | None = None,
    first_look: int = 3,
    rng: int | SeedSequence | Generator | None = None,
) -> RaceResult: ...
