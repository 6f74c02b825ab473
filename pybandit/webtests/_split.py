"""Test of the split of visits, updated with every batch of counts."""

import math

import numpy as np

from pybandit.webtests.results import SplitCheck

# maximum probability that the test of the split ever has a false alarm
ALPHA = 0.01
# concentrations of the Dirichlet mixtures: small ones find large mismatches, large ones small ones
CONCENTRATIONS = 10.0, 1e3, 1e5


class Split:
    """State of the test of the split.

    Each set of shares has its own mixture of likelihood ratios, which is a martingale started at 1.
    The product of these mixtures is therefore also a martingale started at 1.

    Attributes
    ----------
    shares : ndarray of float64
        Share of each arm in the last batch; 0 if the arm is out of the test.
    counts : ndarray of int64
        Visits under these shares.
    past : float
        Log of the product of the mixtures under earlier shares.
    most : float
        The largest log of the product so far.
    """

    def __init__(self, shares=(), counts=(), past=0.0, most=0.0):
        self.shares, self.counts = np.array(shares, np.float64), np.array(counts, np.int64)
        self.past, self.most = past, most

    def part(self):
        """Return the arguments of `__init__` as a dict."""
        return {"shares": self.shares, "counts": self.counts, "past": self.past,
                "most": self.most}

    def take(self, trials, shares):
        """Add a batch; arms without a share are ignored."""
        shares, n_new = np.array(shares, np.float64), len(shares) - self.shares.size
        self.shares = np.append(self.shares, np.zeros(n_new))
        self.counts = np.append(self.counts, np.zeros(n_new, np.int64))
        if not np.array_equal(self.shares, shares):
            self.past += self._log()
            self.shares, self.counts = shares, np.zeros(shares.size, np.int64)
        self.counts += np.where(shares > 0, trials, 0)
        self.most = max(self.most, self.past + self._log())

    def _log(self):
        here = self.shares > 0
        return log_mismatch(self.counts[here], self.shares[here]) if here.any() else 0.0

    @property
    def is_off(self):
        """True if the product has ever reached 1 / ALPHA."""
        return self.most >= -math.log(ALPHA)

    def check(self, names):
        """Return the `SplitCheck`, or None before the first batch."""
        if not self.shares.size:
            return None
        arms = np.flatnonzero(self.shares)
        return SplitCheck(names=[names[arm] for arm in arms], trials=self.counts[arms],
                          shares=self.shares[arms], p_value=math.exp(-self.most),
                          mismatch=self.is_off)


def shares_now(policy, weights):
    """Return the share of each arm in the next batch; None if there is nothing to test.

    Parameters
    ----------
    policy : CountedPolicy
    weights : list of float or None
        Shares of the initial arms, given to `WebTest.create`. If None, a race on counts has equal
        shares; other policies split visits by results, and there is nothing to test.

    Notes
    -----
    An added arm takes part after the first batch in which it had visits, because it may have
    been present for only a part of that batch.
    """
    late = len(policy.names_added)
    if policy.race is None:
        return None if weights is None else _shares(np.array(weights))
    race, here = policy.race, np.zeros(policy.n_arms, dtype=bool)
    weights = [1.0] * (policy.n_arms - late) if weights is None else weights
    here[race.survivors] = True
    here[policy.n_arms - late:] &= race.pulls[policy.n_arms - late:] > 0
    return _shares(np.where(here, weights_of(policy, weights), 0.0))


def weights_of(policy, weights):
    """Return the weights of all arms; added arms get the mean weight of the initial arms."""
    if weights is None:
        return None
    return np.append(weights, np.full(len(policy.names_added), np.mean(weights)))


def _shares(weights):
    return weights / weights.sum() if (weights > 0).sum() > 1 else None


def mismatch_words(check):
    """Return a message about a mismatch of the split."""
    total = int(check.trials.sum())
    found = ", ".join(f"{name} {n:,} ({share:,.0f} expected)" for name, n, share in zip(
        check.names[:6], check.trials.tolist(), (check.shares * total).tolist(), strict=False))
    return (f"visits are not split by the shares, p = {check.p_value:.2g}: {found}"
            f"{', ...' * (len(check.names) > 6)}. A redirect, a filter of robots or lost logs "
            "of one arm may be the cause; no guarantee holds until it is found")


def log_mixture(counts, shares, concentration):
    """Return the log of a likelihood ratio of `counts`: a Dirichlet mixture against `shares`.

    Parameters
    ----------
    counts : ndarray of int64, shape (k,)
    shares : ndarray of float64, shape (k,)
        Above 0; they add up to 1.
    concentration : float
        The Dirichlet distribution has the parameters ``concentration * shares``.
    """
    from scipy.special import gammaln

    prior, total = concentration * shares, counts.sum()
    return float(gammaln(concentration) - gammaln(concentration + total)
                 + (gammaln(prior + counts) - gammaln(prior)).sum()
                 - (counts * np.log(shares)).sum())


def log_mismatch(counts, shares):
    """Return the log of the mean of the mixtures of all concentrations.

    Lindon and Malek (2022), "Anytime-valid inference for multinomial count data". If visits are
    split by the shares, it is the log of a nonnegative martingale started at 1, which ever reaches
    1 / delta with probability at most delta.
    """
    logs = [log_mixture(counts, shares, one) for one in CONCENTRATIONS]
    top = max(logs)
    return top + math.log(sum(math.exp(one - top) for one in logs) / len(logs))
