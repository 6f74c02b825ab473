"""Figure 4 of Lalitha et al. 2023: means and variances of the movies of two runs (Sec. 5.2).

    python examples/papers/lalitha2023/figure_4.py [--quick] [--runs N] [--data FILE] [--save PNG]

The movies of Figure 5: each is the closest in mean and variance to an arm of Figure 1.
The plot shows two runs; the numbers are over all runs. Without --data the ratings are
synthetic, in the shape of MovieLens 1M.
"""

import numpy as np
from movies import FORMAT, load
from setting import SETTINGS, Figure, K, arms, near

from pybandit._shared import drawing


def correlation(x, y):
    return np.corrcoef(x, y)[0, 1]


def summary(movies, setting, n_runs, seed):
    """Return means over runs of numbers that compare the movies with the drawn arms."""
    found, noisy = [], np.arange(K) % 2 == SETTINGS[::-1].index(setting)
    for i in range(n_runs):
        means, noise_std = arms(K, setting, np.random.default_rng((seed, i)))
        chosen = movies.closest(means, noise_std**2)
        found.append((
            correlation(means, movies.means[chosen]),
            correlation(noise_std**2, movies.variances[chosen]),
            correlation(movies.means[chosen][noisy], movies.variances[chosen][noisy]),
            movies.variances[chosen][noisy].mean() / movies.variances[chosen][~noisy].mean(),
            (noise_std[noisy] ** 2).mean() / (noise_std[~noisy] ** 2).mean()))
    return np.mean(found, axis=0)


def draw(movies, seed):
    """Plot the movies of two runs in setting A."""
    figure, axes = drawing.new_figure(8.0, 3.4, 1, 2, sharey=True)
    for i, axis in enumerate(axes[0]):
        means, noise_std = arms(K, "A", np.random.default_rng((seed, i)))
        chosen = movies.closest(means, noise_std**2)
        axis.plot(np.arange(1, K + 1), movies.means[chosen], ".", label="mean")
        axis.plot(np.arange(1, K + 1), movies.variances[chosen], "x", ms=4, label="variance")
        axis.set_xlabel("movie", fontsize=9)
        drawing.tidy(axis, f"run {i + 1}")
    drawing.add_legend(axes[0, -1], axes[0, 0])
    return figure


def main(argv=None):
    figure = Figure(__doc__, runs=(1000, 50), data=FORMAT, arguments=argv)
    movies = load(figure)
    low, middle, high = np.quantile(movies.variances, [0.05, 0.5, 0.95])
    figure.claim("Movies can have a huge variance in their ratings", "huge",
                 f"variances {low:.2f}, {middle:.2f}, {high:.2f} at 5, 50 and 95 %",
                 high > 2 * low)
    for setting in SETTINGS:
        means, variances, rise, ratio, wanted = summary(movies, setting, figure.runs, figure.seed)
        figure.claim(f"Setting {setting}: the movies follow the means and variances drawn as in "
                     "Sec. 5.1", "closest", f"correlations {means:.2f} and {variances:.2f}",
                     min(means, variances) > 0.8)
        figure.claim(f"Setting {setting}: half of the movies have larger variances, which "
                     "increase with the mean", f"{wanted:.1f} times, as drawn",
                     f"{ratio:.1f} times, correlation {rise:.2f}", ratio > 1.5 and rise > 0.5,
                     near(ratio, wanted, 0.3))
    figure.end(lambda: draw(movies, figure.seed))


if __name__ == "__main__":
    main()
