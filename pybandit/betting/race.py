"""Races by betting, with ask and tell."""

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np

from pybandit._shared.checks import check_integer, shown
from pybandit._shared.keywords import hinted
from pybandit._shared.types import ArrayLike, Ints, Rng
from pybandit.betting._ask_tell import guarded
from pybandit.betting._kernels import LeaderRace, TopKRace
from pybandit.betting._need import between
from pybandit.betting._order import check_order
from pybandit.betting._paired import MOST_ARMS, PairedRace
from pybandit.betting._predictions import Predictor, check_known
from pybandit.betting.options import Bets, Costs

__all__ = ["BettingRace"]

# Share of delta for claims of being within epsilon. With one half, an elimination needs ln 2 more
# log wealth, which costs 3 to 10 % more rewards; with a tenth, 1 %. Claims end few races.
NEAR_SHARE = 0.05


@hinted(bets=Bets, costs=Costs)
class BettingRace(PairedRace):
    """Find the best arm, or the k best, on a fixed set of items, with few rewards.

    All survivors are evaluated on the same items, drawn without replacement. An arm is eliminated
    as soon as the bets against it have won ``1 / delta``; the proof is in Notes. For k > 1 each
    ordered pair (a, b) has a process of bets, against "the mean of b is at least that of a". An
    arm is rejected when k others have beaten it, and accepted when it has beaten ``n_arms - k``.
    Bets on a pair must win ``k (n_arms - k) / delta``, because the answer is wrong only if one of
    the other arms makes a false claim over one of the k best.

    Parameters
    ----------
    n_arms : int
        At least 2.
    n_items : int or None
        N, the size of the set; the question is about means over all of it. None:
        an endless stream of independent items, counted from 0; the question is
        about expected rewards.
    k : int, default 1
        Number of best arms to find, in [1, n_arms - 1].
    value_range : (float, float) or float
        As in `BettingBound`; rewards outside it raise an error.
    delta : float, default 0.05
        The answer is wrong with probability at most delta, in (0, 1).
    epsilon : float, default 0.0
        The answer may also contain arms whose means are at most this much below the
        k-th best, so that races with near ties end. This uses a twentieth of delta: see Notes.
    max_pulls : int, optional
        Maximum number of rewards requested; at least `n_arms`. When they are used up, the race
        is done with several survivors, and `recommend` returns the current leaders.
    population_size : int or math.inf, optional
        Number of items that the question is about, at least `n_items`, the default: the mean
        over these items. A larger number: the mean over a population of that size, from which
        these items were drawn without replacement. ``math.inf``: the expected reward in the
        population from which these items were drawn independently. If it is larger than
        `n_items`, reading all items does not decide the race by itself.
    weights : array_like of float, shape (n_items,), optional
        Weight of each item, finite and above 0; the question is then about weighted means.
        Only their ratios matter. `group_weights` computes the weights for a mean of group means.
    prior_scores : array_like of float, shape (n_items, J) or (n_items,), optional
        Known facts about all items: scores of other models or of earlier versions on them,
        or features, in any units. Only for k = 1, plug-in bets and the mean over these items.
        The guarantee holds for any values. If they predict which arm does well on which items,
        fewer rewards are read.
    costs : float, array_like, "told" or Costs, optional
        Cost of one reward, finite and at least 0: a number, or an array of shape
        (n_items, n_arms), (n_arms,) or (n_items,); "told" if it is known only afterwards and
        is passed to `tell`. ``Costs(values, max_cost=...)`` limits the sum. If costs are known
        in advance, the limit is never exceeded, to 12 digits, and must be at least the cost of
        the most expensive item for all arms. With "told", the next items are expected to cost
        as much as earlier ones.
    bets : Bets, optional
        Kind of the bets, by default ``Bets("plug-in")``. With constant bets a race reads about
        a quarter more rewards.
    block_size : int, optional
        Items per request; by default 4, later a sixteenth of the items read. With `costs`, 1
        and later a thirty-second. Never more than 2²⁴ pairs of an arm and an item.
    rng : None, int, SeedSequence or Generator
        Draws the order of the items. `in_order` takes an order that you drew.

    Attributes
    ----------
    done, decided, exact : bool
        `decided` is False if `max_pulls` or ``max_cost`` of the costs ended the race.
    survivors : ndarray of int64
        Arms that are still read. If bets decided the race there is one (none for k > 1); if
        epsilon did, there are several.
    n_pulls, n_batches : int
    pulls : ndarray of int64, shape (n_arms,)
    means, variances : ndarray of float64, shape (n_arms,)
    cost : float or None
        Cost of all rewards reported and used; None without `costs`.
    cost_by_arm : ndarray of float64, shape (n_arms,), or None
        Cost of the rewards of each arm that were reported and used.
    pending : tuple of ndarray of int64
        Arms and items of rewards that were reported and are not used yet.
    n_wasted_by_arm : ndarray of int64, shape (n_arms,)
        Rewards per arm that were requested ahead of their block and discarded; `waste_cost` is
        their cost.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` for `max_pulls` and
        ``max_cost``.

    Notes
    -----
    *Plug-in bets* (k = 1). Each surviving arm b has one bet against it, on the mean reward of a
    group of other arms: the first one by the rewards read, the first two, or the first four. Let
    A be the sum of the differences between group and b over the items before t, and Q the sum of
    squares of the differences that were bet on with groups of that size, both in units of the
    range R::

        c = -A / (N - t + 1),   d = (mean reward of the group - reward of b) / R
        bet = scale min(max(0, 1 + A) / (5 + Q) N / (N - t + 1), 0.9 / (1 + c))
        E *= 1 + bet (d - c)

    The group is the one with the largest ``max(0, 1 + A)**2 / (5 + Q)``: the mean of several
    nearly equal models varies less than one of them. `scale`, the same for all arms, is the gain
    of earlier bets divided by their expected gain. These are discounted sums of ``bet (d - c)``
    and of its square, both at scale 1, and the ratio is clipped to [0, 1]. It is needed because
    an arm that leads by chance is ahead of all others, so that all bets on it are too large.

    *Guarantee.* Group, bet and scale depend on the items before t alone. If b is best, its total
    is at least that of every member of the group, hence at least their mean. So the remaining
    differences add up to at most -A, and the next one, drawn uniformly from the items that are
    left, has mean at most c. The factor of E has conditional mean at most 1, and is at least 0.1,
    because d is at least -1 and a bet risks at most .9 of the wealth. E is therefore a
    nonnegative supermartingale that starts at 1; by Ville's inequality it ever reaches 1 / delta
    with probability at most delta. Only the process of the best arm can cause an error, so no
    union over arms, looks or groups is needed, and the prior assumptions of the bets do not
    matter. For k > 1 the bets on a pair are the same, with A and Q of that pair and scale 1.

    *Prior scores.* Before a block is read, the rewards p of all remaining items are predicted
    for each arm, by ridge regressions on at most 16 principal components of the prior scores,
    fitted to the items read before. Bets are then on ``y = reward - p + mean of p over the items
    left`` instead of the reward. The mean of y over the items left is that of the rewards, for
    any p computed before the item is drawn. So c and the proof do not change, whatever is
    predicted. d may now be as low as -1 - (largest p of the group - its mean) - (mean p of b - its
    smallest p). This value is known, and a bet risks .9 of the wealth at it; if this would limit
    the bet, the bet is on the reward itself. Bets must not be limited item by item: all remaining
    items need the same bet, because nothing is known of the mean of differences weighted by item.
    Predictions are cut at a quarter of the range, and shrunk by how well earlier predictions
    agreed with the rewards: to 0 until that is clear.

    *Epsilon.* Arms are eliminated at an error of .95 delta. In addition each ordered pair
    (a, b), of the last 32 arms if k = 1, bets against "the mean of b is at least that of a
    plus epsilon". Arm a claims that this hypothesis is false once the wealth reaches 1 / (.05
    delta) times the number of rivals (k = 1) or of pairs (k > 1). The race ends once the leaders
    have such claims on all other survivors. Suppose for k = 1 that the answer is more than epsilon
    below the best arm. Then either the best arm was eliminated, which is one process and has
    probability at most .95 delta; or it survived and the claim of the answer on it is false. With
    n arms at the start of claims there are at most n - 1 claims on the best arm, and any of them
    is ever made with probability at most .05 delta. n and the arms are known before claims start.
    For k > 1 the union is over pairs of both kinds. On seven public tables this reads at most 1 %
    more than epsilon = 0, and up to 8 % less at .02.

    *Weights.* Items are drawn without replacement. The next one has a probability proportional
    to its weight w among the items left, whose total weight is W. So a difference d of two arms
    has the conditional mean (sum of w d over the items left) / W. Under "b is best" that is at
    most the weighted sum by which b is behind so far, divided by W. The proof is that of equal
    weights with W for the number of items left, and the range of a difference is unchanged.

    *Samples.* Items that are independent draws stay so in whatever order they are read, so under
    "b is best" the conditional mean of a difference is at most 0. If the items were drawn without
    replacement from a population of M, they are the start of a uniformly random order of all M,
    and the proof for M items applies to the part that is read. `exact` is then never True: if the
    items run out before the bets have won, several `survivors` are left.

    *Costs* change only when a race stops and how many items it requests at a time. Items are
    taken in the order that was drawn. An item that is too expensive ends the race instead of
    being skipped, because its cost may be related to its rewards. So the proof does not change.

    *Rewards out of order.* Rewards may be reported in any order, in parts, and for items ahead of
    the block. A block is bet on when all of its rewards are known, in the order that was drawn,
    and without using later ones. So the wealth after t items does not depend on the order of
    arrival, and the answer is that of a race that waits for every block. The proof holds even if
    slow evaluations have different rewards. A caller that gives up while slow rewards are
    pending stops at a time that Ville's inequality covers: the best arm is among `survivors` with
    probability at least 1 - delta. Leaving out a slow item would be wrong: the remaining items
    would no longer be a uniform draw from all items.

    Time: O(bets) per arm and item for k = 1; O(bets n_arms) for k > 1 and, below 33 arms, with
    epsilon > 0. Memory: 8 bytes per reward reported and per item, about 120 per arm, and 64 per
    ordered pair if there are pairs, or 160 with 16 constant bets.

    **Threads.** One thread at a time; a second one gets a RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> scores = np.random.default_rng(1).random((1000, 5)) * [0.5, 0.6, 0.7, 0.8, 1.0]
    >>> race = pb.BettingRace(5, 1000, value_range=(0, 1), rng=1)
    >>> while not race.done:
    ...     arms, items = race.ask()
    ...     race.tell(arms, items, scores[items, arms])
    >>> race.recommend(), race.n_pulls
    (array([4]), 280)
    """

    k: int

    _OPTIONS = (*PairedRace._OPTIONS, "k", "costs", "weights")

    def __init__(self, n_arms: int, n_items: int | None, k: int = 1, *, value_range: ArrayLike,
                 delta: float = 0.05, epsilon: float = 0.0, max_pulls: int | None = None,
                 population_size: float | None = None, weights: ArrayLike | None = None,
                 prior_scores: ArrayLike | None = None,
                 costs: ArrayLike | Literal["told"] | Costs | None = None,
                 bets: Bets | None = None, block_size: int | None = None,
                 rng: Rng = None) -> None:
        self._refuse_again()
        n_arms = check_integer("n_arms", n_arms, 2, MOST_ARMS)
        self.k = check_integer("k", k, 1)
        if self.k >= n_arms:
            raise ValueError(f"k must be below n_arms = {n_arms}; got {self.k}")
        self._prior = prior_scores
        super().__init__(n_arms, n_items, value_range=value_range, delta=delta, epsilon=epsilon,
                         max_pulls=max_pulls, population_size=population_size, weights=weights,
                         costs=costs, bets=bets, block_size=block_size, rng=rng)

    @classmethod
    def in_order(cls, n_arms: int, order: ArrayLike, **options: Any) -> Self:
        """Create a race that reads the items in a given order.

        Parameters
        ----------
        n_arms : int
        order : array_like of int, shape (n_items,)
            All items from 0 to n_items - 1 in the order in which they are read: a permutation that
            you drew uniformly at random and independently of all rewards, such as that of a host
            program. Any other order makes the guarantee void.
        **options
            As in `BettingRace`, but not `weights`, whose order depends on them.

        Raises
        ------
        ValueError, TypeError
            If `order` is not a permutation, or an option is outside its range.

        Examples
        --------
        >>> import numpy as np, pybandit as pb
        >>> order = np.random.default_rng(1).permutation(200)
        >>> race = pb.BettingRace.in_order(3, order, value_range=(0, 1))
        >>> bool((race.ask()[1][::3] == order[:4]).all())
        True
        """
        order = check_order(order)
        if options.get("weights") is not None:
            raise ValueError("weights must be left out if the order is given: they determine it; "
                             f"got {shown(options['weights'])}")
        race = cls(n_arms, order.size, **options)
        race._order = order
        return race

    def _may_be_hybrid(self):
        return self.k == 1

    def _make_predictor(self):
        if self._prior is None:
            return None
        if self.k > 1 or self.bets.mixture != "plug-in":
            raise ValueError("prior_scores must be left out if k > 1 or the mixture is not "
                             f"'plug-in'; got k = {self.k}, {self.bets}")
        if self.n_items is None or self._world != self.n_items or self.weights is not None:
            raise ValueError("prior_scores must be left out for an endless stream, a sample or "
                             "weighted items: they need the mean of the predictions over all "
                             f"items; got n_items = {self.n_items}, population_size = "
                             f"{self.population_size}")
        self._prior = check_known("prior_scores", self._prior, self.n_items)
        return Predictor(self._prior, self.n_arms, self._limits()[2])

    def _play(self, values, costs):
        if self._predictor is not None:
            self._foresee(len(values))
        super()._play(values, costs)

    def _foresee(self, n_rows):
        """Predict the next rows from the items read before; a second call changes nothing."""
        order = self._order
        self._predictor.catch_up(self._books.blocks, order)
        self._race.predict(*self._predictor.predict(order[self._books.n_items:], n_rows,
                                                    self._race.alive))

    def _state(self):
        more = {} if self._prior is None else {"prior_scores": self._prior.copy()}
        return super()._state() | more

    @staticmethod
    def _more_parts(state):
        given = isinstance(state, Mapping) and "prior_scores" in state
        return {"prior_scores": state["prior_scores"]} if given else {}

    def _differences(self, alive, waiting):
        places = self.k - np.setdiff1d(self._race.leaders, alive).size if self.k > 1 else 1
        claims = self.k * (self.n_arms - self.k) if self.k > 1 else 1
        means, spread = self._books.centred[alive], self._spread.squares[alive]
        missing = self._race.missing if self.k == 1 else np.full(alive.size, np.nan)
        return np.log(claims / self.delta), missing, *between(
            np.nan_to_num(means), waiting, self._books.n_items, spread,
            min(max(places, 1), alive.size - 1), self._limits()[2])

    def _make_race(self):
        self._predictor = self._make_predictor()
        near = NEAR_SHARE * self.delta if self.epsilon > 0 else 0.0
        n_items, strict = self._world or 0, self.delta - near
        if self.k == 1:
            return LeaderRace(self.n_arms, n_items, self._make_bets(), self._limits(), strict,
                              self.bets.hybrid, self.epsilon, near, self._predictor is not None)
        return TopKRace(self.n_arms, n_items, self.k, self._make_bets(), self._limits(), strict,
                        self.epsilon, near)

    @guarded
    def recommend(self) -> Ints:
        """Return the k best arms, best first; before the race is done, the current leaders.

        Returns
        -------
        ndarray of int64, shape (k,)
            In decreasing order of mean; ties go to the lowest index.
        """
        leaders = self._race.leaders
        means = np.nan_to_num(self._centred()[leaders], nan=-np.inf)
        return leaders[np.argsort(-means, kind="stable")]

    @guarded
    def __repr__(self) -> str:
        of = "best" if self.k == 1 else f"{self.k} best"
        return f"<BettingRace: the {of} of {self._summary()}, {self._race.alive.size} left>"
