"""Options of the looks of a race."""

from dataclasses import KW_ONLY, dataclass
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
        Largest share of the factors at which the race looks, in (0, 1]. After that, it reads
        everything in one pass and is exact. By default 1 for factors computed by functions. For
        an array, by default the share at which the rows read at random have taken a quarter of
        the time of that pass, but at least the first look: see Notes.
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
    *Arrays.* Rows at random cost several times as much as rows in order, so a race that is not
    decided soon is faster if it reads everything. The default share of a float64 array is .5 % for
    two states and for the log ratios of a test, 1.8 % for ten states and 4.4 % for a hundred. It is
    smaller for smaller types, and for `BettingBound`, which takes more time per row. It depends on
    the number of states, the type and the bound, not on timings. The error is at most that of
    more looks, because an exact answer is not an error. Use ``max_fraction=1.0`` to read as few
    rows as possible.

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


def as_looks(looks):
    """Return `looks`, or the defaults if None."""
    if looks is None:
        return Looks()
    if not isinstance(looks, Looks):
        raise TypeError(f"looks must be a pybandit.racing.Looks or None; got {shown(looks)}")
    return looks


def looks_of_tests(looks):
    """Return `as_looks` for a test of log ratios, which has no choice of variances."""
    looks = as_looks(looks)
    if looks.variance != "pairwise":
        raise ValueError(f"looks must leave variance at 'pairwise' for a test of log ratios, which "
                         f"are differences; got variance={looks.variance!r}")
    return looks
