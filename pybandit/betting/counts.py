"""Races by betting on counts: how often each arm was tried in a batch, and what came of it."""

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
from pybandit.betting._count_bets import Batch, Bets, after, log_wealth, played, with_arm
from pybandit.betting._count_checks import (
    batches_of,
    check_count_state,
    checked_batch,
    columns_of,
)
from pybandit.betting._order import Initialised
from pybandit.betting._told import guarded
from pybandit.betting.limits import check_limits

__all__ = ["CountRace"]

MOST_ARMS = 2**20


class _Told(NamedTuple):
    """What a race was told: batches, how many there were when each late arm came, who left."""

    batches: tuple[Batch, ...]
    late: tuple[int, ...]
    retired: frozenset[int]


@hinted()
class CountRace(Initialised):
    """Find the best of several arms by counts: trials per batch, and the sum of their rewards.

    For tests of pages, offers or prices, where visits are counted by the day or the hour and
    nobody knows their order. Traffic is split evenly among `survivors`; arms leave as soon as
    bets against them have won enough, and the last one is the answer. One may look after
    every batch and stop at any time.

    Parameters
    ----------
    n_arms : int
        At least 2.
    delta : float, default 0.05
        Maximum probability that the answer is wrong, in (0, 1).
    value_range : (float, float), default (0, 1)
        Range of every single reward; (0, 1) if a visit converts or not.
    ties : {"none", "any"}
        Whether an answer is right that is only as good as another arm. ``"none"``: it is wrong,
        so an A/A test names an arm with probability at most delta. ``"any"``, the guarantee of
        `BettingRace`: it is right. Two equal arms then get an answer with probability at most
        2 delta, and bets must win half as much.

    Attributes
    ----------
    done : bool
        True if one arm is left.
    survivors : ndarray of int64
        Arms that are neither dropped nor retired.
    retired : ndarray of int64
    capital : ndarray of float64, shape (n_arms,)
        Wealth of the bets against each arm, started at 1; it is dropped at `threshold`.
    threshold : float
        ``2 / delta``, or ``1 / delta`` with ``ties="any"``.
    n_arms, n_pulls, n_batches : int
        Arms, those that were added included; trials; batches.
    pulls, means : ndarray, shape (n_arms,)
        Trials, and mean rewards; NaN if there was no trial.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    *Bets.* Rewards x are in units of their range, in [0, 1]. Against arm b, in a batch in which
    it has n visits, the rival a is the leader by the batches before and has m visits. With c the
    mean of all rewards before, each bet multiplies its wealth for each visit i of either arm by

        ``1 + bet w_i (x_i - c)``,  ``w_i = 2 n / (n + m)`` for a, ``-2 m / (n + m)`` for b

    and is capped so that a tenth of the wealth is left at the worst x. The weights of all visits
    add up to 0. There are thirty bets, ``1.2 u 2**-j`` for j from -9 to 20, with
    ``u = 1 / sqrt(variance of a reward * mean visits of an arm)``. The variance is that of the
    batches before the first bet, the visits are those of the batch of the first bet. The bets of
    j = 0, 1, 2, 3 are best for differences that take 4, 16, 64 and 256 batches to find. Each has
    .2125 of the wealth. The others have the rest, so that smaller differences are found later.
    There is no bet on the first batch, which tells c and the leader.

    *Sums and squares.* A bet that stays as it is through a batch does not need the order of the
    visits. If x is 0 or 1 the product is one of powers of four numbers. If the sum s and the sum
    of squares q of n rewards are known, the sum of the logarithms is at least that of
    ``s**2 / q`` rewards of ``q / s`` and otherwise zeros (for the rival; for b the same of
    1 - x), which is the best bound there is. Without squares q = s is used: every reward counts
    as if it were 0 or 1.

    *Guarantee.* Given the past and the numbers of visits, let the visits of a batch be
    independent, with means mu_i. The product has the mean ``prod (1 + bet w_i (mu_i - c))``, at
    most ``exp(bet sum w_i (mu_i - c)) = exp(bet sum w_i mu_i)``, and ``sum w_i mu_i`` is
    ``2 n m / (n + m)`` times what the mean of mu over the visits of a is above that over the
    visits of b. If b is at least as good as a in every batch, that is not positive, whatever the
    day does to all arms alike: each capital, and their weighted mean, is a nonnegative
    supermartingale that begins at 1, and by Ville's inequality it ever reaches x with
    probability at most 1 / x. Rival and c are of the past, bets of the past and the present
    numbers of visits. So the one best arm is dropped
    with probability at most 1 / x, and no other can be wrong: no union over arms, looks or days.
    Where m > 1 arms are best, one of them wins only if m - 1 of them were dropped; the sum of
    their capitals, each kept from where it was dropped, begins at m, and reaches (m - 1) x with
    probability at most ``m / ((m - 1) x)``, at most 2 / x.

    *Assumed:* that how many visits an arm gets in a batch, and when a batch ends, does not
    depend on what comes of its visits; that visits are independent (one visitor counted twice is
    not); and that the best arm is at least as good as the others in every batch, on average
    over the visits each has. Days that differ are no harm where arms are split at random within
    each; counts of an hour in which one arm was down are.

    *Late arms.* `add_arm` begins a process at 1, against who leads from then on, and in the
    processes of the others it may lead. The proof is that of the arms that were there, for the
    best of all that ever come, and holds where the past decides when one comes, but not whether
    one does. Where it decides that too, who is best depends on it: each late arm that is
    better than all before it has a process that may err, and the probability is at most delta
    times one more than there may be such. Who leads is told by the means of all batches: an
    arm that comes after better days than its own is nobody's rival until these have evened
    out. It errs no more often, and takes several times as long.

    *Retired arms.* After `retire` the race is played again from the first batch as if nobody had
    ever bet on that arm: who was dropped on account of it may come back. The promise is about
    the best of those not retired, where the choice of whom to retire does not depend on
    results. Where it does, every set of arms that may be retired is a race of its own, with
    capitals of its own, and the probability is at most delta times the number of such sets:
    twice delta where one certain arm goes or stays. That the best stays is not enough: of
    twelve equal arms, all but one rival retired to its harm when results were known, one lost in
    .26 of 300 races where it may in .1 of them, and .04 did with nobody retired.

    A batch of 5 arms takes about 0.2 ms, of 50 arms 0.4 ms. A state keeps 16 bytes per arm and
    batch, 24 with squares; `from_state` and `retire` replay it.

    **Threads.** One at a time; a second gets a RuntimeError.

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
        told = _Told((), (), frozenset())
        self._race: tuple[_Told, Bets] = told, self._played(told)

    def _settle(self) -> None:
        """Nothing waits: what is told is whole once it is there."""

    def _played(self, told):
        return played(self._n_first, *told, self.threshold)

    # -- what is told ---------------------------------------------------------

    def tell_counts(self, trials: ArrayLike, sums: ArrayLike,
                    squares: ArrayLike | None = None) -> None:
        """Record a batch: trials of each arm, and the sum of its rewards.

        All or nothing. Arms that were dropped may have trials; they count for `means` alone.

        Parameters
        ----------
        trials : array_like of int, shape (n_arms,)
            At least 0.
        sums : array_like of float, shape (n_arms,)
            Sums of rewards in `value_range`: successes if they are 0 and 1.
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
        """Do what `tell_counts` does; a study, which replays, warns itself."""
        with self._guard:
            told, bets = self._race
            batch = checked_batch(trials, sums, squares, bets.trials, self.value_range)
            if warns and squares is None and self.value_range == (0.0, 1.0):
                warn_of_rates(batch.trials, batch.sums)
            self._race = (told._replace(batches=(*told.batches, batch)),
                          after(bets, batch, self.threshold))

    @guarded
    def add_arm(self) -> int:
        """One arm more, from the next batch on; its number. A race that had ended goes on."""
        told, bets = self._race
        if bets.alive.size >= MOST_ARMS:
            raise ValueError(f"n_arms must be at most {MOST_ARMS}; got one more")
        self._race = told._replace(late=(*told.late, len(told.batches))), with_arm(bets)
        return int(bets.alive.size)

    @guarded
    def retire(self, arm: int) -> None:
        """Take an arm out, for reasons other than its results; again is fine.

        Raises
        ------
        ValueError
            Where there is no such arm, or none would be left.
        """
        told, bets = self._race
        arm = check_integer("arm", arm, 0, bets.alive.size - 1)
        retired = told.retired | {arm}
        if len(retired) == bets.alive.size:
            raise ValueError(f"arm must leave another; got {arm}, the last that is not retired")
        told = told._replace(retired=retired)
        self._race = told, self._played(told)

    @guarded
    def split(self, n: int) -> Ints:
        """How n visits are shared out: evenly among `survivors`, what is over to the least seen.

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

    # -- what is known ----------------------------------------------------------

    @property
    def threshold(self) -> float:
        """What bets against an arm must have made of 1 for it to be dropped."""
        return (2.0 if self.ties == "none" else 1.0) / self.delta

    @property
    @guarded
    def n_arms(self) -> int:
        """Arms, those that were added and those that have left included."""
        return int(self._race[1].alive.size)

    @property
    @guarded
    def done(self) -> bool:
        """Whether one arm is left."""
        return int(self._race[1].alive.sum()) == 1

    @property
    @guarded
    def survivors(self) -> Ints:
        """Arms that are neither dropped nor retired, increasing; int64."""
        return np.flatnonzero(self._race[1].alive)

    @property
    @guarded
    def retired(self) -> Ints:
        """Arms that `retire` took out, increasing; int64."""
        return np.flatnonzero(self._race[1].retired)

    @property
    @guarded
    def capital(self) -> Floats:
        """What bets against each arm have made of 1; float64, shape (n_arms,)."""
        with np.errstate(over="ignore"):
            return np.exp(log_wealth(self._race[1].logs))

    @property
    @guarded
    def n_pulls(self) -> int:
        """Trials told."""
        return int(self._race[1].trials.sum())

    @property
    @guarded
    def n_batches(self) -> int:
        """Batches told."""
        return len(self._race[0].batches)

    @property
    @guarded
    def pulls(self) -> Ints:
        """Trials of each arm; int64, shape (n_arms,), a copy."""
        return self._race[1].trials.copy()

    @property
    @guarded
    def means(self) -> Floats:
        """Mean reward of each arm over all its trials; NaN where there was none.

        Arms that were there on other days were perhaps there on better ones.
        """
        return self._means()

    def _means(self):
        bets, (low, high) = self._race[1], self.value_range
        with np.errstate(invalid="ignore"):
            return low + (high - low) * (bets.sums / bets.trials)

    @guarded
    def recommend(self) -> Ints:
        """The best arm, int64 of shape (1,); before the race is done, the present leader."""
        alive = np.flatnonzero(self._race[1].alive)
        means = np.nan_to_num(self._means()[alive], nan=-np.inf)
        return alive[[int(np.argmax(means))]]

    @guarded
    def __repr__(self) -> str:
        told, bets = self._race
        left = np.flatnonzero(bets.alive)
        answer = f"best: arm {left[0]}" if left.size == 1 else f"{left.size} left"
        return (f"<CountRace: {bets.alive.size} arms, {int(bets.trials.sum()):,} trials in "
                f"{len(told.batches):,} batches, {answer}>")

    # -- state --------------------------------------------------------------------

    @guarded
    def get_state(self) -> dict[str, Any]:
        """Everything the race is, as a dict of arrays and plain numbers.

        `from_state` makes a race of it that continues bit for bit.
        """
        told, bets = self._race
        trials, sums, squares = columns_of(told.batches, bets.alive.size)
        options = {"n_arms": self._n_first, "delta": self.delta,
                   "value_range": list(self.value_range), "ties": self.ties}
        return {"type": type(self).__name__, "options": options, "trials": trials, "sums": sums,
                "squares": squares, "late": np.array(told.late, dtype=np.int64),
                "retired": np.array(sorted(told.retired), dtype=np.int64)}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The race whose `get_state` this is: it is told again what it had been told.

        Raises
        ------
        ValueError, TypeError
            Where the state is another class's, lacks a part, or its parts do not fit each
            other.
        """
        trials, sums, squares, late, retired = check_count_state(state, cls)
        race = cls(**state["options"])
        n_first = race._n_first
        if trials.shape[1] != n_first + late.size:
            raise ValueError(f"state must hold trials of {n_first + late.size} arms; got "
                             f"{trials.shape[1]}")
        batches = batches_of(trials, sums, squares, late, n_first)
        told = _Told(batches, tuple(late.tolist()), frozenset(retired.tolist()))
        race._race = told, race._played(told)
        return race

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_state, (self.get_state(),)
