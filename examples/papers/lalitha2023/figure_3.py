"""Figure 3 of Lalitha et al. 2023: errors against the number of arms, n = 5,000 (Sec. 5.1).

    python examples/papers/lalitha2023/figure_3.py [--quick] [--runs N] [--all] [--save PNG]

The arms of Figure 2, K from 32 to 64. In brackets: reference values of an independent
implementation, 2,000 runs. As in Figure 2, GapE and VBR are ahead of SHVar and SHAdaVar,
here at every size and in both settings; see figure_2.py for the complexity of GapE and for
VBR, a reconstruction. Two statements on the other policies differ for the same reason.
"""

import numpy as np
from figure_2 import REFERENCE as FIGURE_2
from figure_2 import gaussian
from setting import (
    BUDGETS,
    N_RUNS,
    SETTINGS,
    SIZES,
    Figure,
    N,
    add_all,
    counted,
    draw,
    errors_of,
    names_for,
    run_table,
)

# At K = 32, 40, 48, 56; for 64 see Figure 2.
REFERENCE = {
    "A": {
        "Uniform": (0.039, None, 0.095, None),
        "SequentialHalving": (0.014, None, 0.03, None),
        "SHVar": (0.0115, None, 0.027, None),
        "SHAdaVar": (0.0115, None, 0.028, None),
        "SHAdaVar, reuse": (0.005, None, 0.0145, None),
        "GapE": (0.005, None, 0.0135, None),
        "GapEV": (0.024, None, 0.0735, None),
        "VBR": (0.0105, None, 0.0235, None),
    },
    "B": {
        "Uniform": (0.0675, None, 0.1565, None),
        "SequentialHalving": (0.025, 0.048, 0.069, 0.095),
        "SHVar": (0.0195, 0.029, 0.045, 0.055),
        "SHAdaVar": (0.021, 0.037, 0.0485, 0.064),
        "SHAdaVar, reuse": (0.0085, None, 0.0225, None),
        "GapE": (0.0115, None, 0.0275, None),
        "GapEV": (0.05, None, 0.126, None),
        "VBR": (0.008, None, 0.03, None),
    },
}


def reference(setting):
    """Return a dict policy -> number of arms -> reference error."""
    last = BUDGETS.index(N)
    return {name: dict(zip(SIZES, (*known, FIGURE_2[setting][name][last]), strict=True))
            for name, known in REFERENCE[setting].items()}


def check(figure, place, rows):
    """Compare the statements on Figure 3 with the errors of one setting."""
    errors = errors_of(rows)
    others = np.array([errors[name] for name in ("Uniform", "SequentialHalving", "GapE", "GapEV",
                                                 "VBR")])
    ours = np.array([errors["SHVar"], errors["SHAdaVar"]])
    lowest = ours.max(axis=0) <= others.min(axis=0)
    figure.claim(f"{place}: SHVar and SHAdaVar have the lowest errors for all K", "all K",
                 f"at {counted(lowest, 'sizes')}; the best rival {others.min(axis=0)[-1]:.3f}, "
                 f"they {ours[0, -1]:.3f} and {ours[1, -1]:.3f} at K = 64", lowest.all())
    every = np.vstack([others, ours])
    figure.claim(f"{place}: all algorithms get worse as K increases", "7 of 7",
                 f"{(every[:, -1] > every[:, 0]).sum()} of 7",
                 (every[:, -1] > every[:, 0]).all())
    figure.claim(f"{place}: the others err with probability around .05 or below at K = 32",
                 "about .05", f"{others[:, 0].min():.3f} to {others[:, 0].max():.3f}",
                 others[:, 0].max() < 0.075, others[:, 0].max() < 0.06)
    figure.claim(f"{place}: the others err with probability above .1 at K = 64", "above .1",
                 f"{(others[:, -1] > 0.1).sum()} of 5, {others[:, -1].min():.3f} to "
                 f"{others[:, -1].max():.3f}", (others[:, -1] > 0.1).all())


def main(argv=None):
    figure = Figure(__doc__, runs=(N_RUNS, 200), add=add_all, arguments=argv)
    sizes, panels = (SIZES[0], SIZES[-1]) if figure.quick else SIZES, {}
    for setting in SETTINGS:
        rows = run_table(f"Setting {setting}, n = {N:,}", "K",
                         {k: (gaussian(k, setting), N) for k in sizes}, figure.runs,
                         figure.seed, reference(setting), names_for(figure))
        panels[f"setting {setting}, n = {N:,}"] = rows
        check(figure, f"Setting {setting}", rows)
    figure.end(lambda: draw(panels, "K"))


if __name__ == "__main__":
    main()
