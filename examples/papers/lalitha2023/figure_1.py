"""Figure 1 of Lalitha et al. 2023: means and variances of the 64 arms (Sec. 5.1).

    python examples/papers/lalitha2023/figure_1.py [--quick] [--runs N] [--save PNG]

The plot shows one draw of the arms of Figures 2 and 3, in both settings of setting.py;
the numbers are over many draws. The text takes i / gap_i^2 to be about K for all arms: it
is 2 K for the second arm, and the perturbation makes the hardest arm harder still.
"""

import numpy as np
from setting import N_RUNS, SETTINGS, Figure, K, arms, gaps, near

from pybandit._shared import drawing


def hardness(means):
    """Return the largest i / gap_i^2 over the arms but the best, i from 1 (Eq. 2)."""
    ranked = -np.sort(-means)
    return (np.arange(2, means.size + 1) / (ranked[0] - ranked[1:]) ** 2).max()


def summary(setting, n_runs, seed):
    """Return numbers over draws of the arms: each with one entry per draw."""
    draws = [arms(K, setting, np.random.default_rng((seed, i))) for i in range(n_runs)]
    means, variances = (np.array(part) for part in zip(*draws, strict=True))
    variances **= 2
    noisy = np.arange(K) % 2 == SETTINGS[::-1].index(setting)
    ranks = np.argsort(-means, axis=1)
    return {
        "hardness": np.array([hardness(row) for row in means]),
        "correlation": np.array([np.corrcoef(x[noisy], y[noisy])[0, 1]
                                 for x, y in zip(means, variances, strict=True)]),
        "best_noisy": noisy[ranks[:, 0]],
        "top_mixed": np.array([noisy[top].any() and not noisy[top].all()
                               for top in ranks[:, :4]]),
    }


def draw(seed):
    """Plot one draw of the arms in each setting."""
    figure, axes = drawing.new_figure(8.0, 3.4, 1, 2, sharey=True)
    for axis, setting in zip(axes[0], SETTINGS, strict=True):
        means, noise_std = arms(K, setting, np.random.default_rng((seed, 0)))
        axis.plot(np.arange(1, K + 1), means, ".", label="mean")
        axis.plot(np.arange(1, K + 1), noise_std**2, "x", ms=4, label="variance")
        axis.set_xlabel("arm", fontsize=9)
        drawing.tidy(axis, f"setting {setting}")
    drawing.add_legend(axes[0, -1], axes[0, 0])
    return figure


def main(argv=None):
    figure = Figure(__doc__, runs=(N_RUNS, 300), arguments=argv)
    unperturbed = 1 - np.sqrt(np.arange(K) / K)
    ratios = np.arange(2, K + 1) / gaps(unperturbed)[1:] ** 2
    figure.claim("i / gap_i^2 is about K for all i from 2 on", f"{K}",
                 f"{ratios.min():.0f} to {ratios.max():.0f} before the perturbation",
                 ratios.max() < 3 * K, np.abs(ratios / K - 1).max() < 0.2)
    for setting in SETTINGS:
        found = summary(setting, figure.runs, figure.seed)
        print(f"Setting {setting}: the best arm has much noise in {found['best_noisy'].mean():.3f} "
              f"of {figure.runs:,} draws; median of max i / gap_i^2 "
              f"{np.median(found['hardness']):,.0f}")
        figure.claim(f"Setting {setting}: variances increase with means for half of the arms",
                     "increase", f"correlation {found['correlation'].mean():.2f}",
                     found["correlation"].mean() > 0.5)
        figure.claim(f"Setting {setting}: every stage of halving has arms of both kinds",
                     "every stage", f"both among the four best in {found['top_mixed'].mean():.3f} "
                     "of the draws", found["top_mixed"].mean() > 0.95)
    median = np.median(found["hardness"])
    figure.claim("max i / gap_i^2 is about K after the perturbation too", f"{K}",
                 f"median {median:.0f}", median < 3 * K, near(median, K, 0.5))
    figure.end(lambda: draw(figure.seed))


if __name__ == "__main__":
    main()
