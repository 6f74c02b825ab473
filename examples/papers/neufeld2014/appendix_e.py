"""Appendix E of Neufeld et al. 2014: the shape of the values hardly matters.

    python examples/papers/neufeld2014/appendix_e.py [--quick] [--runs N] [--save PNG]

Two estimators of 1/2 with values in [0, 1] and the same two variances, whose values are
scaled Bernoulli, uniform or truncated normal. The paper says that it found no case where the
shape changes the performance of a policy by a non-negligible amount, and prints no numbers.
Regret at n = 10^5 by shape, four policies, pairs of variances up to 1/12, the largest that a
uniform value has.

Regrets count as alike if they differ by less than 15 % and the noise. The regret of
Thompson sampling varies much between runs.
"""

import numpy as np
from setting import FOUR, N_REFERENCE, PAIRS, Figure, regret

import pybandit as pb
from pybandit._shared.drawing import COLOURS, new_figure, tidy

# regrets that differ by less than this share have the same size
NEGLIGIBLE = 0.15
SHAPES = ("scaled Bernoulli", "uniform", "truncated normal")


def estimators(shape, variances):
    """Return two estimators of 1/2 with these variances."""
    variances = np.asarray(variances)
    middle = np.full(variances.size, 0.5)
    if shape == "scaled Bernoulli":
        return pb.environments.ScaledBernoulliBandit(0.5, 2 * np.sqrt(variances), 0.5)
    if shape == "uniform":
        return pb.environments.UniformBandit(middle, np.sqrt(variances))
    return pb.environments.TruncatedNormalBandit(middle, np.sqrt(variances))


def run(pairs, n, n_runs, seed):
    """Print the table; return means and half-widths, shape (pairs, shapes, policies, 2)."""
    found = []
    print(f"regret, n = {n:,}, {n_runs} runs")
    print(f"{'V1, V2':>14}  {'values':<19}" + "".join(f"{name:<17}" for name in FOUR).rstrip())
    for pair in pairs:
        rows = []
        for shape in SHAPES:
            cells = [regret(name, estimators(shape, pair), n, n_runs, seed) for name in FOUR]
            rows.append(cells)
            print(f"{pair!s:>14}  {shape:<19}"
                  + "".join(f"{f'{a:.1f} ± {b:.1f}':<17}" for a, b in cells).rstrip(), flush=True)
        found.append(rows)
    return np.array(found)


def reversals(means, halves):
    """Return the number of pairs of policies whose order one shape has and another reverses.

    A shape has an order if the regrets differ by more than the noise; arguments have the shape
    (shapes, policies).
    """
    difference = means[:, :, None] - means[:, None, :]
    clear = abs(difference) > np.hypot(halves[:, :, None], halves[:, None, :])
    return int((((difference > 0) & clear).any(axis=0)
                & ((difference < 0) & clear).any(axis=0)).sum()) // 2


def draw(found, pairs):
    """Plot regrets by policy, one panel per pair of variances."""
    figure, (axes,) = new_figure(3.4 * len(pairs), 3.4, 1, len(pairs))
    for axis, rows, pair in zip(axes, found, pairs, strict=True):
        for i, (shape, cells) in enumerate(zip(SHAPES, rows, strict=True)):
            axis.errorbar(np.arange(len(FOUR)) + 0.15 * (i - 1), cells[:, 0], cells[:, 1],
                          fmt="o", ms=4, lw=1, color=COLOURS[i], label=shape)
        axis.set_xticks(range(len(FOUR)), FOUR, fontsize=8)
        axis.set_title(f"variances {pair[0]}, {pair[1]}", fontsize=10, loc="left")
        axis.set_ylim(0.0)
        tidy(axis)
    axes[0].set_ylabel("regret", fontsize=9)
    axes[0].legend(fontsize=8, frameon=False)
    return figure


def main(argv=None):
    figure = Figure(__doc__, runs=(100, 20), arguments=argv)
    pairs, n = (PAIRS[1:3], 20_000) if figure.quick else (PAIRS, N_REFERENCE)
    found = run(pairs, n, figure.runs, figure.seed)
    means, halves = found[..., 0], found[..., 1]
    for i, name in enumerate(FOUR):
        spread = means[:, :, i].max(axis=1) / means[:, :, i].min(axis=1)
        # the noise of the ratio of the largest to the smallest of three means
        noise = 1.7 * (halves[:, :, i] / means[:, :, i]).max(axis=1)
        figure.claim(f"{name}: the shape of the values has no non-negligible effect", "none",
                     f"largest over smallest regret {spread.min():.2f} to {spread.max():.2f}, "
                     f"noise ± {noise.max():.2f}", (spread < 1 + NEGLIGIBLE + noise).all())
    alike = [not reversals(*rows) for rows in zip(means, halves, strict=True)]
    figure.claim("The policies rank alike whatever the shape", "(no case found)",
                 f"no order is reversed by more than the noise at {sum(alike)} of {len(pairs)} "
                 "pairs", all(alike))
    figure.end(lambda: draw(found, pairs))


if __name__ == "__main__":
    main()
