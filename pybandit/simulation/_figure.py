"""Pictures of simulations and of what the examples of batch policies measure."""

import numpy as np

from pybandit._drawing import DATA, EXACT, RACING, SEQUENCE, new_figure, pair_of_axes, tidy

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
    from pybandit.simulation import wilson_interval

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


def measured_figure(panels, x_label, y_label, log=False):
    """Panels of measured lines with intervals; rings are reference values.

    Parameters
    ----------
    panels : dict of str to list of dict
        Title -> lines with the keys ``label``, ``x``, ``y``, ``half`` (of an interval;
        0 for none) and ``reference``, which may hold None.
    x_label, y_label : str
    log : bool
        Both axes.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = new_figure(3.8 * len(panels), 3.4, 1, len(panels), sharey=True)
    for axis, (title, lines) in zip(axes[0], panels.items(), strict=True):
        for i, line in enumerate(lines):
            colour = SEQUENCE[i % len(SEQUENCE)]
            axis.errorbar(line["x"], line["y"], line["half"], fmt="o-", ms=3, lw=1, color=colour,
                          label=line["label"])
            known = [pair for pair in zip(line["x"], line["reference"], strict=True)
                     if pair[1] is not None]
            if known:
                axis.plot(*zip(*known, strict=True), "o", ms=8, mfc="none", color=colour)
        if log:
            axis.set_xscale("log")
            axis.set_yscale("log")
        axis.set_xlabel(x_label, fontsize=9)
        axis.set_title(title, fontsize=10, loc="left")
        tidy(axis)
    axes[0, 0].set_ylabel(y_label, fontsize=9)
    axes[0, 0].legend(fontsize=8, frameon=False)
    return figure
