"""Which candidate to fit on which split next: policies on a table that is filled as they ask."""

import numpy as np

from pybandit.model_selection._score_model import fit_scores
from pybandit.model_selection._threads import one_blas_thread

LONGEST_WAIT = 100  # answers at no cost in a row, after which a search ends
LAST_SHARE = 0.125  # of the budget, for the arms that look best: what is recommended is known
REBUILD = 1.1  # the model is fitted anew when the pulls have grown by this factor


class ScoreBook:
    """Scores of arms on splits; an arm takes the splits in one random order.

    Attributes
    ----------
    scores : ndarray of float64, shape (n_arms, n_splits)
        NaN where not fitted, or lost.
    pulls : ndarray of int64, shape (n_arms,)
        Fits of each arm, lost ones included.
    arms, splits : list of int
        Of the fits, as they were made.
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
        """A split for each arm asked, -1 where its splits or the `most` fits are used up."""
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
        """Mean score of each arm over the splits it got; NaN without one."""
        seen = np.isfinite(self.scores)
        with np.errstate(invalid="ignore"):
            return np.where(seen, self.scores, 0.0).sum(axis=1) / seen.sum(axis=1)


def search(asker, book, budget, fit):
    """Fit what is asked until `budget` fits are made or nothing more is asked.

    ``fit(arms, splits)`` returns their scores, NaN for a fit that failed. An arm that has
    all its splits is answered with its mean at no cost; returns how often that was.
    """
    reused = waited = 0
    while book.n_fits < budget and waited < LONGEST_WAIT:
        with one_blas_thread():
            arms = asker.ask()
        if not arms.size:
            break
        splits = book.next_splits(arms, budget - book.n_fits)
        new = splits >= 0
        scores = np.full(arms.size, np.nan)
        if new.any():
            scores[new] = fit(arms[new], splits[new])
            book.add(arms[new], splits[new], scores[new])
            waited = 0
        known = ~new & (book.pulls[arms] == book.order.size)
        scores[known] = book.means()[arms[known]]
        reused += int(known.sum())
        waited += not new.any()
        with one_blas_thread():
            asker.tell(arms, splits, scores)
    return reused


class PlainAsker:
    """Any policy of this package, told the scores as they are."""

    def __init__(self, policy):
        self.policy = policy

    def ask(self):
        return self.policy.ask()

    def tell(self, arms, splits, scores):
        self.policy.tell(arms, scores, missing="drop")

    def best(self, book):
        """The arm recommended, or the best mean where that arm has no score."""
        means = book.means()
        for arm in self.policy.recommend()[:1]:
            if np.isfinite(means[arm]):
                return int(arm)
        return int(np.nanargmax(means))

    def predicted(self):
        return {}


class GaussianAsker:
    """A policy over a Gaussian prior, made anew as the scores show noise, scale and kernel.

    Begins with random arms of every family on one split.
    """

    def __init__(self, make, kernels, families, book, budget, rng):
        self.make, self.kernels, self.book, self.rng = make, kernels, book, rng
        self.first = first_arms(families, budget, book.order.size, rng)
        self.policy = self.model = None
        self.built = 0
        self.last = budget - int(LAST_SHARE * budget)
        self.is_last = False

    def ask(self):
        if not self.book.n_fits:
            return self.first
        if not np.isfinite(self.book.scores).any():
            return self.rng.choice(np.flatnonzero(self.book.pulls == self.book.pulls.min()), 1)
        if (self.policy is None or self.policy.done or self.is_last
                or self.book.n_fits >= REBUILD * self.built):
            self._build()
        self.is_last = self.book.n_fits >= self.last
        if self.is_last:
            open_arms = self.book.pulls < self.book.order.size
            means = np.where(open_arms, self.policy.posterior_means, -np.inf)
            return means.argmax(keepdims=True)
        return self.policy.ask()

    def tell(self, arms, splits, scores):
        if self.policy is not None and not self.is_last:
            rewards = [self.model.reward(score, split)
                       for score, split in zip(self._filled(scores), splits, strict=True)]
            self.policy.tell(arms, np.array(rewards))

    def _filled(self, scores):
        """Lost ones as far below the worst as that is below the best, that one goes elsewhere."""
        worst, best = np.nanmin(self.book.scores), np.nanmax(self.book.scores)
        return np.where(np.isfinite(scores), scores, worst - (best - worst or 1.0))

    def _build(self):
        book = self.book
        arms, splits = np.array(book.arms), np.array(book.splits)
        scores = self._filled(book.scores[arms, splits])
        self.model = fit_scores(arms, splits, scores, book.order.size, self.kernels)
        self.policy = self.make(self.model.kernel, self.model.noise_std, self.model.prior_std,
                                arms, self.model.rewards)
        self.built = book.n_fits

    def best(self, book):
        """The largest posterior mean of the arms with a score."""
        if self.policy is None or self.built < book.n_fits:
            self._build()
        means = np.where(np.isfinite(book.scores).any(axis=1), self.policy.posterior_means,
                         -np.inf)
        return int(means.argmax())

    def predicted(self):
        """What the model says of the arms' scores, for ``cv_results_``."""
        if self.policy is None:
            return {}
        unit, effect = self.model.unit, self.model.split_effects.mean()
        return {"policy_mean": self.model.level + unit * (self.policy.posterior_means + effect),
                "policy_std": unit * self.policy.posterior_std}


def first_arms(families, budget, n_splits, rng):
    """Random arms, families in turn; the first two twice where splits allow, for the noise."""
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
