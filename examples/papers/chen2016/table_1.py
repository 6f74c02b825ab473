"""Table 1 of Chen & Ghahramani 2016: the constant B_Normal by delta and first look.

    python examples/papers/chen2016/table_1.py [--quick] [--save PNG]

For each delta and first look: the printed digits, and ours for two boundaries. The
one-sided one solves Equation 5, from which the paper says the table comes, and which
Proposition 3 needs. The two-sided one has half the probability that some look is beyond
B on either side. The printed table is the two-sided one, interpolated in delta. At small
delta both are the same. At delta = .49 Equation 5 needs .40 to .50 more.
"""

import time
from pathlib import Path

import numpy as np
from setting import SHARES, Figure

import pybandit as pb
from pybandit._shared import drawing

PRINTED = Path(__file__).with_name("table_1.txt")


def printed_table():
    """Return delta and the printed B, shapes (deltas, 1) and (deltas, shares)."""
    table = np.loadtxt(PRINTED)
    return table[:, :1], table[:, 1:]


def print_table(delta, printed, one, two):
    print(f"{'':8}" + "".join(f"{f'first look {x:g}':>22}" for x in SHARES))
    print(f"{'delta':<8}" + f"{'printed':>8}{'Eq. 5':>7}{'two':>7}" * len(SHARES))
    for level, *columns in zip(delta[:, 0], printed, one, two, strict=True):
        print(f"{level:<8.2g}" + "".join(f"{a:>8.4f}{b:>7.3f}{c:>7.3f}"
                                         for a, b, c in zip(*columns, strict=True)))


def draw(delta, printed, one, two):
    """Plot how far the printed digits are from both boundaries."""
    figure, ((axis,),) = drawing.new_figure(6.4, 4.0)
    for name, found, colour in zip(("Equation 5", "two-sided"), (one, two), drawing.COLOURS,
                                   strict=False):
        axis.plot(np.broadcast_to(delta, found.shape).ravel(),
                  np.abs(found - printed).ravel(), ".", color=colour, label=name)
    axis.set(xscale="log", yscale="log")
    axis.legend(frameon=False)
    drawing.label_axes(axis, r"$\delta$", "distance from the printed table")
    drawing.tidy(axis)
    return figure


def main(argv=None):
    figure = Figure(__doc__, arguments=argv)
    delta, printed = printed_table()
    start = time.perf_counter()
    one, two = (pb.bounds.b_normal(delta, SHARES, convention=convention)
                for convention in ("one-sided", "two-sided"))
    seconds = (time.perf_counter() - start) / 2 / printed.size
    print_table(delta, printed, one, two)
    small, largest = delta[:, 0] <= 0.25, delta[:, 0] == delta.max()
    for name, found in (("B solves Equation 5", one), ("B is that of a two-sided test", two)):
        far = np.abs(found - printed)
        figure.claim(name, f"{printed.size} numbers", f"within {far[small].max():.4f} up to "
                     f"delta .25, {far[largest].max():.3f} at {delta.max():g}",
                     far[small].max() < 0.01, far.max() < 0.04)
    figure.claim("Computing B takes less than a second", "< 1 s", f"{1e3 * seconds:.2f} ms",
                 seconds < 1)
    figure.end(lambda: draw(delta, printed, one, two))


if __name__ == "__main__":
    main()
