"""The figure of the demo: data, exact posterior, racing draws and time per draw."""

import numpy as np

from pybandit._shared.drawing import DATA, EXACT, RACING, new_figure, percent, tidy


def demo_figure(results):
    """Draw one row per subject: data, exact posterior, racing draws and time per draw.

    Parameters
    ----------
    results : list of (Subject, list of Comparison)
        As `pybandit.cli.demo.run` returns.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = new_figure(13.0, 3.3 * len(results), len(results), 4,
                              gridspec_kw={"width_ratios": [1.25, 1, 1, 1.3]})
    for row, (subject, lines) in zip(axes, results, strict=True):
        best = lines[-1]
        _draw_data(row[0], subject, best.exact.probabilities)
        top = best.exact.probabilities.max()
        _draw_cells(row[1], subject.fine, best.exact.probabilities, top, "exact posterior")
        _draw_cells(row[2], subject.fine, best.frequencies, top,
                    f"{best.n_draws:,} racing draws, {percent(best.fraction)} read")
        _draw_times(row[3], lines)
    return figure


def _draw_data(axis, subject, probabilities):
    cell = int(np.argmax(probabilities))
    dof, scale = (values[cell] for values in subject.fine.cells())
    values = subject.observations
    reach = np.quantile(np.abs(values), 0.9995)
    axis.hist(values, bins=np.linspace(-reach, reach, 121), density=True, color=DATA, log=True)
    x = np.linspace(-reach, reach, 801)
    axis.plot(x, _student_density(x, dof, scale), color=RACING, lw=1.4)
    floor, _ = axis.get_ylim()
    axis.set_ylim(floor, 30.0)
    axis.set_title(f"{subject.name.partition(':')[0]}: {values.size:,} factors", fontsize=10,
                   loc="left")
    axis.set_xlabel(f"{subject.name.partition(': ')[2]} ({subject.unit})", fontsize=8.5)
    axis.set_ylabel("density", fontsize=8.5)
    tidy(axis)
    inset = axis.inset_axes([0.62, 0.66, 0.38, 0.34])
    if subject.source.ndim == 2:
        inset.imshow(subject.source[::4, ::4], cmap="gray")
    else:
        inset.plot(subject.source, lw=0.25, color=EXACT)
    inset.set_axis_off()


def _student_density(x, dof, scale):
    from scipy.stats import t

    return t.pdf(x, dof, scale=scale)


def _draw_cells(axis, grid, probabilities, top, title):
    axis.pcolormesh(grid.scale, grid.dof, probabilities.reshape(grid.shape), cmap="Blues",
                    vmin=0.0, vmax=top, shading="nearest", edgecolors="white", linewidth=0.4)
    axis.set_title(title, fontsize=10, loc="left")
    axis.set_xlabel("scale", fontsize=8.5)
    axis.set_ylabel("degrees of freedom", fontsize=8.5)
    axis.locator_params(nbins=5)
    tidy(axis)


def _draw_times(axis, lines):
    """Draw bars of milliseconds per draw, labelled with the fraction read."""
    where = np.arange(len(lines))[::-1]
    exact = [1e3 * line.exact.seconds for line in lines]
    racing = [1e3 * line.seconds for line in lines]
    axis.barh(where + 0.19, exact, 0.36, color=EXACT, label="exact")
    axis.barh(where - 0.19, racing, 0.36, color=RACING, label="racing")
    for y, line, milliseconds in zip(where, lines, racing, strict=True):
        axis.annotate(f"{percent(line.fraction)} read", (milliseconds, y - 0.19), (4, 0),
                      textcoords="offset points", va="center", fontsize=8, color=RACING)
    axis.set_xscale("log")
    axis.set_xlim(0.4 * min(*exact, *racing), 12.0 * max(*exact, *racing))
    axis.set_yticks(where, [line.label.replace(", ", ",\n") for line in lines])
    axis.set_title("time per draw (ms)", fontsize=10, loc="left")
    axis.legend(fontsize=8, frameon=False, loc="lower right")
    tidy(axis)
