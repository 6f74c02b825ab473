"""A picture of what an allocator learned."""

import numpy as np

from pybandit._shared.drawing import DATA, EXACT, RACING, pair_of_axes, tidy


def allocation_figure(allocator, axes=None):
    """Each estimator's mean with its 95 % interval beside the estimate, and the cost of each.

    Parameters
    ----------
    allocator : EstimatorAllocator
    axes : pair of matplotlib.axes.Axes, optional
        Where to draw; by default a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
    """
    axes = pair_of_axes(axes, "means and costs")
    _draw_means(axes[0], allocator)
    _draw_costs(axes[1], allocator)
    return axes[0].figure


def _draw_means(axis, allocator):
    arms = np.arange(allocator.n_arms)
    low, high = _interval(allocator)
    with np.errstate(invalid="ignore", divide="ignore"):
        half = 1.96 * np.sqrt(allocator.variances / allocator.pulls)
    if np.isfinite(high - low):
        axis.axhspan(low, high, color=RACING, alpha=0.15, lw=0)
    axis.axhline(allocator.estimate, lw=1.2, color=RACING)
    axis.errorbar(arms, allocator.means, half, fmt="o", ms=3, lw=1, color=EXACT)
    axis.set_xlabel("estimator", fontsize=9)
    axis.set_ylabel("mean, 95 %", fontsize=9)
    axis.set_title(f"estimate {allocator.estimate:.5g} ± {allocator.standard_error:.2g}",
                   fontsize=10, loc="left")
    tidy(axis)


def _interval(allocator):
    """Its own, or none where values belie the range that it was given."""
    try:
        return allocator.interval()
    except ValueError:
        return -np.inf, np.inf


def _draw_costs(axis, allocator):
    arms = np.arange(allocator.n_arms)
    shares = np.nan_to_num(allocator.mean_costs) * allocator.pulls
    axis.bar(arms, shares / max(shares.sum(), np.finfo(float).tiny), 0.8, color=DATA)
    axis.set_xlabel("estimator", fontsize=9)
    axis.set_ylabel("share of the cost", fontsize=9)
    axis.set_title(f"{allocator.n_pulls:,} runs, cost {allocator.total_cost:,.4g}", fontsize=10,
                   loc="left")
    tidy(axis)
