"""Plot of a plan: the share of runs with a winner over the batches."""

import numpy as np

from pybandit._shared.drawing import (
    EXACT,
    RACING,
    axes_or_new,
    draw_band,
    label_axes,
    tidy,
)
from pybandit._shared.intervals import wilson_interval


def plan_axes(plan, ax):
    """Draw the share of runs with a winner, and the length of the z-test."""
    ax = axes_or_new(ax)
    runs = plan.winners.size
    ends = np.sort(plan.batches[plan.winners >= 0])
    last = int(ends[-1]) if ends.size else plan.max_batches
    x = np.arange(last + 1)
    hits = np.searchsorted(ends, x, side="right")
    low, high = np.transpose([wilson_interval(int(h), runs) for h in hits])
    draw_band(ax, x, low, high, RACING)
    ax.plot(x, hits / runs, lw=1.6, color=RACING, label="runs with a winner")
    if np.isfinite(plan.z_test) and plan.z_test <= 2 * last:
        ax.axvline(plan.z_test, color=EXACT, ls="--", lw=1.2, label="z-test of fixed size")
        ax.legend(fontsize=8, frameon=False, loc="lower right")
    ax.set_ylim(0.0, 1.02)
    ax.locator_params(axis="x", integer=True)
    label_axes(ax, f"batches of {plan.batch_size:,} trials", "share of runs, 95 %")
    tidy(ax, f"{runs:,} runs, {plan.n_wrong:,} with a wrong winner")
    return ax
