"""Figure 2 of Lalitha et al. 2023: errors against the budget, normal rewards (Sec. 5.1).

    python examples/papers/lalitha2023/figure_2.py [--quick] [--runs N] [--all] [--save PNG]

K = 64 arms of means 1 - sqrt(i / K), perturbed in every run; every other arm has variance
.9 mean^2 + .1, the others .1 (see setting.py for the settings A and B). In brackets:
reference values of an independent implementation, 2,000 runs (95 % half-width .004 to
.022). The statements are checked in both settings, since the paper prints no numbers that
would tell which one its plot shows. Four of them differ in both settings:

- GapE is far better than in the paper, and ahead of halving. The paper does not print its
  complexity H; without b^2 in it, the last row, GapE is about as bad as there.
- SHVar is never the best. VBR is ahead of it at every budget, and so is halving in setting
  A at the first three: there SHVar gives the best arm, which has little noise, few pulls.
- VBR is ahead of SHAdaVar at large budgets too, in setting A only there. It is a
  reconstruction, since the text of its paper was not available.
"""

from setting import (
    BUDGETS,
    N_RUNS,
    SETTINGS,
    Figure,
    K,
    add_all,
    arms,
    counted,
    draw,
    errors_of,
    names_for,
    once_a_run,
    run_table,
)

import pybandit as pb

# K = 64, by setting and policy, at the four budgets
REFERENCE = {
    "A": {
        "Uniform": (0.499, 0.339, 0.1895, 0.1155),
        "SequentialHalving": (0.1045, 0.071, 0.0535, 0.034),
        "SHVar": (0.1735, 0.116, 0.053, 0.032),
        "SHAdaVar": (0.108, 0.0895, 0.054, 0.0365),
        "SHAdaVar, reuse": (0.092, 0.059, 0.0285, 0.0215),
        "GapE": (0.108, 0.05, 0.0275, 0.018),
        "GapEV": (0.4325, 0.2585, 0.139, 0.085),
        "VBR": (0.164, 0.0865, 0.044, 0.0225),
    },
    "B": {
        "Uniform": (0.4815, 0.3625, 0.24, 0.159),
        "SequentialHalving": (0.502, 0.304, 0.1225, 0.058),
        "SHVar": (0.2685, 0.167, 0.0735, 0.046),
        "SHAdaVar": (0.4345, 0.2525, 0.083, 0.0495),
        "SHAdaVar, reuse": (0.2785, 0.137, 0.0495, 0.0255),
        "GapE": (0.344, 0.1765, 0.061, 0.028),
        "GapEV": (0.4455, 0.348, 0.1955, 0.11),
        "VBR": (0.235, 0.113, 0.0545, 0.0365),
    },
}


def reference(setting):
    """Return a dict policy -> budget -> reference error."""
    return {name: dict(zip(BUDGETS, known, strict=True))
            for name, known in REFERENCE[setting].items()}


def gaussian(n_arms, setting):
    """Return a function that draws an environment per run."""
    return once_a_run(lambda rng: pb.environments.GaussianBandit(*arms(n_arms, setting, rng)))


def check(figure, place, rows):
    """Compare the statements on Figure 2 with the errors of one setting."""
    errors = errors_of(rows)
    uniform, halving, shvar, vbr, adaptive, gape, gapev, unscaled = (errors[name] for name in (
        "Uniform", "SequentialHalving", "SHVar", "VBR", "SHAdaVar", "GapE", "GapEV",
        "GapE, H without b^2"))
    rivals = [errors[name] for name in
              ("Uniform", "SequentialHalving", "GapE", "GapEV", "VBR", "SHAdaVar")]
    worst = [(uniform >= other).all() for other in (halving, gape, gapev, vbr, shvar, adaptive)]
    figure.claim(f"{place}: Uniform performs the worst", "the worst",
                 f"above {sum(worst)} of 6 others at every budget", all(worst))
    ratio = (gape / uniform).mean(), (gapev / uniform).mean()
    figure.claim(f"{place}: GapE and GapEV are only slightly better than Uniform", "slightly",
                 f"{ratio[0]:.2f} and {ratio[1]:.2f} times the errors of Uniform "
                 f"(GapE without b^2 in H: {(unscaled / uniform).mean():.2f})",
                 0.6 < min(ratio) and max(ratio) < 1)
    figure.claim(f"{place}: SequentialHalving outperforms GapE and GapEV", "all budgets",
                 f"GapE at {counted(halving < gape)}, GapEV at {counted(halving < gapev)}",
                 (halving < gape).all() and (halving < gapev).all())
    best = [shvar[i] <= min(other[i] for other in rivals) for i in range(len(shvar))]
    figure.claim(f"{place}: SHVar outperforms all algorithms for all budgets", "all budgets",
                 f"at {counted(best)}", all(best))
    figure.claim(f"{place}: VBR outperforms SHAdaVar at small budgets, and the reverse at large",
                 "crossing", f"VBR {vbr[0]:.3f} and {vbr[-1]:.3f}, SHAdaVar {adaptive[0]:.3f} "
                 f"and {adaptive[-1]:.3f}", vbr[0] < adaptive[0] and vbr[-1] > adaptive[-1])
    figure.claim(f"{place}: SHAdaVar approaches SHVar at large budgets", "close",
                 f"{adaptive[0] / shvar[0]:.2f} times its errors at n = {rows[0]['x'][0]:,}, "
                 f"{adaptive[-1] / shvar[-1]:.2f} times at {rows[0]['x'][-1]:,}",
                 abs(adaptive[-1] / shvar[-1] - 1) < 0.25)


def main(argv=None):
    figure = Figure(__doc__, runs=(N_RUNS, 200), add=add_all, arguments=argv)
    budgets, panels = (1000, 5000) if figure.quick else BUDGETS, {}
    for setting in SETTINGS:
        environment = gaussian(K, setting)
        rows = run_table(f"Setting {setting}, K = {K}", "n",
                         {n: (environment, n) for n in budgets}, figure.runs, figure.seed,
                         reference(setting), names_for(figure))
        panels[f"setting {setting}, K = {K}"] = rows
        check(figure, f"Setting {setting}", rows)
    figure.end(lambda: draw(panels, "n"))


if __name__ == "__main__":
    main()
