"""Draw states from the full sums of the log factors, and compute these sums."""

import math

import numpy as np

from pybandit._shared.checks import MOST_PULLS, check_integer
from pybandit._shared.generators import as_generator
from pybandit.racing._native import native_of
from pybandit.racing._track import check_log_prior
from pybandit.racing.factors import KEPT, Factors, as_factors

from pybandit.racing._csrc cimport pb_totals_add
from pybandit.racing._source cimport Source

__all__ = ["exact_sample"]

# Rewards requested from a function at a time: 2 MiB.
EXACT_REWARDS = 1 << 18
# Gumbel variables drawn at a time: 2 MiB.
GUMBELS = 1 << 18


def exact_sample(factors, log_prior=None, size=None, *, rng=None):
    """Draw from ``p(i) proportional to f_0(i) prod_n f_n(i)`` by full sums.

    This is the baseline for racing: one pass over all N * D factors, then one maximum with
    Gumbel noise per draw.

    Parameters
    ----------
    factors : array_like of float, shape (N, D), or Factors
        log f_n(i).
    log_prior : array_like, shape (D,), optional
        log f_0, up to a constant; -inf makes a state impossible.
    size : int or tuple of int, optional
        Number of draws. By default, one draw, returned as an int.
    rng : None, int, SeedSequence or Generator

    Returns
    -------
    int or ndarray of int64
        States in [0, D).

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, or a factor is NaN or infinite.

    See Also
    --------
    RacingSampler : reads only some of the factors.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> factors = np.log([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])   # the product is 10 : 9 : 10
    >>> states = pb.racing.exact_sample(factors, size=29_000, rng=1)
    >>> np.bincount(states)
    array([ 9882,  9089, 10029])
    """
    factors = as_factors(factors, KEPT)
    totals = totals_of(factors)
    if log_prior is not None:
        totals += check_log_prior("log_prior", log_prior, totals.size)
    rng = as_generator(rng)
    shape = (1,) if size is None else check_size(size)
    states = np.empty(math.prod(shape), dtype=np.int64)
    step = max(1, GUMBELS // totals.size)
    for start in range(0, states.size, step):
        part = states[start:start + step]
        noise = rng.gumbel(size=(part.size, totals.size))
        np.argmax(np.add(totals, noise, out=noise), axis=1, out=part)
    return int(states[0]) if size is None else states.reshape(shape)


def check_size(size):
    """Return the shape of `size` draws."""
    shape = size if isinstance(size, tuple) else (size,)
    shape = tuple([check_integer("size", length, 0) for length in shape])
    if math.prod(shape) > MOST_PULLS:
        raise ValueError(f"size must be at most {MOST_PULLS} draws; got {shape}")
    return shape


def totals_of(factors):
    """Return sum_n log f_n(i) of each state minus that of state 0, in one pass.

    Sums of differences keep the digits that totals of large rewards lose.
    """
    cdef Source source
    cdef double[::1] sums
    totals = np.zeros(factors.n_states if isinstance(factors, Factors) else factors.shape[1])
    native = native_of(factors) if isinstance(factors, Factors) else None
    if native is not None:
        totals = native.totals(factors.n_factors)
    elif isinstance(factors, Factors):
        everything = np.arange(factors.n_states)
        step = max(1, EXACT_REWARDS // factors.n_states)
        for start in range(0, factors.n_factors, step):
            rows = np.arange(start, min(start + step, factors.n_factors))
            rewards = factors.evaluate(rows, everything)
            totals += (rewards - rewards[:, :1]).sum(axis=0)
    else:
        source, sums = Source(factors), totals
        with nogil:
            pb_totals_add(source.factors.matrix, source.factors.type, source.factors.n_factors,
                          source.factors.n_states, NULL, source.factors.n_states, 0, &sums[0])
        totals = -totals
    if not np.isfinite(totals).all():
        state = int(np.argmin(np.isfinite(totals)))
        raise ValueError(f"factors must be finite; got a sum of {totals[state]} at state {state}")
    return totals
