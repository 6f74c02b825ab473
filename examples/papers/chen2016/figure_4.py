"""Figure 4 of Chen & Ghahramani 2016: the constant B_Normal as curves.

    python examples/papers/chen2016/figure_4.py [--quick] [--save PNG]

B against delta for the six shares of the first look in Table 1: solid for Equation 5,
dotted for the simpler union bound of Equation 27. The paper calls the latter "strictly
looser", with a difference that vanishes as delta does.
"""

import numpy as np
from setting import SHARES, Figure

import pybandit as pb
from pybandit._shared import drawing


def curves(deltas, convention):
    """Return B, shape (shares, deltas)."""
    return np.array([pb.bounds.b_normal(deltas, share, convention=convention)
                     for share in SHARES])


def draw(deltas, exact, union):
    figure, ((axis,),) = drawing.new_figure(6.4, 4.4)
    for share, one, other, colour in zip(SHARES, exact, union, drawing.COLOURS, strict=False):
        axis.plot(deltas, one, color=colour, lw=1.2, label=f"first look {share:g} N")
        axis.plot(deltas, other, ":", color=colour, lw=1)
    axis.set(xscale="log")
    axis.legend(fontsize=8, frameon=False)
    drawing.label_axes(axis, r"$\delta$", "B (dotted: Equation 27)")
    drawing.tidy(axis)
    return figure


def main(argv=None):
    figure = Figure(__doc__, arguments=argv)
    deltas = np.geomspace(1e-6, 0.49, 12 if figure.quick else 60)
    exact, union = curves(deltas, "one-sided"), curves(deltas, "union")
    print(f"{'delta':<9}" + "".join(f"{x:>15g}" for x in SHARES) + "   B, union bound")
    for i, delta in enumerate(deltas):
        print(f"{delta:<9.2g}" + "".join(f"{one:>8.3f}{other:>7.3f}" for one, other
                                         in zip(exact[:, i], union[:, i], strict=True)))
    figure.claim("B falls as delta grows, and as the first look does", "all curves",
                 f"from {exact.max():.3f} to {exact.min():.3f}",
                 (np.diff(exact, axis=1) < 0).all() and (np.diff(exact, axis=0) < 0).all())
    gap = (union - exact).max(axis=0)
    figure.claim("Equation 27 is strictly looser", "all delta",
                 f"by at least {(union - exact).min():.4f}", (union > exact).all())
    figure.claim("The difference of Equation 27 vanishes as delta does", "to 0",
                 f"largest {gap[-1]:.3f} at .49, {gap[0]:.4f} at 1e-6",
                 (np.diff(gap) > 0).all() and gap[0] < 0.2 * gap[-1])
    figure.end(lambda: draw(deltas, exact, union))


if __name__ == "__main__":
    main()
