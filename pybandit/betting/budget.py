"""Find the best arms within a budget, by successive rejects on shared items and by bets."""

from typing import Literal

import numpy as np

from pybandit._shared.checks import LARGEST, MOST_PULLS, check_integer, owned, shown
from pybandit._shared.errors import InfeasibleBudgetError
from pybandit._shared.generators import as_generator
from pybandit._shared.keywords import hinted
from pybandit._shared.types import ArrayLike, Ints, Rng
from pybandit.betting._ask_tell import guarded
from pybandit.betting._estimate import error_probability, strength_of
from pybandit.betting._kernels import LeaderRace, TopKRace
from pybandit.betting._paired import MOST_ARMS, PairedRace
from pybandit.betting._rejects import Rejects
from pybandit.betting.options import Bets, Costs, as_costs

__all__ = ["BudgetRace"]

# Strength of the schedule until the first arm is eliminated.
AT_FIRST = 0.5


@hinted(bets=Bets, costs=Costs)
class BudgetRace(PairedRace):
    """Find the best arm, or the k best, on a fixed set of items, within a budget.

    All survivors are read on the same items, drawn without replacement. A schedule repeatedly
    drops the arm with the lowest mean, so that k arms remain at the end of the budget: successive
    rejects on shared items. The better the first rewards separate the arms, the sooner it drops
    arms. The same evaluations are also bet on, as in `BettingRace`: an arm that bets exclude is
    eliminated early, and its share of the budget goes to the others.

    Parameters
    ----------
    n_arms : int
        At least 2.
    n_items : int
        N, the number of items; the best arms have the highest means over all N items.
    k : int, default 1
        Number of best arms to find, in [1, n_arms - 1].
    budget : int, optional
        Maximum number of rewards requested; at least `n_arms`. Pass this or a budget in money,
        ``costs=Costs(values, budget=...)``.
    value_range : (float, float) or float
        As in `BettingRace`.
    delta : float, default 0.05
        Error of the bets, in (0, 1): bets exclude an arm of the k best with probability at
        most delta.
    population_size : int or math.inf, optional
        As in `BettingRace`.
    costs : float, array_like, "told" or Costs, optional
        As in `BettingRace`. With ``Costs(values, budget=...)`` the budget is in money. If costs
        are known in advance it is never exceeded, to 12 digits, and must be at least the cost
        of the most expensive item for all arms. The schedule converts the rest of the budget to
        the number of rewards that it buys for the survivors at their mean price. With "told",
        the last block may cost more than expected. If prices differ by item and the budget does
        not pay for a block, the block is shortened by the prices of its items. The guarantee
        then assumes that prices do not depend on the scores of later items.
    bets : Bets, optional
        Kind of the bets, without `hybrid`; by default ``Bets("product")``.
    rng : None, int, SeedSequence or Generator
        Draws the order of the items, and the order in which ties between arms are broken.

    Attributes
    ----------
    done : bool
        True if there is nothing left to request.
    decided : bool
        True if the answer is certified: only bets eliminated arms. It is then wrong with
        probability at most `delta`.
    exact : bool
        True if the answer is certified and all items of the last arms were read.
    survivors : ndarray of int64
        Arms that are still read.
    dropped : ndarray of int64
        Arms that the schedule dropped; no bet was won against them.
    excluded : ndarray of int64
        Arms that bets excluded; for k > 1 also those that bets accepted, which are no longer
        read and which `recommend` contains.
    error_estimate : float
    n_pulls, n_batches : int
    pulls : ndarray of int64, shape (n_arms,)
    means, variances : ndarray of float64, shape (n_arms,)
    cost : float or None
    cost_by_arm : ndarray of float64, shape (n_arms,), or None
    pending : tuple of ndarray of int64
    n_wasted_by_arm : ndarray of int64, shape (n_arms,)
        As in `BettingRace`; no reward is requested ahead of its block, so none is wasted.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` if the budget is below
        one reward per arm.

    Notes
    -----
    *Schedule.* An arm that is dropped while r arms remain (itself included) is read on
    a w(r - k + 1) items, at most N. w(j) is j^-late up to j = 8, and falls as j^-early beyond it.
    The exponents are ``early = 1 + m (.2 f)`` and ``late = 1 + m (.1 + .5 f)`` with
    ``m = min(1, 100 / (n_arms - k + 1))``. The scale a is the largest one that the remaining
    budget pays for, and is recomputed at every look. The strength f is 1/2 until the first arm is
    dropped, and then ``(rho - .3) / .5``, clipped to [0, 1], where rho is the reliability of the
    means of all arms: the share of their variance that is not noise. With both exponents 1 this
    is the classical schedule of successive rejects. The schedule is a heuristic, and its constants
    were chosen by measurement.

    *Guarantee.* For k = 1 the best arm is among those excluded with probability at most delta,
    whatever the schedule does. The wealth against "b is best" is a nonnegative supermartingale
    while b is read, and stops when b is dropped, a decision that depends only on the past. So if
    only bets eliminated arms, the answer is wrong with probability at most delta. For k > 1 the
    same follows from the union bound over pairs, as for `BettingRace`. Otherwise there is no
    guarantee, only the estimate `error_estimate`.

    Time: O(bets) per arm and item for k = 1, and O(n_arms) per look, of which there are about
    16 log(N); O(bets n_arms) per arm and item for k > 1. Memory: as for `BettingRace`.

    **Threads.** One thread at a time; a second one gets a RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> scores = np.random.default_rng(1).random((1000, 5)) * [0.7, 0.75, 0.8, 0.85, 1.0]
    >>> race = pb.BudgetRace(5, 1000, budget=300, value_range=(0, 1), rng=1)
    >>> while not race.done:
    ...     arms, items = race.ask()
    ...     race.tell(arms, items, scores[items, arms])
    >>> race.recommend(), race.n_pulls, race.decided
    (array([4]), 299, False)
    """

    k: int
    budget: int | None

    _OPTIONS = ("n_arms", "n_items", "budget", "k", "delta", "value_range", "bets", "costs",
                "population_size")
    _PARTS = (*PairedRace._PARTS, "keys")
    _USUAL = "product"
    _LIMIT, _OTHER_LIMIT = "budget", "max_cost"

    def __init__(self, n_arms: int, n_items: int, k: int = 1, *, budget: int | None = None,
                 value_range: ArrayLike, delta: float = 0.05,
                 population_size: float | None = None,
                 costs: ArrayLike | Literal["told"] | Costs | None = None,
                 bets: Bets | None = None, rng: Rng = None) -> None:
        self._refuse_again()
        n_arms = check_integer("n_arms", n_arms, 2, MOST_ARMS)
        n_items = check_integer("n_items", n_items, 1, LARGEST)
        self.k = check_integer("k", k, 1)
        if self.k >= n_arms:
            raise ValueError(f"k must be below n_arms = {n_arms}; got {k}")
        costs = as_costs(costs)
        self.budget = self._check_budget(budget, None if costs is None else costs.budget, n_arms)
        rng = as_generator(rng)
        super().__init__(n_arms, n_items, value_range=value_range, delta=delta, costs=costs,
                         population_size=population_size, bets=bets, rng=rng)
        self._keys = rng.permutation(n_arms)

    @staticmethod
    def _check_budget(budget, budget_cost, n_arms):
        if (budget is None) == (budget_cost is None):
            raise ValueError("pass exactly one of budget (pulls) and costs=Costs(..., budget=...) "
                             f"(money); got {shown(budget)} and {shown(budget_cost)}")
        if budget is None:
            return None
        budget = check_integer("budget", budget, 0, LARGEST)
        if budget < n_arms:
            raise InfeasibleBudgetError(f"budget must be at least {n_arms}, one item for each of "
                                        f"the {n_arms} arms; got {budget}")
        return budget

    def _make_race(self):
        # the measured schedule, and the number of items read from which it applies. Ctrl-C
        # during the `tell` that creates it leaves a schedule that does not apply yet.
        self._rejects = Rejects(self.n_arms, self.n_items, self.k, AT_FIRST)
        self._measured = None, LARGEST
        self._next = -1, 0  # items read, and the length of the next block
        if self.k == 1:
            return LeaderRace(self.n_arms, self._world or 0, self._make_bets(), self._limits(),
                              self.delta)
        return TopKRace(self.n_arms, self._world or 0, self.k, self._make_bets(), self._limits(),
                        self.delta)

    # -- the schedule -------------------------------------------------------

    def _schedule(self):
        rejects, since = self._measured
        return rejects if self._books.n_items >= since else self._rejects

    def _places(self):
        """Return how many arms are still to be found among the survivors."""
        if self.k == 1:
            return 1
        return self.k - np.setdiff1d(self._race.leaders, self._race.alive).size

    def _block_length(self):
        n_read = self._books.n_items
        if self._race.decided or n_read == self.n_items:
            return 0
        if self._next[0] != n_read:  # called several times between two `tell`
            block = self._schedule().block(self._race.alive.size, self._places(), n_read,
                                           self._cells_left())
            self._next = n_read, self._affordable(block)
        return self._next[1]

    def _is_capped(self):
        return True

    def _cells_left(self, values=None):
        """Return the evaluations left after `values`; money is converted at the mean price."""
        alive, n_more = self._race.alive, 0 if values is None else values.size
        pulls = self._books.pulls
        if self.budget is not None:
            return self.budget - int(pulls.sum()) - n_more
        n_blocks = len(self._books.blocks) + (values is not None)
        if n_blocks == 0 and self._money.prices is None:
            return self.n_arms  # prices are unknown before the first item
        pulls[alive] += n_more // alive.size
        left = max(0.0, self._money.left(n_blocks))
        price = float(self._money.mean_prices(n_blocks, pulls)[alive].mean())
        return int(left / price) if left < price * MOST_PULLS else MOST_PULLS

    def _withdrawals(self, values):
        n_alive, n_read = self._race.alive.size, self._books.n_items + len(values)
        where = n_alive, self._places(), n_read, self._cells_left(values)
        rejects = self._schedule()
        kept = rejects.keep(*where)
        if kept < n_alive and rejects is self._rejects:
            kept = self._measure(values).keep(*where)
        return kept, self._keys

    def _measure(self, values):
        """Return the schedule from the first drop on, with the strength measured on all rewards."""
        strength = strength_of(self._rewards_of(self._race.alive, values))
        n_read = self._books.n_items + len(values)
        self._measured = Rejects(self.n_arms, self.n_items, self.k, strength), n_read
        return self._measured[0]

    def _rewards_of(self, arms, values):
        """Return all rewards of `arms`, which are survivors; those of `values` come last."""
        blocks = [block if alive.size == arms.size else block[:, np.searchsorted(alive, arms)]
                for alive, block in self._books.blocks]
        return np.concatenate([*blocks, values])

    # -- results -----------------------------------------------------------

    def _is_exact(self):
        return super()._is_exact() and not self._race.withdrawn.any()

    @property
    @guarded
    def decided(self) -> bool:
        """True if the answer is certified: only bets eliminated arms, so `delta` applies to it."""
        return self._is_certified()

    def _is_certified(self):
        ended = self._race.decided or self._books.n_items == self._world
        return ended and not self._race.withdrawn.any()

    @property
    @guarded
    def dropped(self) -> Ints:
        """Arms that the schedule dropped; int64, increasing."""
        return np.flatnonzero(self._race.withdrawn)

    @property
    @guarded
    def excluded(self) -> Ints:
        """Arms that bets excluded, for k > 1 also those they accepted; int64, increasing."""
        read = np.zeros(self.n_arms, dtype=bool)
        read[self._race.alive] = True
        return np.flatnonzero(~read & ~self._race.withdrawn)

    @property
    @guarded
    def error_estimate(self) -> float:
        """Estimated probability that another arm belongs in the answer, in [0, 1].

        The estimate comes from a model, not from the bets. In the model a reward is the sum of an
        effect of the item, an effect of the arm, and normal noise with a variance of its own per
        arm. The arms' effects are normal. Their variance is that of the arms' means over the items
        read with all arms, less the part due to noise. The estimate is the posterior probability
        that an arm of the answer is below one outside it; for k > 1 the probabilities of the arms
        of the answer are multiplied. It is 0 if all rewards of the other arms were read, and at
        most `delta` if `decided`. It does not bound the error. It tends to be too large if many
        arms are near the best, and it may be too small if the rewards of the few items read are
        nearly all equal.
        """
        if not self._books.blocks:
            return 1.0 - self.k / self.n_arms
        top = self._top()
        estimate = error_probability(
            self._books.blocks, self._books.pulls, np.intersect1d(top, self._race.alive),
            np.delete(np.arange(self.n_arms), top), self._world or np.inf)
        return min(estimate, self.delta) if self._is_certified() else estimate

    @guarded
    def recommend(self) -> Ints:
        """Return the k best arms, best first; before the race is done, the current leaders.

        Returns
        -------
        ndarray of int64, shape (k,)
            In decreasing order of mean; ties are broken at random, once, by `rng`.
        """
        return self._top()

    def _top(self):
        centred, alive = self._books.centred, self._race.alive
        surely = np.setdiff1d(self._race.leaders, alive) if self.k > 1 else alive[:0]
        read = alive[np.lexsort((self._keys[alive], -np.nan_to_num(centred[alive])))]
        top = np.concatenate([surely, read[:self.k - surely.size]])
        return top[np.lexsort((self._keys[top], -np.nan_to_num(centred[top])))]

    # -- state --------------------------------------------------------------

    def _state(self):
        return super()._state() | {"keys": self._keys.copy()}

    def _restore(self, state):
        keys = owned("keys of the state", state["keys"])
        if keys.dtype.kind not in "iu" or not np.array_equal(np.sort(keys, axis=None),
                                                             np.arange(self.n_arms)):
            raise ValueError(f"state must hold keys, each number from 0 to {self.n_arms - 1} once; "
                             f"got shape {keys.shape} of dtype {keys.dtype}")
        self._keys = keys.astype(np.int64, copy=False)

    @guarded
    def __repr__(self) -> str:
        of = "best" if self.k == 1 else f"{self.k} best"
        end = ("certified" if self._is_certified() else
               "going on" if self._block_length() else "budget used")
        return (f"<BudgetRace: the {of} of {self.n_arms} arms, {self._items_in_words()}, {end} "
                f"after {self._used()}, {self._race.alive.size} left>")

    def _used(self):
        n_told = f"{int(self._books.pulls.sum()):,}"
        if self.budget is not None:
            return f"{n_told} of {self.budget:,} evaluations"
        return f"{n_told} evaluations for {self._spent().sum():,.6g} of {self.costs.budget:,.6g}"
