"""Races by betting on counts: trials per arm and batch, and the sums of their rewards."""

from typing import Any, Literal, NamedTuple, Self

import numpy as np

from pybandit._shared.checks import (
    MOST_PULLS,
    check_choice,
    check_delta,
    check_integer,
    shown,
)
from pybandit._shared.count_rates import warn_of_rates
from pybandit._shared.guard import Guard
from pybandit._shared.keywords import hinted
from pybandit._shared.types import ArrayLike, Floats, Ints
from pybandit.betting._ask_tell import guarded
from pybandit.betting._count_bets import Batch, Bets, after, log_wealth, played, with_arm
from pybandit.betting._count_checks import (
    batches_of,
    check_count_state,
    checked_batch,
    columns_of,
)
from pybandit.betting._order import Initialised
from pybandit.betting.limits import check_limits

__all__ = ["CountRace"]

MOST_ARMS = 2**20


class _History(NamedTuple):
    """Data of a race: its batches, for each late arm the number of batches before it, and the
    retired arms."""

    batches: tuple[Batch, ...]
    late: tuple[int, ...]
    retired: frozenset[int]


@hinted()
class CountRace(Initialised):
    """Find the best of several arms by counts: trials per batch, and the sum of their rewards.

    For tests of pages, offers or prices in which visits are counted per day or hour and their
    order is unknown. Traffic is split evenly among `survivors`. An arm is dropped as soon as the
    bets against it have won enough, and the last one is the answer. Results may be read after
    every batch, and the test may stop at any time.

    Parameters
    ----------
    n_arms : int
        At least 2.
    delta : float, default 0.05
        Maximum probability that the answer is wrong, in (0, 1).
    value_range : (float, float), default (0, 1)
        Range of every single reward; (0, 1) if a visit converts or not.
    ties : {"none", "any"}
        Treatment of an answer that is only as good as another arm. ``"none"``: it is an error,
        so an A/A test names an arm with probability at most delta. ``"any"``: it is correct, as
        in `BettingRace`. Two equal arms then get an answer with probability at most 2 delta,
        and bets must win half as much.

    Attributes
    ----------
    done : bool
        True if one arm is left.
    survivors : ndarray of int64
        Arms that are neither dropped nor retired.
    retired : ndarray of int64
    capital : ndarray of float64, shape (n_arms,)
        Wealth of the bets against each arm, started at 1; an arm is dropped at `threshold`.
    threshold : float
        ``2 / delta``, or ``1 / delta`` with ``ties="any"``.
    n_arms, n_pulls, n_batches : int
        Numbers of arms (added ones included), trials and batches.
    pulls, means : ndarray, shape (n_arms,)
        Trials, and mean rewards; NaN if there was no trial.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    *Bets.* Rewards x are in units of their range, in [0, 1]. In a batch, arm b has n visits and
    its rival a, the leader by the earlier batches, has m visits. With c the mean of all earlier
    rewards, each bet against b multiplies its wealth for each visit i of either arm by

        ``1 + bet w_i (x_i - c)``,  ``w_i = 2 n / (n + m)`` for a, ``-2 m / (n + m)`` for b

    and is capped so that a tenth of the wealth is left at the worst x. The weights of all visits
    add up to 0. There are thirty bets, ``1.2 u 2**-j`` for j from -9 to 20, with
    ``u = 1 / sqrt(variance of a reward * mean visits of an arm)``. The variance is that of the
    batches before the first bet; the visits are those of the batch of the first bet. The bets
    with j = 0, 1, 2, 3 are best for differences that take 4, 16, 64 and 256 batches to find, and
    each has .2125 of the wealth. The others have the rest, so that smaller differences are found
    later. There is no bet on the first batch, which determines c and the leader.

    *Sums and squares.* A bet that is constant through a batch does not need the order of the
    visits. If x is 0 or 1, the product consists of powers of four numbers. If the sum s and the
    sum of squares q of n rewards are known, the sum of the logarithms is at least that of
    ``s**2 / q`` rewards of ``q / s`` and otherwise zeros, which is the best possible bound. This
    applies to x for the rival, and to 1 - x for b. Without squares q = s is used: every reward
    counts as if it were 0 or 1.

    *Guarantee.* Given the past and the numbers of visits, let the visits of a batch be
    independent, with means mu_i. The product has the mean ``prod (1 + bet w_i (mu_i - c))``, at
    most ``exp(bet sum w_i (mu_i - c)) = exp(bet sum w_i mu_i)``. Here ``sum w_i mu_i`` is
    ``2 n m / (n + m)`` times the mean of mu over the visits of a, minus that over the visits of
    b. If b is at least as good as a in every batch, this is not positive, whatever the day does
    to all arms alike. Then each wealth, and their weighted mean, is a nonnegative supermartingale
    that starts at 1; by Ville's inequality it ever reaches x with probability at most 1 / x.
    Rival and c depend on the past, and bets on the past and the current numbers of visits. So a
    unique best arm is dropped with probability at most 1 / x. Only this process can cause an
    error, so there is no union over arms, looks or days. If m > 1 arms are best, one of them wins
    only if m - 1 of them were dropped. The sum of their wealths, each frozen when its arm is
    dropped, starts at m, and reaches (m - 1) x with probability at most ``m / ((m - 1) x)``, at
    most 2 / x.

    *Assumptions.* The number of visits of an arm in a batch, and the end of a batch, do not
    depend on the rewards of its visits. Visits are independent (one visitor counted twice is
    not). The best arm is at least as good as the others in every batch, on average over the
    visits of each. Days may differ if arms are split at random within each day. Counts of an hour
    in which one arm was down violate the assumptions.

    *Late arms.* `add_arm` starts a process at 1 for the new arm, against the leader from then on,
    and the new arm may become the rival of others. The proof holds for the best of all arms that
    ever come, if the past decides when an arm comes, but not whether one comes. If the past
    decides that too, the best arm depends on it: each late arm that is better than all earlier
    ones has a process that may err. The error probability is then at most delta times one plus
    the possible number of such arms. The leader is found by the means of all batches. So an arm
    that was added after unusually good days does not lead until the days have evened out. That
    causes no additional errors, but takes several times as long.

    *Retired arms.* After `retire` the race is replayed from the first batch as if there had been
    no bets on that arm, so an arm that it had beaten may return. The guarantee is about the best
    of the arms that are not retired, if the choice of arms to retire does not depend on results.
    If the choice does, every set of arms that may be retired is a race with its own wealth. The
    error probability is then at most delta times the number of such sets: 2 delta if one given arm
    may be retired. It is not enough that the best arm stays. In a simulation with twelve equal
    arms, all but one rival were retired, to the harm of one arm, after results were known: that
    arm lost in .26 of 300 races, where .1 is allowed, and in .04 without retirement.

    A batch of 5 arms takes about 0.2 ms, of 50 arms 0.4 ms. A saved state has 16 bytes per arm
    and batch, 24 with squares; `from_state` and `retire` replay it.

    **Threads.** One thread at a time; a second one gets a RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> rng, rates = np.random.default_rng(1), np.array([0.04, 0.05, 0.07])
    >>> race = pb.CountRace(3)
    >>> while not race.done:
    ...     trials = race.split(3000)
    ...     race.tell_counts(trials, rng.binomial(trials, rates))
    >>> race.recommend(), race.n_batches
    (array([2]), 5)
    """

    delta: float
    value_range: tuple[float, float]
    ties: str

    def __init__(self, n_arms: int, *, delta: float = 0.05,
                 value_range: tuple[float, float] = (0.0, 1.0),
                 ties: Literal["none", "any"] = "none") -> None:
        self._refuse_again()
        self._n_first = check_integer("n_arms", n_arms, 2, MOST_ARMS)
        self.delta = check_delta(delta)
        limits = check_limits(value_range)
        if not isinstance(limits, tuple):
            raise ValueError(f"value_range must be two numbers, (low, high); got "
                             f"{shown(value_range)}")
        self.value_range = limits
        self.ties = check_choice("ties", ties, ("none", "any"))
        self._guard, self._due = Guard(type(self)), False
        history = _History((), (), frozenset())
        self._race: tuple[_History, Bets] = history, self._played(history)

    def _settle(self) -> None:
        """Do nothing; `guarded` calls this. A batch is complete when it is reported."""

    def _played(self, history):
        return played(self._n_first, *history, self.threshold)

    # -- reports ---------------------------------------------------------------

    def tell_counts(self, trials: ArrayLike, sums: ArrayLike,
                    squares: ArrayLike | None = None) -> None:
        """Record a batch: trials of each arm, and the sum of its rewards.

        After an error nothing is recorded. Arms that were dropped may have trials, which count
        only for `means`.

        Parameters
        ----------
        trials : array_like of int, shape (n_arms,)
            At least 0.
        sums : array_like of float, shape (n_arms,)
            Sums of rewards in `value_range`; the numbers of successes if rewards are 0 or 1.
        squares : array_like of float, shape (n_arms,), optional
            Sums of the squared rewards, in the same units. Without them rewards are treated
            as if each were the lowest or the highest value, which is exact for conversions and
            costs most of the power for values that vary less.

        Raises
        ------
        ValueError, TypeError
            If a shape differs, or if no rewards in `value_range` have these sums. The race is
            unchanged.

        Warns
        -----
        UserWarning
            If the sums look like rates: conversions divided by trials.
        """
        self._tell_counts(trials, sums, squares, warns=True)

    def _tell_counts(self, trials, sums, squares, warns=False):
        """Record a batch without a warning by default: a study replays batches and warns itself."""
        with self._guard:
            self._race = self._after(self._race, trials, sums, squares, warns)

    def _after(self, race, trials, sums, squares, warns=False):
        """Return what a `_race` is after one more batch."""
        history, bets = race
        batch = checked_batch(trials, sums, squares, bets.trials, self.value_range)
        if warns and squares is None and self.value_range == (0.0, 1.0):
            warn_of_rates(batch.trials, batch.sums)
        return (history._replace(batches=(*history.batches, batch)),
                after(bets, batch, self.threshold))

    @guarded
    def add_arm(self) -> int:
        """Add an arm from the next batch on and return its number; a finished race continues."""
        history, bets = self._race
        if bets.alive.size >= MOST_ARMS:
            raise ValueError(f"n_arms must be at most {MOST_ARMS}; got {MOST_ARMS + 1}")
        self._race = history._replace(late=(*history.late, len(history.batches))), with_arm(bets)
        return int(bets.alive.size)

    @guarded
    def retire(self, arm: int) -> None:
        """Take an arm out of the race, for reasons other than its results.

        Retiring an arm a second time has no effect.

        Raises
        ------
        ValueError
            If there is no such arm, or if no arm would be left.
        """
        history, bets = self._race
        arm = check_integer("arm", arm, 0, bets.alive.size - 1)
        retired = history.retired | {arm}
        if len(retired) == bets.alive.size:
            raise ValueError(f"arm must not be the last one that is not retired; got {arm}")
        history = history._replace(retired=retired)
        self._race = history, self._played(history)

    @guarded
    def split(self, n: int) -> Ints:
        """Return how to split n visits: evenly among `survivors`, the rest to the least visited.

        Returns
        -------
        ndarray of int64, shape (n_arms,)
        """
        n, bets = check_integer("n", n, 0, MOST_PULLS), self._race[1]
        shares = np.zeros(bets.alive.size, dtype=np.int64)
        ids = np.flatnonzero(bets.alive)
        shares[ids] = n // ids.size
        least_seen = ids[np.argsort(bets.trials[ids], kind="stable")]
        shares[least_seen[:n % ids.size]] += 1
        return shares

    # -- results ---------------------------------------------------------------

    @property
    def threshold(self) -> float:
        """Wealth, starting at 1, that the bets against an arm must reach to drop the arm."""
        return (2.0 if self.ties == "none" else 1.0) / self.delta

    @property
    @guarded
    def n_arms(self) -> int:
        """Number of arms, including added, dropped and retired ones."""
        return int(self._race[1].alive.size)

    @property
    @guarded
    def done(self) -> bool:
        """True if one arm is left."""
        return int(self._race[1].alive.sum()) == 1

    @property
    @guarded
    def survivors(self) -> Ints:
        """Arms that are neither dropped nor retired, increasing; int64."""
        return np.flatnonzero(self._race[1].alive)

    @property
    @guarded
    def retired(self) -> Ints:
        """Retired arms, increasing; int64."""
        return np.flatnonzero(self._race[1].retired)

    @property
    @guarded
    def capital(self) -> Floats:
        """Wealth of the bets against each arm, started at 1; float64, shape (n_arms,)."""
        with np.errstate(over="ignore"):
            return np.exp(log_wealth(self._race[1].logs))

    @property
    @guarded
    def n_pulls(self) -> int:
        """Number of trials reported."""
        return int(self._race[1].trials.sum())

    @property
    @guarded
    def n_batches(self) -> int:
        """Number of batches reported."""
        return len(self._race[0].batches)

    @property
    @guarded
    def pulls(self) -> Ints:
        """Trials of each arm; int64, shape (n_arms,), a copy."""
        return self._race[1].trials.copy()

    @property
    @guarded
    def means(self) -> Floats:
        """Mean reward of each arm over all its trials; NaN if it has none.

        Arms that took part on different days are not comparable if some days were better.
        """
        return self._means()

    def _means(self):
        bets, (low, high) = self._race[1], self.value_range
        with np.errstate(invalid="ignore"):
            return low + (high - low) * (bets.sums / bets.trials)

    @guarded
    def recommend(self) -> Ints:
        """Return the best arm, int64 of shape (1,); before the race is done, the current leader."""
        alive = np.flatnonzero(self._race[1].alive)
        means = np.nan_to_num(self._means()[alive], nan=-np.inf)
        return alive[[int(np.argmax(means))]]

    @guarded
    def __repr__(self) -> str:
        history, bets = self._race
        left = np.flatnonzero(bets.alive)
        answer = f"best: arm {left[0]}" if left.size == 1 else f"{left.size} left"
        return (f"<CountRace: {bets.alive.size} arms, {int(bets.trials.sum()):,} trials in "
                f"{len(history.batches):,} batches, {answer}>")

    # -- state --------------------------------------------------------------------

    @guarded
    def get_state(self) -> dict[str, Any]:
        """Return the state of the race as a dict of arrays and plain numbers.

        A race restored by `from_state` continues bit for bit.
        """
        history, bets = self._race
        trials, sums, squares = columns_of(history.batches, bets.alive.size)
        options = {"n_arms": self._n_first, "delta": self.delta,
                   "value_range": list(self.value_range), "ties": self.ties}
        return {"type": type(self).__name__, "options": options, "trials": trials, "sums": sums,
                "squares": squares, "late": np.array(history.late, dtype=np.int64),
                "retired": np.array(sorted(history.retired), dtype=np.int64)}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Return the race that `get_state` saved; its batches are replayed.

        Raises
        ------
        ValueError, TypeError
            If the state is of another class, lacks a part, or is inconsistent.
        """
        trials, sums, squares, late, retired = check_count_state(state, cls)
        race = cls(**state["options"])
        n_first = race._n_first
        if trials.shape[1] != n_first + late.size:
            raise ValueError(f"state must hold trials of {n_first + late.size} arms; got "
                             f"{trials.shape[1]}")
        batches = batches_of(trials, sums, squares, late, n_first)
        history = _History(batches, tuple(late.tolist()), frozenset(retired.tolist()))
        race._race = history, race._played(history)
        return race

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_state, (self.get_state(),)
