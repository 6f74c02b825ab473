"""Find the arms above a threshold by betting, with ask and tell."""

import numpy as np

from pybandit._shared.checks import check_scalar
from pybandit._shared.keywords import hinted
from pybandit._shared.types import ArrayLike, Ints, Rng
from pybandit.betting._ask_tell import guarded
from pybandit.betting._kernels import ThresholdRace
from pybandit.betting._paired import PairedRace
from pybandit.betting.limits import check_limits
from pybandit.betting.options import Bets

__all__ = ["BettingThreshold"]


@hinted(bets=Bets)
class BettingThreshold(PairedRace):
    """Find the arms whose mean is above a threshold, with few rewards.

    Each arm has two processes of bets, against "mean <= threshold" and "mean >= threshold". Under
    either hypothesis the next reward has a mean of at most, or at least,
    ``(N threshold - S) / (N - t + 1)``, where N is `n_items` and S is the sum of the t - 1 earlier
    rewards. An arm is decided when one process has won ``n_arms / delta``. With one arm, this
    decides a Metropolis-Hastings test with a guarantee.

    Parameters
    ----------
    n_arms : int
        At least 1.
    n_items : int or None
        As in `BettingRace`.
    threshold : float
        Inside `value_range`.
    delta : float, default 0.05
        Maximum probability that any arm is put on the wrong side, in (0, 1).
    value_range : (float, float)
        Range of every reward.
    epsilon : float, default 0.0
        Arms whose mean is less than this away from the threshold may be put on either side,
        so that they are decided at all.
    max_pulls, population_size, block_size, rng
        As in `BettingRace`.
    bets : Bets, optional
        Kind of the bets: "product" (the default) or "ebmix".

    Attributes
    ----------
    above, below : ndarray of int64
        Decided arms, increasing.
    survivors : ndarray of int64
        Undecided arms.
    done, decided, exact, n_pulls, n_batches, pulls, means, variances, pending, n_wasted_by_arm
        As in `BettingRace`.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    pybandit.evaluation.run_race : run it on a table or a function, in one call.

    Notes
    -----
    **Threads.** One thread at a time; a second one gets a RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> wins = np.random.default_rng(1).random((5000, 3)) < [0.4, 0.55, 0.7]
    >>> race = pb.BettingThreshold(3, 5000, threshold=0.5, value_range=(0, 1), rng=1)
    >>> while not race.done:
    ...     arms, items = race.ask()
    ...     race.tell(arms, items, wins[items, arms])
    >>> race.recommend(), race.below
    (array([2, 1]), array([0]))
    """

    threshold: float

    _OPTIONS = (*PairedRace._OPTIONS, "threshold")
    _MIXTURES = ("product", "ebmix")
    _USUAL = "product"

    def __init__(self, n_arms: int, n_items: int | None, *, threshold: float,
                 value_range: ArrayLike, delta: float = 0.05, epsilon: float = 0.0,
                 max_pulls: int | None = None, population_size: float | None = None,
                 bets: Bets | None = None, block_size: int | None = None,
                 rng: Rng = None) -> None:
        self._refuse_again()
        limits = check_limits(value_range)
        if not isinstance(limits, tuple):
            raise ValueError(f"value_range must be (low, high) of the rewards; got "
                             f"{value_range!r}")
        low, high = limits
        self.threshold = check_scalar("threshold", threshold, f"inside value_range = {limits}",
                                      lambda x: (x > low) & (x < high))
        super().__init__(n_arms, n_items, value_range=value_range, delta=delta, epsilon=epsilon,
                         max_pulls=max_pulls, population_size=population_size, bets=bets,
                         block_size=block_size, rng=rng)

    def _make_race(self):
        return ThresholdRace(self.n_arms, self._world or 0, self.threshold, self._make_bets(),
                             self._limits(), self.delta, self.epsilon)

    def _differences(self, alive, waiting):
        n_read, scale = self._books.n_items, self._limits()[2]
        above = np.nan_to_num(self._books.centred[alive]) + self._books.base - self.threshold
        sign = np.where(above >= 0, 1.0, -1.0)
        squares = self._spread.squares[alive] + n_read * above**2
        return (np.log(self.n_arms / self.delta), np.full(alive.size, np.nan),
                n_read * np.abs(above) / scale,
                squares / scale**2, sign * (waiting - self.threshold) / scale)

    def _sides(self):
        verdicts = self._race.verdicts
        if self._is_exact():
            verdicts[self._race.alive] = np.where(self._race.excess >= 0, 1, -1)
        return verdicts

    @property
    @guarded
    def above(self) -> Ints:
        """Arms whose mean is above the threshold; int64, increasing."""
        return np.flatnonzero(self._sides() > 0)

    @property
    @guarded
    def below(self) -> Ints:
        """Arms whose mean is below the threshold; int64, increasing."""
        return np.flatnonzero(self._sides() < 0)

    @property
    @guarded
    def survivors(self) -> Ints:
        """Undecided arms; int64, increasing."""
        return np.flatnonzero(self._sides() == 0)

    @guarded
    def recommend(self) -> Ints:
        """Return the arms above the threshold, largest mean first; int64."""
        above = np.flatnonzero(self._sides() > 0)
        return above[np.argsort(-self._books.centred[above], kind="stable")]

    @guarded
    def __repr__(self) -> str:
        n_above, n_below, n_open = (int((self._sides() == side).sum()) for side in (1, -1, 0))
        return (f"<BettingThreshold at {self.threshold:g}: {self._summary()}, {n_above} above, "
                f"{n_below} below, {n_open} open>")
