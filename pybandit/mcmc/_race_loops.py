"""Chains of RacingMetropolis: a loop in Python for any proposal, and a compiled loop."""

import math
import warnings

import numpy as np

from pybandit._shared.checks import read_only
from pybandit._shared.errors import SlowReadingWarning, WeakControlWarning
from pybandit.mcmc._race_chain import RaceChain, checked_prior, set_range
from pybandit.racing.acceptance import AcceptanceTest

# Adaptation changes the log of the scale by (accepted - target) * t ** -DECAY at step t.
DECAY = 0.6
# During warm-up a scale may exceed its maximum by this factor, so that one rejection does not
# shorten proposals of maximum length.
HEADROOM = 1.5
# If warm-up reads more than MOST_READ of LEAST_ROWS rows or more, at random, a pass over all rows
# in order would have cost less. The share is not checked after fewer than LEAST_STEPS steps.
MOST_READ = 0.3
LEAST_ROWS = 1_000
LEAST_STEPS = 20
# Rows read at a time when the remainder of a control variate is measured.
BLOCK = 16384
# Share of the rows with the largest remainders. A look at 50 rows misses all rows of a given 1 %
# with probability .6.
FEW = 0.01
# Warn if these rows have more than this share of the remainder's variance; with normal features
# their share is about half.
MOST = 0.9
# Do not warn if the remainders of these rows sum to less than this, in nats: so small a sum
# changes few decisions.
LEAST_NATS = 0.1


class CompiledLoop:
    """One chain with compiled proposal, control and bookkeeping."""

    shown = ("scale",)

    def __init__(self, sampler, rng, start, warned, moves):
        self.warned, self.control = warned, sampler.control
        self.points = np.stack([start, start])
        self.factors = sampler._factors(self.points)
        test = AcceptanceTest(self.factors, rng=rng, **sampler.options)
        sampler._check_control(test.n_factors)
        self.chain = RaceChain(test, self.points, moves, rng, sampler.log_prior,
                               sampler.precision, sampler.control, sampler.ranges, sampler.adapt)
        self.advance = self.chain.advance

    @property
    def scale(self):
        return self.chain.scale

    def steps(self, n):
        """Take n steps; return the point, the number accepted and the number of rows read."""
        self.chain.steps(n)
        _, n_accepted, _, n_read, _ = self.chain.counts
        return np.array(self.chain.values), n_accepted, n_read

    def end_warmup(self):
        n_steps, _, _, n_read, _ = self.chain.counts
        warn_of_reading(n_read, n_steps, self.chain.test.n_factors, self.control is not None,
                        self.warned)
        self.chain.end_warmup()
        warn_far(self.factors, self.control, self.points, *self.chain.travel)


def warn_far(factors, control, points, start, farthest):
    """Check the control's remainder between the start and the farthest point of warm-up."""
    if control is None or np.array_equal(start, farthest):
        return
    kept = points.copy()
    points[0], points[1] = start, farthest  # the factors read `points`
    try:
        warn_of_leverage(factors, control, points)
    finally:
        points[:] = kept


class PythonLoop:
    """One chain with a user-defined proposal or control."""

    shown = ("scale",)

    def __init__(self, sampler, rng, start, warned):
        self.warned, self.n_steps = warned, 0
        self.points = np.stack([start, start])
        self.values, self.proposed = self.points
        self.shown_values, self.shown_proposed = read_only(self.points)
        self.offered = self.points.copy()  # written by the proposal
        self.rng, self.log_prior, control = rng, sampler.log_prior, sampler.control
        self.precision, self.ranges = sampler.precision, sampler.ranges
        self.start, self.control = start.copy(), control
        self.farthest, self.warms_up = start.copy(), control is not None
        self.total_change = None if control is None else control.total_change(self.points)
        self.factors = sampler._factors(self.points)
        self.test = AcceptanceTest(self.factors, rng=rng, **sampler.options)
        self.n_factors = self.test.n_factors
        sampler._check_control(self.n_factors)
        self.proposal = sampler.proposal.start(self.n_factors, sampler.n_parameters, rng)
        self.movers = getattr(self.proposal, "parts", [self.proposal])
        self.log_density = self.prior(self.shown_values)
        if self.log_density == -math.inf:
            raise ValueError(f"initial, or the value of a step, must have a finite log prior; got "
                             f"-inf at {start}")
        self.scales, self.n_adapted = [1.0] * len(self.movers), [0] * len(self.movers)
        self.adapts = sampler.adapt
        self.clear()

    @property
    def scale(self):
        """Scale of the proposal; an array with one per part of a mixture."""
        return np.array(self.scales) if len(self.scales) > 1 else self.scales[0]

    def clear(self):
        self.n_accepted = self.n_looks = self.n_evaluations = self.n_exact = 0

    def end_warmup(self):
        warn_of_reading(self.n_evaluations, self.n_steps, self.n_factors,
                        self.control is not None, self.warned)
        self.adapts = False
        self.scales = [min(scale, getattr(mover, "most", math.inf))
                       for scale, mover in zip(self.scales, self.movers, strict=True)]
        self.clear()
        self.warms_up = False
        warn_far(self.factors, self.control, self.points, self.start, self.farthest)

    def steps(self, n):
        """Take n steps; return the point, the number accepted and the number of rows read."""
        for _ in range(n):
            self.step()
        return self.values.copy(), self.n_accepted, self.n_evaluations

    def prior(self, point):
        value = 0.0 if self.log_prior is None else checked_prior(self.log_prior(point), point)
        if self.precision is not None:
            value -= 0.5 * float(point @ self.precision @ point)
        return value

    def step(self):
        part = self.proposal.choose() if len(self.movers) > 1 else 0
        mover = self.movers[part]
        self.offered[0] = self.values
        correction = mover.propose(self.offered, self.scales[part])
        self.proposed[:] = self.offered[1]
        log_density = self.prior(self.shown_proposed)
        accepted = False
        if log_density > -math.inf:
            threshold = (self.log_density - log_density - correction
                         - self.rng.standard_exponential())
            if self.total_change is not None:
                threshold -= self.total_change()
            if self.ranges is not None:
                set_range(self.test, self.ranges.most(self.points))
            result = self.test.test(threshold)
            accepted = result.accepted
            self.n_looks += result.n_looks
            self.n_evaluations += result.n_evaluations
            self.n_exact += result.exact
        self.n_steps += 1
        if accepted:
            self.values[:] = self.proposed
            if self.warms_up and (np.sum((self.values - self.start)**2)
                                  > np.sum((self.farthest - self.start)**2)):
                self.farthest[:] = self.values
            self.log_density = log_density
            self.n_accepted += 1
        if self.adapts:
            self.n_adapted[part] += 1
            scale = self.scales[part] * math.exp(
                (accepted - mover.target) / self.n_adapted[part]**DECAY)
            self.scales[part] = min(scale, HEADROOM * getattr(mover, "most", math.inf))

    def take_statistics(self, thin):
        taken = (self.n_accepted / thin, self.n_evaluations / (thin * self.n_factors),
                 self.n_looks, self.n_evaluations, self.n_exact)
        self.clear()
        return taken


def warn_of_reading(n_read, n_steps, n_factors, has_control, warned):
    """Warn if warm-up read more than MOST_READ of the rows; once for chains that share `warned`."""
    if n_steps < LEAST_STEPS or n_factors < LEAST_ROWS:
        return
    share = n_read / (n_steps * n_factors)
    if share <= MOST_READ or not warned.acquire(blocking=False):
        return
    if has_control:
        remedy = ("control is not close enough: expand nearer to the mode, use smaller steps, or "
                  "use ExactMinibatch for a regression")
    else:
        remedy = ("pass control, a GLMControl or a TaylorControl around the mode, or use "
                  "ExactMinibatch for a regression")
    warnings.warn(
        f"RacingMetropolis read {share:.0%} of the {n_factors} rows per step of warm-up, in "
        f"random order, which costs more than one pass over all of them: {remedy}; otherwise "
        f"reading all rows in order at every step is faster", SlowReadingWarning, stacklevel=2)


def warn_of_leverage(factors, control, points):
    """Warn if 1 % of the rows have nine tenths of the variance of the control's remainder."""
    rest = np.concatenate([
        factors.evaluate(rows, [0])[:, 0] - _changes(control, points, rows)
        for rows in np.array_split(np.arange(factors.n_factors),
                                   -(-factors.n_factors // BLOCK))])
    few = max(1, int(FEW * rest.size))
    if rest.size < 10 / FEW or not np.isfinite(rest).all():
        return
    deviations = rest - np.median(rest)
    largest = np.argpartition(np.abs(deviations), -few)[-few:]
    total, nats = (deviations**2).sum(), abs(deviations[largest].sum())
    share = (deviations[largest] ** 2).sum() / total if total > 0 else 0.0
    if share > MOST and nats > LEAST_NATS:
        warnings.warn(
            f"control fits a few rows badly: {few} of {rest.size} rows have {share:.1%} of the "
            f"variance of its remainder and contribute {nats:.2g} nats between the start of the "
            f"chain and the farthest point of warm-up. Tests rarely read these rows, so the chain "
            f"may sample the control's approximation at any delta. Read more rows (Looks(first=)), "
            f"use a BettingBound with a range, or move these rows into the prior",
            WeakControlWarning, stacklevel=2)


def _changes(control, points, rows):
    """Return h_n(x') - h_n(x) of a control; computed in NumPy for a GLMControl."""
    if not hasattr(control, "curvatures"):
        return control.changes(points)(rows, np.zeros(1, dtype=np.int64))[:, 0]
    x = control.features[rows]
    middle = 0.5 * (points[0] + points[1]) - control.center
    return x @ (points[1] - points[0]) * (
        control.slopes[rows] + control.curvatures[rows] * (x @ middle))
