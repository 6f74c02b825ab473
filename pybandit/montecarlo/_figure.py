"""Plots of an allocator: the estimators' means, or the share of the cost of each."""

import numpy as np

from pybandit._shared.drawing import (
    DATA,
    EXACT,
    RACING,
    axes_or_new,
    draw_points,
    height_for,
    tidy,
)
from pybandit._shared.intervals import NORMAL

MOST_NAMES = 60


def allocation_axes(allocator, of, ax, names):
    """Draw means with 95 % intervals next to the estimate, or the shares of the cost."""
    ax = axes_or_new(ax, (6.4, height_for(min(len(names), MOST_NAMES))))
    (_draw_means if of == "means" else _draw_costs)(ax, allocator, names)
    if len(names) > MOST_NAMES:
        every = np.unique(np.linspace(0, len(names) - 1, MOST_NAMES // 2).round().astype(int))
        ax.set_yticks(every, [names[i] for i in every])
    return ax


def _draw_means(axis, allocator, names):
    low, high = _interval(allocator)
    with np.errstate(invalid="ignore", divide="ignore"):
        half = NORMAL * np.sqrt(allocator.variances / allocator.pulls)
    if np.isfinite(high - low):
        axis.axvspan(low, high, color=RACING, alpha=0.15, lw=0)
    axis.axvline(allocator.estimate, lw=1.2, color=RACING)
    means = allocator.means
    draw_points(axis, means, means - half, means + half, names, [EXACT] * len(names))
    axis.set_xlabel("mean of each estimator, 95 %; line: estimate", fontsize=9)
    tidy(axis, f"estimate {allocator.estimate:.5g} ± {allocator.standard_error:.2g}")


def _interval(allocator):
    """Return the allocator's interval, or an infinite one if a value was outside its range."""
    try:
        return allocator.interval()
    except ValueError:
        return -np.inf, np.inf


def _draw_costs(axis, allocator, names):
    costs = np.nan_to_num(allocator.mean_costs) * allocator.pulls
    axis.barh(range(len(names)), costs / max(costs.sum(), np.finfo(float).tiny), 0.8, color=DATA)
    axis.set_yticks(range(len(names)), names)
    axis.invert_yaxis()
    axis.set_xlabel("share of the cost", fontsize=9)
    tidy(axis, f"{allocator.n_pulls:,} runs, cost {allocator.total_cost:,.4g}")
