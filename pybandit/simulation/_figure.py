"""The picture of a simulation: pulls of each arm, and the error as runs come in."""

import numpy as np

from pybandit._shared.drawing import DATA, EXACT, RACING, pair_of_axes, tidy
from pybandit._shared.intervals import wilson_interval

LINE_POINTS, FEW_ARMS = 400, 100


def simulation_figure(result, axes=None):
    """Mean pulls of each arm, and the share of runs with an error as they come in.

    Parameters
    ----------
    result : SimulationResult
    axes : pair of matplotlib.axes.Axes, optional
        Where to draw; by default a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
    """
    axes = pair_of_axes(axes, "pulls and errors")
    _draw_pulls(axes[0], result)
    _draw_running_error(axes[1], result)
    return axes[0].figure


def _draw_pulls(axis, result):
    arms = np.arange(result.arm_pulls.size)
    if arms.size <= FEW_ARMS:
        axis.bar(arms, result.arm_pulls, 0.8, color=EXACT)
    else:
        axis.plot(arms, result.arm_pulls, lw=0.6, color=EXACT)
    axis.set_xlabel("arm", fontsize=9)
    axis.set_ylabel("mean pulls", fontsize=9)
    axis.set_title(f"{result.mean_pulls:,.0f} pulls in {result.mean_batches:,.0f} batches",
                   fontsize=10, loc="left")
    tidy(axis)


def _draw_running_error(axis, result):
    runs = np.unique(np.geomspace(1, result.n_runs, LINE_POINTS).round().astype(np.int64))
    hits = np.cumsum(result.errors)[runs - 1]
    low, high = np.transpose([wilson_interval(int(h), int(n))
                              for h, n in zip(hits, runs, strict=True)])
    axis.fill_between(runs, low, high, color=DATA, lw=0)
    axis.plot(runs, hits / runs, lw=1.6, color=RACING)
    axis.set_ylim(0.0, 1.0)
    axis.set_xlabel("runs", fontsize=9)
    axis.set_ylabel("share with an error, 95 %", fontsize=9)
    axis.set_title(f"error {result.error_probability:.3g} after {result.n_runs:,} runs",
                   fontsize=10, loc="left")
    tidy(axis)
