"""Options of the looks of a race."""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Literal

from pybandit._shared.checks import check_choice, check_integer, check_scalar, shown

INDICES = ("auto", "permutation", "rejection", "keyed")
VARIANCES = ("pairwise", "marginal")


@dataclass(frozen=True)
class Looks:
    """Options of the looks of a race or test: when it may decide, and in which order it reads.

    Parameters
    ----------
    first : int, optional
        Factors read before the first look, at least 1; at least 2 for bounds that estimate a
        variance. By default 50, for `EBSBound` 2; the number of factors doubles from look to
        look. For `BettingBound`, the size of the first block, 32 by default; later blocks grow by
        an eighth.
    max_fraction : float, optional
        Largest share of the factors at which the race looks, in (0, 1]. After that, it reads the
        rest in one pass and is exact. 1 by default; 0.05 for a `RacingSampler` of a matrix,
        because one pass over the whole matrix costs less than more looks.
    indices : {"auto", "permutation", "rejection", "keyed"}, default "auto"
        Order in which factors are drawn. ``"permutation"`` (4 bytes per factor, fastest per
        index) and ``"rejection"`` (one bit per factor, fastest to start) are exactly uniform;
        ``"keyed"`` is pseudorandom and needs no memory. ``"auto"`` is ``"rejection"`` for a
        single race or test, ``"permutation"`` for objects that run many, and ``"keyed"`` above
        2**26 factors.
    variance : {"pairwise", "marginal"}, default "pairwise"
        Standard deviation that a gap is compared with: the one of the differences from the leader,
        or the sum of the standard deviations of the two states. Only for races of states, not for
        tests.

    Raises
    ------
    ValueError, TypeError
        If a parameter is outside its range.

    Notes
    -----
    **Threads.** Immutable: threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> factors = np.random.default_rng(0).normal([0.0, 0.1, 0.5], 1.0, (100_000, 3))
    >>> pb.race(factors, looks=pb.racing.Looks(first=200), rng=0).n_looks
    1
    """

    _: KW_ONLY
    first: int | None = None
    max_fraction: float | None = None
    indices: Literal["auto", "permutation", "rejection", "keyed"] = "auto"
    variance: Literal["pairwise", "marginal"] = "pairwise"

    def __post_init__(self):
        if self.first is not None:
            object.__setattr__(self, "first", check_integer("first", self.first, 1))
        if self.max_fraction is not None:
            object.__setattr__(self, "max_fraction", check_scalar(
                "max_fraction", self.max_fraction, "in (0, 1]", lambda x: (x > 0) & (x <= 1)))
        check_choice("indices", self.indices, INDICES)
        check_choice("variance", self.variance, VARIANCES)


def as_looks(looks, max_fraction=1.0):
    """Return `looks`, or the defaults if None; `max_fraction` is used if `looks` has none."""
    if looks is None:
        looks = Looks()
    if not isinstance(looks, Looks):
        raise TypeError(f"looks must be a pybandit.racing.Looks or None; got {shown(looks)}")
    return looks if looks.max_fraction is not None else replace(looks, max_fraction=max_fraction)


def looks_of_tests(looks):
    """Return `as_looks` for a test of log ratios, which has no choice of variances."""
    looks = as_looks(looks)
    if looks.variance != "pairwise":
        raise ValueError(f"looks must leave variance at 'pairwise' for a test of log ratios, which "
                         f"are differences; got variance={looks.variance!r}")
    return looks
