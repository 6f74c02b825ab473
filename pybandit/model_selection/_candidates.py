"""Choose the next candidate and split to fit, by a policy, and record the scores."""

import numpy as np

from pybandit.model_selection._score_model import fit_scores
from pybandit.model_selection._threads import one_blas_thread

LONGEST_WAIT = 100  # number of requests in a row without a new fit after which a search ends
LAST_SHARE = 0.125  # share of the budget spent at the end on the arms with the best means
REBUILD = 1.1  # the model is fitted again once the number of fits has grown by this factor


class ScoreTable:
    """Scores of arms on splits; all arms use the splits in the same random order.

    Attributes
    ----------
    scores : ndarray of float64, shape (n_arms, n_splits)
        NaN if not fitted, or lost.
    pulls : ndarray of int64, shape (n_arms,)
        Fits of each arm, lost ones included.
    arms, splits : list of int
        Arm and split of each fit, in the order of the fits.
    """

    def __init__(self, n_arms, n_splits, rng):
        self.scores = np.full((n_arms, n_splits), np.nan)
        self.pulls = np.zeros(n_arms, dtype=np.int64)
        self.order = rng.permutation(n_splits)
        self.arms, self.splits = [], []

    @property
    def n_fits(self):
        return len(self.arms)

    def next_splits(self, arms, most):
        """Return a split per requested arm; -1 if its splits or the `most` fits are used up."""
        found, ahead = [], {}
        for arm in map(int, arms):
            position = self.pulls[arm] + ahead.get(arm, 0)
            if most and position < self.order.size:
                found.append(int(self.order[position]))
                ahead[arm] = ahead.get(arm, 0) + 1
                most -= 1
            else:
                found.append(-1)
        return np.array(found, dtype=np.int64)

    def add(self, arms, splits, scores):
        self.scores[arms, splits] = scores
        np.add.at(self.pulls, arms, 1)
        self.arms += map(int, arms)
        self.splits += map(int, splits)

    def means(self):
        """Return the mean score of each arm over its fitted splits; NaN if it has none."""
        seen = np.isfinite(self.scores)
        with np.errstate(invalid="ignore"):
            return np.where(seen, self.scores, 0.0).sum(axis=1) / seen.sum(axis=1)


def search(asker, table, budget, fit):
    """Fit the arms that `asker` requests, and return the number of pulls that needed no fit.

    Ends when `budget` fits are made, when it requests no arm, or when LONGEST_WAIT requests in a
    row needed no fit. ``fit(arms, splits)`` returns scores, NaN for a failed fit. A request for an
    arm whose splits are all fitted is answered with its mean score, at no cost.
    """
    reused = waited = 0
    while table.n_fits < budget and waited < LONGEST_WAIT:
        with one_blas_thread():
            arms = asker.ask()
        if not arms.size:
            break
        splits = table.next_splits(arms, budget - table.n_fits)
        new = splits >= 0
        scores = np.full(arms.size, np.nan)
        if new.any():
            scores[new] = fit(arms[new], splits[new])
            table.add(arms[new], splits[new], scores[new])
            waited = 0
        known = ~new & (table.pulls[arms] == table.order.size)
        scores[known] = table.means()[arms[known]]
        reused += int(known.sum())
        waited += not new.any()
        with one_blas_thread():
            asker.tell(arms, splits, scores)
    return reused


class PlainAsker:
    """Any policy of this package; it receives the raw scores."""

    def __init__(self, policy):
        self.policy = policy

    def ask(self):
        return self.policy.ask()

    def tell(self, arms, splits, scores):
        self.policy.tell(arms, scores, missing="drop")

    def best(self, table):
        """Return the recommended arm or, if it has no score, the arm with the best mean."""
        means = table.means()
        for arm in self.policy.recommend()[:1]:
            if np.isfinite(means[arm]):
                return int(arm)
        return int(np.nanargmax(means))

    def predicted(self):
        return {}


class GaussianAsker:
    """A policy with a Gaussian prior; noise, scale and kernel are fitted again as scores arrive.

    Starts with random arms of every family on one split.
    """

    def __init__(self, make, kernels, families, table, budget, rng):
        self.make, self.kernels, self.table, self.rng = make, kernels, table, rng
        self.first = first_arms(families, budget, table.order.size, rng)
        self.policy = self.model = None
        self.built = 0
        self.last = budget - int(LAST_SHARE * budget)
        self.is_last = False

    def ask(self):
        if not self.table.n_fits:
            return self.first
        if not np.isfinite(self.table.scores).any():
            return self.rng.choice(np.flatnonzero(self.table.pulls == self.table.pulls.min()), 1)
        if (self.policy is None or self.policy.done or self.is_last
                or self.table.n_fits >= REBUILD * self.built):
            self._build()
        self.is_last = self.table.n_fits >= self.last
        if self.is_last:
            open_arms = self.table.pulls < self.table.order.size
            means = np.where(open_arms, self.policy.posterior_means, -np.inf)
            return means.argmax(keepdims=True)
        return self.policy.ask()

    def tell(self, arms, splits, scores):
        if self.policy is not None and not self.is_last:
            rewards = [self.model.reward(score, split)
                       for score, split in zip(self._filled(scores), splits, strict=True)]
            self.policy.tell(arms, np.array(rewards))

    def _filled(self, scores):
        """Replace lost scores by low ones, so that the policy avoids these arms.

        A lost score is as far below the worst score as that is below the best.
        """
        worst, best = np.nanmin(self.table.scores), np.nanmax(self.table.scores)
        return np.where(np.isfinite(scores), scores, worst - (best - worst or 1.0))

    def _build(self):
        table = self.table
        arms, splits = np.array(table.arms), np.array(table.splits)
        scores = self._filled(table.scores[arms, splits])
        self.model = fit_scores(arms, splits, scores, table.order.size, self.kernels)
        self.policy = self.make(self.model.kernel, self.model.noise_std, self.model.prior_std,
                                arms, self.model.rewards)
        self.built = table.n_fits

    def best(self, table):
        """Return the arm with the largest posterior mean among those with a score."""
        if self.policy is None or self.built < table.n_fits:
            self._build()
        means = np.where(np.isfinite(table.scores).any(axis=1), self.policy.posterior_means,
                         -np.inf)
        return int(means.argmax())

    def predicted(self):
        """Return the model's predictions of the arms' scores, for ``cv_results_``."""
        if self.policy is None:
            return {}
        unit, effect = self.model.unit, self.model.split_effects.mean()
        return {"policy_mean": self.model.level + unit * (self.policy.posterior_means + effect),
                "policy_std": unit * self.policy.posterior_std}


def first_arms(families, budget, n_splits, rng):
    """Return random arms, from the families in turn.

    The first two occur twice if there are several splits, to estimate the noise.
    """
    order = rng.permutation(families.size)
    rank = np.empty(families.size, dtype=np.int64)
    for family in np.unique(families):
        members = order[families[order] == family]
        rank[members] = np.arange(members.size)
    order = order[np.argsort(rank[order], kind="stable")]
    n_families = np.unique(families).size
    n_first = min(families.size, budget, max(3, n_families, budget // 4))
    arms = order[:n_first]
    return np.concatenate([arms, arms[:2]])[:budget] if n_splits > 1 else arms
