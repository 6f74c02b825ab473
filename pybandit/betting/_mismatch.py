"""Sample-ratio mismatch: a sequential test that visits draw their arms by given shares.

Lindon and Malek (2022), "Anytime-valid inference for multinomial count data". Under the shares
the mixture of likelihood ratios is a martingale that started at 1, so it ever reaches 1 / delta
with probability at most delta.
"""

import math

import numpy as np

# concentrations of the Dirichlet mixtures: small ones find large mismatches, and the reverse
CONCENTRATIONS = 10.0, 1e3, 1e5


def log_mixture(counts, shares, concentration):
    """Return the log of the likelihood of `counts` under a Dirichlet mixture, divided by
    that under `shares`.

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
    """Return the log of the mean of the mixtures of all concentrations."""
    logs = [log_mixture(counts, shares, one) for one in CONCENTRATIONS]
    top = max(logs)
    return top + math.log(sum(math.exp(one - top) for one in logs) / len(logs))
