"""Pictures of simulations: pulls and the error as runs come in; curves of several policies."""

import numpy as np

from pybandit._shared.drawing import (
    DATA,
    EXACT,
    RACING,
    SEQUENCE,
    new_figure,
    pair_of_axes,
    tidy,
)
from pybandit._shared.intervals import mean_interval, wilson_interval

LINE_POINTS, FEW_ARMS = 400, 100
STYLES = "-", "--", ":", "-."
WORDS = {"error": "share of runs with an error", "regret": "mean simple regret",
         "cumulative_regret": "mean regret of all pulls"}


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


def comparison_figure(results, of, axes=None):
    """A line and a band for each policy over the checkpoints; or a bar for its end.

    Parameters
    ----------
    results : dict of str to SimulationResult
    of : {"error", "regret", "cumulative_regret"}
    axes : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.figure.Figure
    """
    if axes is None:
        _, ((axes,),) = new_figure(6.4, 4.0)
    draw = _draw_ends if next(iter(results.values())).checkpoints is None else _draw_curves
    draw(axes, results, of)
    axes.set_title(f"95 % over {next(iter(results.values())).n_runs:,} runs", fontsize=10,
                   loc="left")
    tidy(axes)
    return axes.figure


def _style(j):
    """Colours in turn, then the same ones dashed."""
    return {"color": SEQUENCE[j % len(SEQUENCE)], "ls": STYLES[j // len(SEQUENCE) % len(STYLES)]}


def _draw_curves(axis, results, of):
    for j, (name, one) in enumerate(results.items()):
        mean, low, high = one.curve(of)
        style = _style(j)
        axis.fill_between(one.checkpoints, low, high, color=style["color"], alpha=0.2, lw=0)
        axis.plot(one.checkpoints, mean, lw=1.4, label=name, **style)
    axis.set_xlabel("pulls", fontsize=9)
    axis.set_ylabel(WORDS[of], fontsize=9)
    axis.legend(fontsize=8, frameon=False)


def _draw_ends(axis, results, of):
    for j, one in enumerate(results.values()):
        values = one.errors if of == "error" else getattr(one, f"{of}s")
        mean, low, high = mean_interval(values)
        if of == "error":
            low, high = one.error_interval
        axis.errorbar(mean, j, xerr=[[mean - low], [high - mean]], fmt="o", ms=4,
                      color=SEQUENCE[j % len(SEQUENCE)])
    axis.set_yticks(range(len(results)), list(results))
    axis.invert_yaxis()
    axis.set_xlabel(WORDS[of], fontsize=9)
