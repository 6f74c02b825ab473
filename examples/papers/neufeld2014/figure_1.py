"""Figure 1 of Neufeld et al. 2014: the best policy for two estimators, by their variances.

    python examples/papers/neufeld2014/figure_1.py [--quick] [--runs N] [--budget n] [--all]
        [--save PNG]

Values are 1/2 + s_k (Z - 1/2), Z a fair coin, with variances V1 and V1 + gap; rewards are
1 - X^2, as in the paper. The regret is n^2 times the squared error of the pooled mean minus
that of the better estimator alone. Left: the policy of least regret by V1 and gap at n = 10^6.
Right: runs of the worse estimator against n, with the 99 % range over runs. The paper has
2,000 runs; all tiles at that size take over a day of one core. The default is 30 runs on 12
tiles; `--all` has 47 tiles. The text of the paper does not say which tile its right panel
shows; here it is V1 = gap = .05. A policy is level with the best if their means differ by
less than the noise.
"""

import functools

import numpy as np
from setting import (
    FIRST,
    FOUR,
    GAPS,
    HIGHLIGHTED,
    N_PAIRS,
    N_REFERENCE,
    PAPER,
    REFERENCE,
    Figure,
    level,
    regret,
    values_of,
)

import pybandit as pb
from pybandit._shared.drawing import COLOURS, new_figure, tidy


def pair(first, gap):
    """Return two scaled Bernoulli estimators of 1/2."""
    variances = np.array([first, first + gap])
    return pb.environments.ScaledBernoulliBandit(0.5, 2 * np.sqrt(variances), 0.5)


def run_reference(n_runs, seed):
    """Print regrets and reference values; return how many agree, and how many there are."""
    print(f"regret, n = {N_REFERENCE:,}, {n_runs:,} runs [reference]")
    print(f"{'V1, gap':>16}   " + "".join(f"{name:<22}" for name in PAPER))
    hits = []
    for tile, known in REFERENCE.items():
        text = ""
        for name, (mean, half) in zip(PAPER, known, strict=True):
            value, error = regret(name, pair(*tile), N_REFERENCE, n_runs, seed)
            hits.append(level(value, error, mean, half))
            text += f"{f'{value:.1f} ± {error:.1f} [{mean}]':<22}"
        print(f"{tile!s:>16}   {text}", flush=True)
    return sum(hits), len(hits)


def run_tiles(first, gaps, n, n_runs, seed):
    """Return means and half-widths of the regret by tile, for variances up to 1/4."""
    found = {}
    print(f"\nregret, n = {n:,}, {n_runs:,} runs")
    print(f"{'V1, gap':>16}   " + "".join(f"{name:<17}" for name in FOUR) + "least")
    for gap in gaps:
        for v in first:
            if v + gap <= 0.25 + 1e-12:
                cells = np.array([regret(name, pair(v, gap), n, n_runs, seed) for name in FOUR])
                found[v, gap] = cells
                print(f"{(v, gap)!s:>16}   " + "".join(f"{f'{a:.1f} ± {b:.1f}':<17}"
                                                       for a, b in cells)
                      + " or ".join(best(cells)), flush=True)
    return found


def best(cells):
    """Return the policies that are not worse than the best by more than the noise, best first."""
    order = np.argsort(cells[:, 0])
    least = cells[order[0]]
    return [FOUR[i] for i in order
            if cells[i, 0] - least[0] <= np.hypot(cells[i, 1], least[1]) or i == order[0]]


def suboptimal(policy, environment):
    return policy.pulls[1]


def run_growth(budgets, n_runs, seed):
    """Return mean, .5 % and 99.5 % points of the runs of the worse estimator, by policy."""
    found = {}
    print(f"\nruns of the worse estimator, V1, gap = {HIGHLIGHTED}")
    print(f"{'':>10}" + "".join(f"{f'n = {n:,}':<26}" for n in budgets).rstrip())
    for name in FOUR:
        runs = [values_of(name, pair(*HIGHLIGHTED), n_runs, seed, functools.partial(suboptimal),
                          value_range=(0.0, 1.0), budget=n) for n in budgets]
        found[name] = np.array([(r.mean(), *np.quantile(r, (0.005, 0.995))) for r in runs])
        print(f"{name:>8}  " + "".join(f"{f'{m:.0f} in [{low:.0f}, {high:.0f}]':<26}"
                                      for m, low, high in found[name]).rstrip(), flush=True)
    return found


def draw(first, gaps, tiles, growth, budgets):
    """Plot the winner of each tile with its regret, and the growth of suboptimal runs."""
    from matplotlib.patches import Rectangle

    figure, ((left, right),) = new_figure(10.8, 4.0, 1, 2)
    for (v, gap), cells in tiles.items():
        x, y, winner = first.index(v), gaps.index(gap), int(np.argmin(cells[:, 0]))
        left.add_patch(Rectangle((x - 0.48, y - 0.48), 0.96, 0.96, color=COLOURS[winner], lw=0))
        left.text(x, y, f"{cells[winner, 0]:.0f}", ha="center", va="center", fontsize=7,
                  color="white")
    left.set_xlim(-0.5, len(first) - 0.5)
    left.set_ylim(-0.5, len(gaps) - 0.5)
    left.set_xticks(range(len(first)), first)
    left.set_yticks(range(len(gaps)), gaps)
    left.set_xlabel("variance of the better estimator", fontsize=9)
    left.set_ylabel("additional variance of the other", fontsize=9)
    left.set_title("least regret", fontsize=10, loc="left")
    for name, colour in zip(FOUR, COLOURS, strict=False):
        mean, low, high = growth[name].T
        right.errorbar(budgets, mean, (mean - low, high - mean), fmt="o-", ms=3, lw=1,
                       color=colour, label=name)
    right.set_xscale("log")
    right.set_yscale("log")
    right.set_xlabel("n", fontsize=9)
    right.set_ylabel("runs of the worse estimator", fontsize=9)
    right.legend(fontsize=8, frameon=False)
    for axis in (left, right):
        tidy(axis)
    return figure


def add(parser):
    parser.add_argument("--budget", type=int, help="n, runs of the estimators (default 10^6)")
    parser.add_argument("--all", action="store_true", help="all 47 tiles")


def main(argv=None):
    figure = Figure(__doc__, runs=(30, 6), add=add, arguments=argv)
    n = figure.options.budget or (N_REFERENCE if figure.quick else N_PAIRS)
    first, gaps = (FIRST, GAPS) if figure.options.all else (FIRST[::2], GAPS[1::2])
    if figure.quick:
        first, gaps = FIRST[::3], GAPS[1::2]
    n_runs, seed = figure.runs, figure.seed
    hits, of = run_reference(n_runs if figure.quick else max(n_runs, 50), seed)
    tiles = run_tiles(first, gaps, n, n_runs, seed)
    budgets = [n // 100, n // 10, n]
    growth = run_growth(budgets, n_runs, seed)

    winners = {tile: best(cells) for tile, cells in tiles.items()}
    high = {tile: names for tile, names in winners.items() if sum(tile) > 0.05}
    won = sum(names[0] == "Thompson" for names in high.values())
    figure.claim("Thompson sampling is best where either estimator has a high variance",
                 "(plot)", f"best in {won} of {len(high)} tiles with V2 above .05, best or level "
                 f"in {sum('Thompson' in names for names in high.values())}",
                 won > len(high) / 2 and all("Thompson" in names for names in high.values()))
    low = {tile: names for tile, names in winners.items() if sum(tile) < 0.025}
    won = sum(names[0] == "UCB-V" for names in low.values())
    ahead = sum(tiles[tile][1, 0] < min(tiles[tile][0, 0], tiles[tile][2, 0]) for tile in low)
    figure.claim("UCB-V is more effective with medium or low variances", "(plot)",
                 f"best in {won} of {len(low)} tiles with V2 below .025, best or level in "
                 f"{sum('UCB-V' in names for names in low.values())}, ahead of UCB1 and KL-UCB "
                 f"in {ahead}", ahead == len(low) and all("UCB-V" in n for n in low.values()))
    cells = [cells[:, 0] for tile, cells in tiles.items() if tile[0] >= 0.1 and tile[1] > 0.02]
    figure.claim("KL-UCB outperforms UCB-V at high variances, and Thompson sampling outperforms "
                 "both", "(plot)", "; ".join(
                     f"UCB-V {c[1]:.0f}, KL-UCB {c[2]:.0f}, Thompson {c[3]:.0f}" for c in cells),
                 all(c[3] < c[2] < c[1] for c in cells))
    figure.claim("UCB1 and KL-UCB have least regret nowhere", "(plot)",
                 f"{sum(names[0] in ('UCB1', 'KL-UCB') for names in winners.values())} of "
                 f"{len(winners)} tiles",
                 all(names[0] not in ("UCB1", "KL-UCB") for names in winners.values()))
    figure.claim("The regrets equal those of an independent implementation, n = 10^5",
                 "(reference)", f"{hits} of {of} within three standard errors", hits >= of - 1)
    figure.end(lambda: draw(first, gaps, tiles, growth, budgets))


if __name__ == "__main__":
    main()
