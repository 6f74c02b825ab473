from typing import overload

from numpy import int64
from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike, NDArray

from pybandit.racing.factors import Factors
from pybandit.tables.blocks import Blocks

__all__ = ["exact_sample"]

_Rng = int | SeedSequence | Generator | None

@overload
def exact_sample(
    factors: ArrayLike | Factors | Blocks,
    log_prior: ArrayLike | None = None,
    size: None = None,
    *,
    rng: _Rng = None,
) -> int: ...
@overload
def exact_sample(
    factors: ArrayLike | Factors | Blocks,
    log_prior: ArrayLike | None = None,
    *,
    size: int | tuple[int, ...],
    rng: _Rng = None,
) -> NDArray[int64]: ...
@overload
def exact_sample(
    factors: ArrayLike | Factors | Blocks,
    log_prior: ArrayLike | None,
    size: int | tuple[int, ...],
    *,
    rng: _Rng = None,
) -> NDArray[int64]: ...
