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
    """Return the regressor of each pull, shape (runs, T), and the recommended regressors."""
    runs = [regressors.paper_search(name, T_ALLOCATIONS, arms, kernel,
                                    np.random.default_rng((seed, T_ALLOCATIONS, i)))
            for i in range(n_runs)]
    return np.array([fitted for fitted, _ in runs]), np.array([chosen for _, chosen in runs])


def pulls_of(arms, fitted):
    """Return the pulls of each regressor in each run, int64 of shape (runs, regressors)."""
    return np.array([np.bincount(run, minlength=len(arms.candidates)) for run in fitted])


def stuck(arms, chosen):
    """Return the share of searches that recommend a radial SVM other than the best of them."""
    local = arms.errors > arms.errors[arms.family == RBF].min()
    return ((arms.family == RBF) & local)[chosen].mean()


def run(arms, n_runs, seed):
    """Print the table; return policy -> (regressor of each pull, recommended regressors)."""
    kernel = regressors.kernel_of(arms)
    print(f"{len(arms.candidates)} regressors, T = {T_ALLOCATIONS}, {n_runs} runs; the best is a "
          f"{regressors.FAMILIES[arms.family[arms.errors.argmin()]]}, {arms.errors.min():.4f}, the "
          f"best radial SVM has {arms.errors[arms.family == RBF].min():.4f}\n")
    print(f"{'':<10}{'fitted':>8}{'most':>7}{'error':>9}{'stuck':>8}   pulls by family: "
          + ", ".join(regressors.FAMILIES))
    found = {}
    for name in CORRELATED:
        found[name] = fitted, chosen = measure(arms, name, kernel, n_runs, seed)
        pulls = pulls_of(arms, fitted)
        shares = [pulls[:, arms.family == family].sum() / pulls.sum()
                  for family in range(len(regressors.FAMILIES))]
        print(f"{name:<10}{(pulls > 0).sum(axis=1).mean():>8.1f}{pulls.max(axis=1).mean():>7.1f}"
              f"{arms.errors[chosen].mean():>9.4f}{stuck(arms, chosen):>8.2f}   "
              + " ".join(f"{share:.2f}" for share in shares), flush=True)
    return found


def compare(figure, arms, found):
    """Compare the paper's statements on Figure 4."""
    share = {name: stuck(arms, chosen) for name, (_, chosen) in found.items()}
    fitted = {name: (pulls_of(arms, each) > 0).sum(axis=1).mean()
              for name, (each, _) in found.items()}
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
    """Plot the pulls at each round (top), and recommendations with the errors (bottom)."""
    figure, axes = drawing.new_figure(9.0, 5.6, 2, len(SHOWN), sharex=True, sharey="row",
                                      height_ratios=[3, 2])
    x = np.arange(len(arms.candidates))
    edges = np.flatnonzero(np.diff(arms.family)) + 0.5
    for (top, bottom), name in zip(axes.T, SHOWN, strict=True):
        fitted, chosen = found[name]
        rounds = np.array([np.bincount(at, minlength=x.size) for at in fitted.T]) / len(fitted)
        image = top.imshow(rounds, aspect="auto", origin="lower", cmap="Blues", vmax=0.1,
                           extent=(-0.5, x.size - 0.5, 0.5, len(rounds) + 0.5),
                           interpolation="nearest")
        bottom.bar(x, np.bincount(chosen, minlength=x.size) / len(chosen), 1.0,
                   color=drawing.RACING)
        errors = bottom.twinx()
        errors.plot(x, arms.errors, color="black", lw=0.8)
        errors.set_ylabel("error (line)", fontsize=9)
        for edge in edges:
            for axis in top, bottom:
                axis.axvline(edge, color=drawing.DATA, lw=0.8)
        drawing.tidy(top, name)
        drawing.tidy(bottom)
        bottom.set_xlabel("regressors: " + ", ".join(regressors.FAMILIES), fontsize=8)
    axes[0, 0].set_ylabel("round", fontsize=9)
    axes[1, 0].set_ylabel("share recommended", fontsize=9)
    figure.colorbar(image, ax=axes[0, :], label="share of runs (at most .1)")
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
