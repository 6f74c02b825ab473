"""Whether a control variate leaves its remainder to few rows, which tests seldom read."""

import warnings

import numpy as np

from pybandit._shared.errors import WeakControlWarning

# Rows taken at a time.
BLOCK = 16384
# A look at 50 rows holds none of 1 % in three cases of five.
FEW = 0.01
# Of the remainder's variance; of normal features the 1 % hold about half.
MOST = 0.9
# What is less than this, in nats, decides few tests.
LEAST_NATS = 0.1


def warn_of_leverage(factors, control, points):
    """Warn where 1 % of the rows hold nine tenths of what the control leaves of a step."""
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
            f"control leaves its remainder to few rows: {few} of {rest.size} hold {share:.1%} of "
            f"its variance and {nats:.2g} nats between where the chain began and the farthest it "
            f"came. "
            f"Tests seldom read them, so the chain may return the control's approximation at any "
            f"delta. Read more (Looks(first=)), bet on a range (BettingBound), or take these rows "
            f"into the prior", WeakControlWarning, stacklevel=2)


def _changes(control, points, rows):
    """What the control says of d_n; that of a GLM is compiled elsewhere."""
    if not hasattr(control, "curvatures"):
        return control.changes(points)(rows, np.zeros(1, dtype=np.int64))[:, 0]
    x = control.features[rows]
    middle = 0.5 * (points[0] + points[1]) - control.center
    return x @ (points[1] - points[0]) * (
        control.slopes[rows] + control.curvatures[rows] * (x @ middle))
