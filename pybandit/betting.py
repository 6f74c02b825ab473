"""Races by betting under ask and tell: whoever can score an arm on an item can run one."""

import numpy as np

from pybandit._betting import Bets, LeaderRace, ThresholdRace, TopKRace
from pybandit._checks import (
    InfeasibleBudget,
    check_choice,
    check_in,
    check_integer,
    check_numeric,
)
from pybandit._race import as_generator
from pybandit.racing_bounds import MOST_BETS, check_limits, check_race_delta

__all__ = ["BettingRace", "BettingThreshold"]

SMALLEST_BLOCK = 4


class _PairedRace:
    """Asks for all alive arms on the same items, block by block, and keeps what it was told.

    A subclass makes the kernel's race in `_make_race` and says what it found.
    """

    def __init__(self, n_arms, n_items, delta, value_range, tolerance, max_evaluations, rng,
                 bets, mixture, block_size):
        self.n_arms = check_integer("n_arms", n_arms, 1)
        self.n_items = None if n_items is None else check_integer("n_items", n_items, 1)
        self.delta = check_race_delta(delta)
        self.value_range = check_limits(value_range)
        self.tolerance = float(check_in("tolerance", tolerance, "finite and at least 0",
                                        lambda x: np.isfinite(x) & (x >= 0)))
        self.bets = check_integer("bets", bets, 1)
        if self.bets > MOST_BETS:
            raise ValueError(f"bets must be at most {MOST_BETS}; got {self.bets}")
        self.mixture = check_choice("mixture", mixture, ("product", "ebmix"))
        self.block_size = (None if block_size is None
                           else check_integer("block_size", block_size, 1))
        self.max_evaluations = max_evaluations
        if max_evaluations is not None:
            self.max_evaluations = check_integer("max_evaluations", max_evaluations, 0)
            if self.max_evaluations < self.n_arms:
                raise InfeasibleBudget(
                    f"max_evaluations must be at least {self.n_arms}, one item for each of the "
                    f"{self.n_arms} arms; got {self.max_evaluations}")
        # an endless stream counts its items
        self._order = (None if self.n_items is None
                       else as_generator(rng).permutation(self.n_items))
        self._race = self._make_race()
        self._race.begin()
        self._blocks = []  # (arms, rewards of shape (items, arms)), as told
        self._n_items_told = 0
        self._pulls = np.zeros(self.n_arms, dtype=np.int64)
        self._sums = np.zeros(self.n_arms)

    # the options that make another race like this one
    _OPTIONS = ("n_arms", "n_items", "delta", "value_range", "tolerance", "max_evaluations",
                "bets", "mixture", "block_size")

    def _limits(self):
        if isinstance(self.value_range, tuple):
            low, high = self.value_range
            return low, high, high - low
        return -np.inf, np.inf, self.value_range

    def _make_bets(self):
        return Bets(self.mixture, self.bets)

    # -- what is known ------------------------------------------------------

    @property
    def done(self):
        """Whether nothing is left to ask."""
        return self._race.decided or self._block_length() == 0

    @property
    def exact(self):
        """Whether the answer is certain: all items of the last arms were read."""
        return not self._race.decided and self._n_items_told == self.n_items

    @property
    def n_pulls(self):
        """Evaluations told."""
        return int(self._pulls.sum())

    @property
    def n_batches(self):
        """Blocks told."""
        return len(self._blocks)

    @property
    def pulls(self):
        """Items read of each arm: the first ones of the race's order. int64, a copy."""
        return self._pulls.copy()

    @property
    def means(self):
        """Mean reward of each arm on the items read; NaN where none was."""
        with np.errstate(invalid="ignore"):
            return self._sums / self._pulls

    @property
    def variances(self):
        """Sample variance (divisor n - 1) of each arm's rewards; NaN below two."""
        return np.array([np.var(rewards, ddof=1) if rewards.size > 1 else np.nan
                         for rewards in map(self.rewards, range(self.n_arms))])

    @property
    def survivors(self):
        """The arms that are still read, increasing; int64."""
        return self._race.alive

    def rewards(self, arm):
        """The rewards of an arm in the order of the items; float64, shape (pulls[arm],)."""
        read = [values[:, np.searchsorted(arms, arm)]
                for arms, values in self._blocks if arm in arms]
        return np.concatenate(read) if read else np.empty(0)

    # -- ask and tell -------------------------------------------------------

    def ask(self):
        """The evaluations that are wanted now: every alive arm on each item of a block.

        The same until they are told. Blocks have 4 items, later a sixteenth of
        those read, or `block_size`.

        Returns
        -------
        arms, items : ndarray of int64, shape (n,)
            Pairs to evaluate, item by item; empty once the race is done.
        """
        items, arms = self._block_items(), self._race.alive
        if self._race.decided:
            items = items[:0]
        return np.tile(arms, items.size), np.repeat(items, arms.size)

    def tell(self, arms, items, rewards):
        """Give the rewards of everything that was asked, in any order; all or nothing.

        Parameters
        ----------
        arms, items : array_like of int, shape (n,)
            The pairs of `ask`.
        rewards : array_like of float, shape (n,)
            One a pair, in `value_range`. A lost reward cannot be left out: what an
            item would have added to the total is unknown. Take such items out of
            the set before, or evaluate again; `ask` repeats itself.

        Raises
        ------
        ValueError, TypeError
            Where pairs are missing, told twice or not asked for, or a reward is
            not finite or out of range: the message names arm, item and value,
            and the race is as before.
        """
        values = self._arranged(arms, items, rewards)
        alive = self._race.alive
        self._race.add(values)
        self._blocks.append((alive, values))
        self._n_items_told += len(values)
        self._pulls[alive] += len(values)
        self._sums[alive] += values.sum(axis=0)

    def _block_length(self):
        told = self._n_items_told
        length = self.block_size or max(SMALLEST_BLOCK, told // 16)
        if self.n_items is not None:
            length = min(length, self.n_items - told)
        if self.max_evaluations is not None:
            left = self.max_evaluations - self.n_pulls
            length = min(length, left // max(1, self._race.alive.size))
        return length

    def _block_items(self):
        told, length = self._n_items_told, self._block_length()
        if self._order is None:
            return np.arange(told, told + length)
        return self._order[told:told + length]

    def _arranged(self, arms, items, rewards):
        """The rewards as a checked matrix (items of the block, alive arms)."""
        asked_arms, asked_items = self.ask()
        arms, items = _integers("arms", arms), _integers("items", items)
        rewards = check_numeric("rewards", rewards)
        for name, values in (("items", items), ("rewards", rewards)):
            if values.shape != arms.shape:
                raise ValueError(f"{name} must have the shape of arms, {arms.shape}; got "
                                 f"{values.shape}")
        if not asked_arms.size:
            raise ValueError(f"the race is done and asks for nothing; got {arms.size} rewards")
        if not (np.array_equal(arms, asked_arms) and np.array_equal(items, asked_items)):
            rewards = rewards[self._places(arms, items, asked_arms, asked_items)]
        width = self._race.alive.size
        # a copy: the caller may reuse the array
        values = np.array(rewards, order="C").reshape(-1, width)
        self._check_rewards(values, asked_arms.reshape(-1, width),
                            asked_items.reshape(-1, width))
        return values

    def _places(self, arms, items, asked_arms, asked_items):
        """Where each pair that was asked is among those told."""
        told = {}
        asked = set(zip(asked_arms.tolist(), asked_items.tolist(), strict=True))
        for place, pair in enumerate(zip(arms.tolist(), items.tolist(), strict=True)):
            arm, item = pair
            if pair in told:
                raise ValueError(f"items must be told once; got item {item} of arm {arm} twice")
            if pair not in asked:
                before = "had been told before" if self._was_told(*pair) else "was not asked for"
                raise ValueError(f"arms and items must be pairs of ask(); item {item} of arm "
                                 f"{arm} {before}")
            told[pair] = place
        order = list(zip(asked_arms.tolist(), asked_items.tolist(), strict=True))
        missing = next((pair for pair in order if pair not in told), None)
        if missing is not None:
            raise ValueError(f"arms and items must be all {len(order)} pairs of ask(); got "
                             f"{arms.size}, without item {missing[1]} of arm {missing[0]}")
        return [told[pair] for pair in order]

    def _was_told(self, arm, item):
        if not 0 <= arm < self.n_arms:
            return False
        if self._order is None:
            return 0 <= item < self._pulls[arm]
        return bool(np.isin(item, self._order[:self._pulls[arm]]))

    def _check_rewards(self, values, arms, items):
        low, high, most = self._limits()
        bad = ~((values >= low) & (values <= high) & np.isfinite(values))
        if bad.any():
            at = tuple(np.argwhere(bad)[0])
            expected = (f"in value_range = {self.value_range}" if np.isfinite(values[at])
                        else "finite")
            raise ValueError(f"rewards must be {expected}; got {values[at]} for item "
                             f"{items[at]} of arm {arms[at]}")
        spread = np.ptp(values, axis=1)
        if spread.max() > most * (1 + 1e-12):
            row = int(spread.argmax())
            first, last = int(values[row].argmin()), int(values[row].argmax())
            raise ValueError(
                f"rewards of one item must differ by at most value_range = {most}; got "
                f"{values[row, first]} and {values[row, last]} for arms {arms[row, first]} and "
                f"{arms[row, last]} on item {items[row, 0]}")

    # -- state --------------------------------------------------------------

    def get_state(self):
        """Everything the race is, as a dict of arrays and plain numbers.

        `from_state` makes a race of it that continues bit for bit.
        """
        blocks = self._blocks
        return {
            "type": type(self).__name__,
            "options": {name: getattr(self, name) for name in self._OPTIONS},
            "order": None if self._order is None else self._order.copy(),
            "race": self._race.get_state(),
            "lengths": np.array([len(values) for _, values in blocks], dtype=np.int64),
            "widths": np.array([arms.size for arms, _ in blocks], dtype=np.int64),
            "arms": np.concatenate([np.empty(0, np.int64), *(arms for arms, _ in blocks)]),
            "rewards": np.concatenate([np.empty(0), *(v.ravel() for _, v in blocks)]),
        }

    @classmethod
    def from_state(cls, state):
        """The race whose `get_state` this is.

        Raises
        ------
        ValueError
            Where the state is another class's, or its arrays do not fit each other.
        """
        if state["type"] != cls.__name__:
            raise ValueError(f"state must be that of a {cls.__name__}; got one of a "
                             f"{state['type']}")
        race = cls(rng=0, **state["options"])
        race._restore(state)
        return race

    def _restore(self, state):
        fresh = self._race.get_state()
        for name, value in fresh.items():
            if np.shape(state["race"].get(name)) != np.shape(value):
                raise ValueError(f"state must hold {name} of shape {np.shape(value)} for "
                                 f"{self.n_arms} arms; got {np.shape(state['race'].get(name))}")
        sizes = state["lengths"] * state["widths"]
        order = np.array([]) if state["order"] is None else state["order"]
        for name, value, size in (("rewards", state["rewards"], sizes.sum()),
                                  ("arms", state["arms"], state["widths"].sum()),
                                  ("order", order, self.n_items or 0)):
            if np.shape(value) != (size,):
                raise ValueError(f"state must hold {name} of shape ({size},); got "
                                 f"{np.shape(value)}")
        self._race.set_state(state["race"])
        self._order = None if state["order"] is None else np.array(state["order"])
        rewards = np.split(state["rewards"], np.cumsum(sizes)[:-1])
        arms = np.split(state["arms"], np.cumsum(state["widths"])[:-1])
        for length, alive, values in zip(state["lengths"], arms, rewards, strict=False):
            values = values.reshape(length, -1)
            self._blocks.append((alive, values))
            self._n_items_told += int(length)
            self._pulls[alive] += length
            self._sums[alive] += values.sum(axis=0)

    def __reduce__(self):
        return type(self).from_state, (self.get_state(),)


class BettingRace(_PairedRace):
    """The best arm, or the k best, of a fixed set of items, read as little as it takes.

    Every alive arm is evaluated on the same items, drawn without replacement;
    arms leave as soon as bets against them have won `1 / delta`. See
    `BettingBound` for the race of k = 1 and its proof. For k > 1 there is such a
    process for each ordered pair (a, b), against "the mean of b is at least that
    of a". An arm is rejected when k others have beaten it, accepted when it has
    beaten ``n_arms - k``, and pairs need ``k (n_arms - k) / delta``: a wrong set
    takes a false claim of an arm outside over one inside.

    Parameters
    ----------
    n_arms : int
        At least 2.
    n_items : int or None
        N, the size of the set; the question is about means over all of it. None:
        an endless stream of independent items, counted from 0; the question is
        about expected rewards.
    k : int, default 1
        How many arms, in [1, n_arms - 1].
    delta : float, default 0.05
        The answer is wrong with probability at most delta, in (0, 1).
    value_range : (float, float) or float
        As in `BettingBound`; rewards outside raise.
    tolerance : float, default 0.0
        The race may also end on arms whose means are at most this much below the
        k-th best, so that near ties end; half of delta pays for it.
    max_evaluations : int, optional
        Rewards asked for at most; at least `n_arms`. When they are spent the race
        is done with several survivors, and `recommend` gives the present leaders.
    rng : None, int, SeedSequence or Generator
        Draws the order of the items.
    bets, hybrid, mixture
        As in `BettingBound`; `hybrid` for k = 1 only.
    block_size : int, optional
        Items asked for at a time; by default 4, later a sixteenth of those read.

    Attributes
    ----------
    done, exact : bool
    survivors : ndarray of int64
        Arms still read. One, or none, when the race was decided.
    n_pulls, n_batches : int
    pulls : ndarray of int64, shape (n_arms,)
    means, variances : ndarray of float64, shape (n_arms,)

    Raises
    ------
    ValueError, TypeError
        Where an argument is outside its range; `InfeasibleBudget` for
        `max_evaluations`.

    Notes
    -----
    O(bets) an arm and item for k = 1, O(bets n_arms) beyond that or, below 33
    arms, with a tolerance. Keeps 8 bytes a reward told and an item, 160 an arm, and
    160 an ordered pair where there are pairs.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> scores = np.random.default_rng(1).random((1000, 5)) * [0.5, 0.6, 0.7, 0.8, 1.0]
    >>> race = pb.BettingRace(5, 1000, value_range=(0, 1), rng=1)
    >>> while not race.done:
    ...     arms, items = race.ask()
    ...     race.tell(arms, items, scores[items, arms])
    >>> race.recommend(), race.n_pulls
    (array([4]), 504)
    """

    _OPTIONS = (*_PairedRace._OPTIONS, "k", "hybrid")

    def __init__(self, n_arms, n_items, *, k=1, delta=0.05, value_range, tolerance=0.0,
                 max_evaluations=None, rng=None, bets=16, hybrid=False, mixture="product",
                 block_size=None):
        n_arms = check_integer("n_arms", n_arms, 2)
        self.k = check_integer("k", k, 1)
        if self.k >= n_arms:
            raise ValueError(f"k must be below n_arms = {n_arms}; got {self.k}")
        self.hybrid = bool(hybrid)
        if self.hybrid and (mixture != "product" or self.k > 1):
            raise ValueError(f"hybrid must be False for k > 1 and mixture='ebmix'; got "
                             f"{hybrid!r} with k = {self.k}, mixture={mixture!r}")
        super().__init__(n_arms, n_items, delta, value_range, tolerance, max_evaluations, rng,
                         bets, mixture, block_size)

    def _make_race(self):
        share = self.delta / 2 if self.tolerance > 0 else self.delta
        n_items = self.n_items or 0
        if self.k == 1:
            return LeaderRace(self.n_arms, n_items, self._make_bets(), self._limits(), share,
                              self.hybrid, self.tolerance, share)
        return TopKRace(self.n_arms, n_items, self.k, self._make_bets(), self._limits(), share,
                        self.tolerance, share)

    def recommend(self):
        """The k best arms, best first; before the race is done, the present leaders.

        Returns
        -------
        ndarray of int64, shape (k,)
            By mean, ties to the lowest index.
        """
        leaders = self._race.leaders
        means = np.nan_to_num(self.means[leaders], nan=-np.inf)
        return leaders[np.argsort(-means, kind="stable")]


class BettingThreshold(_PairedRace):
    """Which arms have a mean above a threshold, read as little as it takes.

    For each arm two processes of bets, against "mean <= threshold" and "mean >=
    threshold", with the null mean of what is left, ``(N threshold - S) / (N - t +
    1)``; an arm is decided when one has won ``n_arms / delta``. With one arm this
    is the Metropolis-Hastings test with a guarantee.

    Parameters
    ----------
    n_arms : int
        At least 1.
    n_items : int or None
        As in `BettingRace`.
    threshold : float
        Inside `value_range`.
    delta : float, default 0.05
        The chance that any arm is on the wrong side is at most delta, in (0, 1).
    value_range : (float, float)
        Every reward lies there.
    tolerance : float, default 0.0
        Arms whose mean is less than this from the threshold may go to either side,
        so that they end.
    max_evaluations, rng, bets, mixture, block_size
        As in `BettingRace`.

    Attributes
    ----------
    above, below : ndarray of int64
        Arms decided, increasing.
    survivors : ndarray of int64
        Arms not decided.
    done, exact, n_pulls, n_batches, pulls, means, variances
        As in `BettingRace`.

    Raises
    ------
    ValueError, TypeError
        Where an argument is outside its range.

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

    _OPTIONS = (*_PairedRace._OPTIONS, "threshold")

    def __init__(self, n_arms, n_items, *, threshold, delta=0.05, value_range, tolerance=0.0,
                 max_evaluations=None, rng=None, bets=16, mixture="product", block_size=None):
        limits = check_limits(value_range)
        if not isinstance(limits, tuple):
            raise ValueError(f"value_range must be (low, high) of the rewards; got "
                             f"{value_range!r}")
        low, high = limits
        self.threshold = float(check_in("threshold", threshold, f"inside value_range = {limits}",
                                        lambda x: (x > low) & (x < high)))
        super().__init__(n_arms, n_items, delta, value_range, tolerance, max_evaluations, rng,
                         bets, mixture, block_size)

    def _make_race(self):
        return ThresholdRace(self.n_arms, self.n_items or 0, self.threshold, self._make_bets(),
                             self._limits(), self.delta, self.tolerance)

    def _sides(self):
        verdicts = self._race.verdicts
        if self.exact:
            still = self._race.alive
            verdicts[still] = np.where(self.means[still] >= self.threshold, 1, -1)
        return verdicts

    @property
    def above(self):
        """Arms whose mean is above the threshold; int64, increasing."""
        return np.flatnonzero(self._sides() > 0)

    @property
    def below(self):
        """Arms whose mean is below the threshold; int64, increasing."""
        return np.flatnonzero(self._sides() < 0)

    @property
    def survivors(self):
        """Arms not decided; int64, increasing."""
        return np.flatnonzero(self._sides() == 0)

    def recommend(self):
        """The arms above the threshold, best mean first; int64."""
        above = self.above
        return above[np.argsort(-self.means[above], kind="stable")]


def _integers(name, values):
    array = np.asarray(values)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise TypeError(f"{name} must be a flat array of integers; got "
                        f"{type(values).__name__} of dtype {array.dtype}, {array.ndim} "
                        f"dimensions")
    return array
