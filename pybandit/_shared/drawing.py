"""What all pictures share: colours, a figure, its edges. Matplotlib is imported inside."""

from pybandit._optional import require

EXACT, RACING, DATA = "#6b7280", "#d9541e", "#c7ccd4"
SEQUENCE = ("#1f4e79", "#2a9d8f", "#e9a23b", "#d9541e", "#7b2d5b")


def percent(fraction):
    """A share as text: two digits, "100 %" for all."""
    return f"{100 * fraction:.3g} %" if fraction >= 0.995 else f"{100 * fraction:.2g} %"


def new_figure(width, height, rows=1, columns=1, **subplots):
    """A figure of its own, outside pyplot's state, and its axes (rows, columns)."""
    figure = require("matplotlib.figure", "plot").Figure(figsize=(width, height),
                                                         layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **subplots)


def pair_of_axes(axes, content):
    """The two axes given, for this content, or those of a figure of their own."""
    if axes is None:
        _, (axes,) = new_figure(9.0, 3.4, 1, 2)
    axes = list(axes)
    if len(axes) != 2:
        raise ValueError(f"axes must be two, for {content}; got {len(axes)}")
    return axes


def save(figure, path, dpi=100):
    """Write a picture; the name's ending gives the format."""
    figure.savefig(path, dpi=dpi)


def tidy(axis):
    """No frame above and to the right, small ticks."""
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=8)
