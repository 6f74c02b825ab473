"""Races by betting under ask and tell: whoever can score an arm on an item can run one."""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from pybandit._shared.checks import check_integer
from pybandit._shared.keywords import hinted
from pybandit._shared.types import ArrayLike, Ints, Rng
from pybandit.betting._kernels import LeaderRace, TopKRace
from pybandit.betting._need import between
from pybandit.betting._paired import MOST_ARMS, PairedRace
from pybandit.betting._predictions import Predictor, check_known
from pybandit.betting._told import guarded
from pybandit.betting.options import Bets, Costs

__all__ = ["BettingRace"]

# Share of delta that is for claims of being within epsilon. With one half, drops wait for ln 2
# more, which is 3 to 10 % of the rewards read; with a tenth 1 %. Claims end few races.
NEAR_SHARE = 0.05


@hinted(bets=Bets, costs=Costs)
class BettingRace(PairedRace):
    """Find the best arm, or the k best, on a fixed set of items, with few rewards.

    All survivors are evaluated on the same items, drawn without replacement; an arm is
    eliminated as soon as bets against it have won `1 / delta`: see Notes for the
    proof. For k > 1 there is such a process for each ordered pair (a, b), against
    "the mean of b is at least that of a". An arm is rejected when k others have
    beaten it, accepted when it has beaten ``n_arms - k``, and pairs need
    ``k (n_arms - k) / delta``: a wrong set takes a false claim of an arm outside
    over one inside.

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
        As in `BettingBound`; rewards outside raise.
    delta : float, default 0.05
        The answer is wrong with probability at most delta, in (0, 1).
    epsilon : float, default 0.0
        The race may also end on arms whose means are at most this much below the
        k-th best, so that near ties end. This uses a twentieth of delta: see Notes.
    max_pulls : int, optional
        Maximum number of rewards asked for; at least `n_arms`. When they are used up, the race
        is done with several survivors, and `recommend` returns the present leaders.
    population_size : int or math.inf, optional
        Number of items that the question is about, at least `n_items`. By default `n_items`:
        the mean over these items. A larger number: the mean over that many items, from which
        these were drawn without replacement. ``math.inf``: the expected reward in the
        population from which these items were drawn, independently of each other. If it is
        larger than `n_items`, reading all items decides nothing by itself.
    weights : array_like of float, shape (n_items,), optional
        Weight of each item, finite and above 0; the question is then about weighted means.
        Only their ratios matter. `group_weights` computes those of a mean of group means.
    prior_scores : array_like of float, shape (n_items, J) or (n_items,), optional
        Known facts about all items: scores of other models or of earlier versions on them,
        or features, in any units. Only for k = 1, plug-in bets and the mean over these items.
        The guarantee holds for any values; if they predict which arm does well on which items,
        fewer rewards are read.
    costs : float, array_like, "told" or Costs, optional
        Cost of one reward, finite and at least 0: a number, or an array of shape
        (n_items, n_arms), (n_arms,) or (n_items,); "told" if it is known only afterwards and
        is passed to `tell`. ``Costs(values, max_cost=...)`` limits the sum. If costs are known,
        the limit is never exceeded, to 12 digits, and must be at least the cost of the most
        expensive item for all arms. If they are told, the next items are expected to cost as
        much as earlier ones.
    bets : Bets, optional
        Kind of the bets. By default ``Bets("plug-in")``; constant bets read about a quarter
        more.
    block_size : int, optional
        Items asked for at a time; by default 4, later a sixteenth of those read. With
        `costs` 1, later a thirty-second. Never more than 2²⁴ pairs of an arm and an item.
    rng : None, int, SeedSequence or Generator
        Draws the order of the items.

    Attributes
    ----------
    done, decided, exact : bool
        `decided` is False if `max_pulls` or ``max_cost`` of the costs ended the race.
    survivors : ndarray of int64
        Arms still read. One (none for k > 1) if bets decided the race; several if epsilon
        did.
    n_pulls, n_batches : int
    pulls : ndarray of int64, shape (n_arms,)
    means, variances : ndarray of float64, shape (n_arms,)
    cost : float or None
        Cost of all rewards told; None without `costs`.
    cost_by_arm : ndarray of float64, shape (n_arms,), or None
        The same of each arm.
    pending : tuple of ndarray of int64
        Arms and items of rewards that were told and are not used yet.
    n_wasted_by_arm : ndarray of int64, shape (n_arms,)
        Rewards of each arm that were asked for ahead and discarded; `waste_cost` is their
        cost.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` for `max_pulls` and
        ``max_cost``.

    Notes
    -----
    *Plug-in bets.* k = 1. For every alive arm b one bet, on the mean reward of a group
    of others: the first by what was read, the first two or the first four. In units of
    the range R, with A what the group is ahead of b and Q the sum of squares of the
    differences that b was bet against with groups of that size, both on the items
    before t::

        c = -A / (N - t + 1),   d = (mean reward of the group - reward of b) / R
        bet = scale min(max(0, 1 + A) / (5 + Q) N / (N - t + 1), 0.9 / (1 + c))
        E *= 1 + bet (d - c)

    The group is that of the largest ``max(0, 1 + A)**2 / (5 + Q)``: of models nearly as
    good several vary less than one. `scale`, the same for all arms, is what their bets
    won over what they should have won, sums of ``bet (d - c)`` and of its square at scale
    1, in [0, 1], what is longer ago counting less: who leads by chance is ahead of all,
    and the bets on it are too large together.

    *Guarantee.* Group, bet and scale come from the items before t alone. If b is best, its
    total is at least that of every member of the group, hence at least their mean: what is
    left of the difference adds up to at most -A, and the next one, drawn evenly from the
    items that are left, has mean at most c. So E changes by a factor of conditional mean
    at most 1, and of at least 0.1, as d is at least -1 and a bet risks at most .9 of the
    capital: E is a nonnegative supermartingale that begins at 1, and by Ville's inequality
    ever reaches 1 / delta with probability at most delta. Only the process of the best arm
    can err, so there is no union over arms, looks or groups, whatever was believed.
    For k > 1 a pair is bet on likewise: A and Q those of the pair, scale 1.

    *Prior scores.* Before a block is read the rewards p of all items that are left are
    predicted, arm by arm, by ridge regressions on at most 16 principal components of the
    prior scores, fitted to the items before. Bets are then on ``y = reward - p + mean of p
    over the items left`` instead of the reward. The mean of y over the items that are left
    is that of the rewards, for any p that is made before the item is drawn: c and the proof
    stay as they are, whatever is predicted. d may now be as low as -1 less the largest p of
    the group above its mean and the mean p of b above its smallest, known as p is, and a bet
    risks .9 of the capital at that worst; where this would bind, the reward itself is bet
    on. Bets must not be limited item by item: all items that are left have the same bet, as
    nothing is known of the mean of differences weighted by item. Predictions are cut at a
    quarter of the range, and shrunk by how well earlier ones agreed with what came: to
    nothing, until that is clear.

    *Epsilon.* Arms are eliminated at an error of .95 delta. In addition each ordered pair
    (a, b), of the last 32 arms if k = 1, bets against "the mean of b is at least that of a
    plus epsilon" and claims it false at 1 / .05 delta times the number of rivals (k = 1) or
    of pairs (k > 1). The race ends once the leaders have such claims on all other survivors.
    Suppose for k = 1 that the answer is more than epsilon below the best arm. Then either
    the best arm was eliminated, which is one process and has probability at most .95 delta;
    or it survived and the claim of the answer on it is false. There are at most n - 1 claims
    on the best arm, n the number of arms when claims begin, and any is ever made with
    probability at most .05 delta. n and the arms are known before the claims begin. For k > 1
    the union is over pairs of both kinds. On seven public tables this reads at most 1 % more
    than epsilon = 0, and up to 8 % less at .02.

    *Weights.* Items are drawn without replacement, the next with a probability in
    proportion to its weight w among those that are left, which weigh W. So a difference
    d of two arms has the conditional mean (sum of w d over what is left) / W, and under "b
    is best" that is at most what b is behind so far, weighted, over W: the proof is that
    of equal weights, with W for the number of items left, and bets keep the range of a
    difference.

    *Samples.* Items that are independent draws stay so in whatever order they are read,
    so under "b is best" the conditional mean of a difference is at most 0; of items drawn
    without replacement from a population of M, the order of all M that begins with
    these is uniform, and the proof of M items holds with what is read of it. `exact` is
    then never True: where the items end before the bets have won, `survivors` are left.

    *Costs* change when a race stops and how much is asked at a time, and nothing else:
    items are taken in the order that was drawn, and one that is too dear ends the race
    instead of being skipped, because its cost may go with its rewards. So the proof
    stands as it is.

    *Answers out of order.* Rewards may be told in any order, some at a time and of items
    ahead. Bets are played on a block when all of its rewards are known, in the order that
    was drawn, and know nothing of later ones: the capital after t items is the same number
    whatever came when, so the proof stands, also where how long an answer takes depends on
    the reward, and the answer is that of the race that waits for every block. Whoever
    gives up while a slow answer is out stops at a moment that Ville's inequality covers:
    the best arm is among `survivors`, but with probability delta. To play without a slow
    item would be wrong: what is left would no longer be drawn evenly from all items.

    O(bets) per arm and item for k = 1; O(bets n_arms) for k > 1 and, below 33 arms, with
    epsilon > 0. Memory: 8 bytes per reward told and per item, about 120 per arm, and 64 per
    ordered pair if there are pairs, or 160 with 16 constant bets.

    **Threads.** One at a time; a second gets a RuntimeError.

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

    def _may_be_hybrid(self):
        return self.k == 1

    def _make_predictor(self):
        if self._prior is None:
            return None
        if self.k > 1 or self.bets.mixture != "plug-in":
            raise ValueError("prior_scores must be left out for k > 1 and if mixture is not "
                             f"'plug-in'; got k = {self.k}, {self.bets}")
        if self.n_items is None or self._world != self.n_items or self.weights is not None:
            raise ValueError("prior_scores must be left out for an endless stream, a sample and "
                             "weights: the mean of what they predict must be known; got n_items = "
                             f"{self.n_items}, population_size = {self.population_size}")
        self._prior = check_known("prior_scores", self._prior, self.n_items)
        return Predictor(self._prior, self.n_arms, self._limits()[2])

    def _play(self, values, costs):
        if self._predictor is not None:
            self._foresee(len(values))
        super()._play(values, costs)

    def _foresee(self, n_rows):
        """Predict the next rows, of what was read before them; again changes nothing."""
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
        """The k best arms, best first; before the race is done, the present leaders.

        Returns
        -------
        ndarray of int64, shape (k,)
            By mean, ties to the lowest index.
        """
        leaders = self._race.leaders
        means = np.nan_to_num(self._centred()[leaders], nan=-np.inf)
        return leaders[np.argsort(-means, kind="stable")]

    @guarded
    def __repr__(self) -> str:
        of = "best" if self.k == 1 else f"{self.k} best"
        return f"<BettingRace: the {of} of {self._summary()}, {self._race.alive.size} left>"
