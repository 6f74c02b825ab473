"""Figure 4 of Hoffman et al. 2014: which regressors are fitted and recommended, Sec. 6.2.

    python examples/papers/hoffman2014/figure_4.py [--quick] [--runs N] [--data FILE]
        [--splits N] [--cache NPZ] [--save PNG]

The 160 regressors of Figure 3, T = 40 fits, 100 searches by the paper's rules: how often each
regressor is fitted and recommended by BayesGap and by EI, beside its error. The table also has
the other policies of the paper. Data and scores are those of Figure 3.

"fitted": different regressors that a search fits. "stuck": searches that recommend a radial SVM
whose error is above that of the best radial SVM. The paper plots histograms without
numbers, so only signs are compared. On the wines (9 splits) EI and BayesGap are stuck equally
often, and BayesGap fits 40 different regressors, as many as Thompson: the noise of a split,
.021, is small beside the scale of the prior, .071, so there is little to gain by a second fit.
"""

import numpy as np
import regressors
from setting import CORRELATED, N_RUNS, T_ALLOCATIONS, Figure

from pybandit._shared import drawing

SHOWN = "BayesGap", "EI"
RBF = regressors.FAMILIES.index("rbf SVM")


def measure(arms, name, kernel, n_runs, seed):
    """Return pulls, int64 of shape (runs, regressors), and the recommended regressors."""
    runs = [regressors.paper_search(name, T_ALLOCATIONS, arms, kernel,
                                    np.random.default_rng((seed, T_ALLOCATIONS, i)))
            for i in range(n_runs)]
    return np.array([pulls for pulls, _ in runs]), np.array([chosen for _, chosen in runs])


def stuck(arms, chosen):
    """Return the share of searches that recommend a radial SVM other than the best of them."""
    local = arms.errors > arms.errors[arms.family == RBF].min()
    return ((arms.family == RBF) & local)[chosen].mean()


def run(arms, n_runs, seed):
    """Print the table; return policy -> (pulls, recommended regressors)."""
    kernel = regressors.kernel_of(arms)
    print(f"{len(arms.candidates)} regressors, T = {T_ALLOCATIONS}, {n_runs} runs; the best is a "
          f"{regressors.FAMILIES[arms.family[arms.errors.argmin()]]}, {arms.errors.min():.4f}, the "
          f"best radial SVM has {arms.errors[arms.family == RBF].min():.4f}\n")
    print(f"{'':<10}{'fitted':>8}{'most':>7}{'error':>9}{'stuck':>8}   pulls by family: "
          + ", ".join(regressors.FAMILIES))
    found = {}
    for name in CORRELATED:
        found[name] = pulls, chosen = measure(arms, name, kernel, n_runs, seed)
        shares = [pulls[:, arms.family == family].sum() / pulls.sum()
                  for family in range(len(regressors.FAMILIES))]
        print(f"{name:<10}{(pulls > 0).sum(axis=1).mean():>8.1f}{pulls.max(axis=1).mean():>7.1f}"
              f"{arms.errors[chosen].mean():>9.4f}{stuck(arms, chosen):>8.2f}   "
              + " ".join(f"{share:.2f}" for share in shares), flush=True)
    return found


def compare(figure, arms, found):
    """Compare the paper's statements on Figure 4."""
    share = {name: stuck(arms, chosen) for name, (_, chosen) in found.items()}
    fitted = {name: (pulls > 0).sum(axis=1).mean() for name, (pulls, _) in found.items()}
    figure.claim("EI quite often gets stuck in a locally optimal radial SVM, BayesGap less",
                 "quite often", f"EI in {share['EI']:.2f} of the runs, BayesGap in "
                 f"{share['BayesGap']:.2f}", share["EI"] > max(0.1, share["BayesGap"]))
    figure.claim("EI and PI get trapped: they fit fewer regressors than BayesGap", "often",
                 ", ".join(f"{name} {fitted[name]:.1f}" for name in ("EI", "PI", "BayesGap")),
                 max(fitted["EI"], fitted["PI"]) < fitted["BayesGap"])
    others = max(value for name, value in fitted.items() if name in ("EI", "PI", "BayesGap"))
    figure.claim("Thompson sampling explores more, and more uniformly", "more",
                 f"{fitted['Thompson']:.1f} regressors of {len(arms.candidates)} fitted, the "
                 f"others at most {others:.1f}", fitted["Thompson"] > others)


def draw(arms, found):
    """Plot pulls and recommendations per run, and the errors as a black line."""
    figure, axes = drawing.new_figure(9.0, 6.0, len(SHOWN), 1, sharex=True)
    x = np.arange(len(arms.candidates))
    edges = np.flatnonzero(np.diff(arms.family)) + 0.5
    for axis, name in zip(axes[:, 0], SHOWN, strict=True):
        pulls, chosen = found[name]
        axis.bar(x, pulls.mean(axis=0), 1.0, color=drawing.COLOURS[0], label="pulls per run")
        axis.bar(x, -np.bincount(chosen, minlength=x.size) / len(chosen), 1.0,
                 color=drawing.RACING, label="share recommended, downwards")
        errors = axis.twinx()
        errors.plot(x, arms.errors, color="black", lw=0.8)
        errors.set_ylabel("error (line)", fontsize=9)
        for edge in edges:
            axis.axvline(edge, color=drawing.DATA, lw=0.8)
        drawing.tidy(axis, name)
    axes[0, 0].legend(fontsize=8, frameon=False)
    axes[-1, 0].set_xlabel("regressors: " + ", ".join(regressors.FAMILIES), fontsize=9)
    return figure


def main(argv=None):
    figure = Figure(__doc__, runs=(N_RUNS, 20), data=regressors.FORMAT, add=regressors.add,
                    arguments=argv)
    arms = regressors.arms_of(figure)
    found = run(arms, figure.runs, figure.seed)
    compare(figure, arms, found)
    figure.end(lambda: draw(arms, found))


if __name__ == "__main__":
    main()
