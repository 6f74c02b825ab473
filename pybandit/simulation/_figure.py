"""Plots of simulations: mean pulls and the error of one policy; curves of several policies."""

import numpy as np

from pybandit._shared.drawing import (
    EXACT,
    FEW,
    RACING,
    add_legend,
    axes_or_new,
    draw_band,
    draw_bars,
    draw_points,
    height_for,
    label_axes,
    line_styles,
    scale_axes,
    tidy,
)
from pybandit._shared.intervals import mean_interval, wilson_interval

LINE_POINTS, FEW_ARMS = 400, 100
WORDS = {"error": "share of runs with an error, 95 %", "regret": "mean simple regret, 95 %",
         "cumulative_regret": "mean regret of all pulls, 95 %", "pulls": "mean pulls, 95 %"}


def simulation_axes(result, of, ax, logx, logy):
    """Draw the running error, or the mean pulls of each arm, of a `SimulationResult`."""
    ax = axes_or_new(ax)
    scale_axes(ax, logx, logy)
    (_draw_running_error if of == "error" else _draw_pulls)(ax, result, logy)
    return ax


def _draw_pulls(axis, result, logy):
    arms = np.arange(result.arm_pulls.size)
    if arms.size <= FEW_ARMS:
        axis.bar(arms, result.arm_pulls, 0.8, color=EXACT)
        axis.locator_params(axis="x", integer=True)
    else:
        axis.plot(arms, result.arm_pulls, lw=0.6, color=EXACT)
    label_axes(axis, "arm", "mean pulls")
    tidy(axis, f"{result.mean_pulls:,.0f} pulls in {result.mean_batches:,.0f} batches")


def _draw_running_error(axis, result, logy):
    runs = np.unique(np.geomspace(1, result.n_runs, LINE_POINTS).round().astype(np.int64))
    hits = np.cumsum(result.errors)[runs - 1]
    low, high = np.transpose([wilson_interval(int(h), int(n))
                              for h, n in zip(hits, runs, strict=True)])
    draw_band(axis, runs, low, high, RACING)
    axis.plot(runs, hits / runs, lw=1.6, color=RACING)
    if not logy:
        axis.set_ylim(0.0, min(1.0, 2.5 * high[-1]))  # the error of the first runs is noise
    label_axes(axis, "runs", WORDS["error"])
    tidy(axis, f"error {result.error_probability:.3g} after {result.n_runs:,} runs")


def comparison_axes(results, of, ax, logx, logy):
    """Draw a line with a band for each policy over the checkpoints, or a point for its final value.

    `results` maps names to `SimulationResult`.
    """
    first = next(iter(results.values()))
    at_ends = first.checkpoints is None or of == "pulls"
    if at_ends:
        ax = axes_or_new(ax, (6.4, height_for(len(results))))
        _draw_ends(ax, results, of)
    else:
        ax = axes_or_new(ax)
        _draw_curves(ax, results, of)
    scale_axes(ax, logx, logy and not at_ends)
    tidy(ax, f"{first.n_runs:,} runs of each policy")
    return ax


def _draw_curves(axis, results, of):
    styles = line_styles(len(results))
    for place, ((name, one), style) in enumerate(zip(results.items(), styles, strict=True)):
        mean, low, high = one.curve(of)
        low, colour = np.maximum(low, 0.0), style["color"]  # errors and regrets are at least 0
        if len(results) <= FEW:
            draw_band(axis, one.checkpoints, low, high, colour)
        else:
            draw_bars(axis, one.checkpoints, mean, low, high, colour, place)
        axis.plot(one.checkpoints, mean, lw=1.6, label=name, **style)
    label_axes(axis, "pulls", WORDS[of])
    add_legend(axis)


def _draw_ends(axis, results, of):
    rows = [_end(one, of) for one in results.values()]
    draw_points(axis, *np.transpose(rows), list(results), [EXACT] * len(rows))
    axis.set_xlabel(WORDS[of], fontsize=9)


def _end(one, of):
    """Return mean and 95 % interval; regrets are never below 0, nor are their intervals."""
    if of == "error":
        return one.error_probability, *one.error_interval
    mean, low, high = mean_interval(one.pulls if of == "pulls" else getattr(one, f"{of}s"))
    return mean, max(0.0, low), high
