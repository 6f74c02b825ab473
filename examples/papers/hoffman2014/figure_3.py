"""Figure 3 of Hoffman et al. 2014: the best of 160 regressors in ten fits, Sec. 6.2.

    python examples/papers/hoffman2014/figure_3.py [--quick] [--runs N] [--data FILE]
        [--splits N] [--cache NPZ] [--search POLICY ...] [--halving N] [--save PNG]

The root mean squared error of the regressor that a search recommends after T = 10 fits, and
after 40; boxes over 100 searches. The data are the paper's wines with `--data
winequality-red.csv`, else scikit-learn's diabetes data. The table of scores takes a minute a
split on the wines; it is kept in build/papers.

The paper's searches have a fixed kernel within a family of regressors, length scale 1, and a
new split for each fit. Beside them: BayesGap with the library's default recommendation;
`BanditSearchCV`, whose fits share their splits, and which learns the scales from the scores;
and random search, T regressors on one split or each on its own, which the paper leaves out.

The paper plots boxes without numbers, so only signs are compared. On the wines (9 splits) GPUCB
and Thompson are the best at T = 10, and EI is level with BayesGap; at T = 40 all but PI are
within .001. The paper prints neither the centre of the scores, nor the noise, nor the scale of
the prior, nor the unit of x, so its searches cannot be repeated exactly; "raw x" has the values
of the parameters in place of their places in the grid.
"""

import numpy as np
import regressors
from setting import CORRELATED, N_RUNS, T_ALLOCATIONS, T_MODELS, Figure

from pybandit._shared import drawing

BUDGETS = T_MODELS, T_ALLOCATIONS
SEARCHES = "bayes-gap", "gp-ucb", "thompson", "bayes-ucb", "ei", "pi"
GOOD, STUCK = ("Thompson", "BayesGap"), ("EI", "PI", "GPUCB")


def add(parser):
    regressors.add(parser)
    parser.add_argument("--search", nargs="*", choices=SEARCHES, default=["bayes-gap"],
                        help="policies of BanditSearchCV (default %(default)s)")
    parser.add_argument("--halving", type=int, default=0, metavar="N",
                        help="runs of HalvingGridSearchCV, which are not replayed")


def searches(arms, budget, n_runs, seed, policies):
    """Yield the name of a search and the regressors that it recommends, one per run."""
    def streams():
        return [np.random.default_rng((seed, budget, i)) for i in range(n_runs)]

    for unit, by_value in ("", False), (", raw x", True):
        kernel = regressors.kernel_of(arms, by_value)
        for name in CORRELATED:
            yield name + unit, [regressors.paper_search(name, budget, arms, kernel, rng)[1]
                                for rng in streams()]
        yield f"BayesGap, default{unit}", [
            regressors.paper_search("BayesGap", budget, arms, kernel, rng,
                                    recommendation="pulled")[1] for rng in streams()]
    for name in policies:
        yield f"BanditSearchCV {name}", [regressors.bandit_search(name, budget, arms, i)[0]
                                         for i in range(n_runs)]
    yield "random, one split", [regressors.random_search(budget, arms.table, rng)
                                for rng in streams()]
    yield "random, new splits", [regressors.random_search(budget, arms.table, rng, True)
                                 for rng in streams()]


def run(arms, n_runs, seed, policies):
    """Print the tables; return T -> name -> errors of the recommended regressors."""
    errors, found = arms.errors, {}
    noise = arms.table[errors.argmin()].std(ddof=1) / np.sqrt(arms.table.shape[1])
    print(f"{arms.table.shape[0]} regressors x {arms.table.shape[1]} splits; errors from "
          f"{errors.min():.4f} (standard error {noise:.4f}) by the median "
          f"{np.median(errors):.4f} to {errors.max():.4f}; {n_runs} runs")
    for budget in BUDGETS:
        print(f"\n{f'T = {budget}':<26}{'mean':>9}{'±':>8}{'quartiles':>22}")
        found[budget] = {}
        for name, chosen in searches(arms, budget, n_runs, seed, policies):
            found[budget][name] = sample = errors[chosen]
            quartiles = " ".join(f"{q:.4f}" for q in np.quantile(sample, (0.25, 0.5, 0.75)))
            half = 1.96 * sample.std(ddof=1) / np.sqrt(n_runs)
            print(f"{name:<26}{sample.mean():>9.4f}{half:>8.4f}{quartiles:>24}", flush=True)
    return found


def ranked(sample, unit=""):
    """Return the six policies of the paper, least mean error first."""
    return sorted(CORRELATED, key=lambda name: sample[name + unit].mean())


def compare(figure, found):
    """Compare the paper's statements on Figure 3."""
    few, many = (found[budget] for budget in BUDGETS)
    order = ranked(few)
    raw = ", ".join(ranked(few, ", raw x")[:2])
    figure.claim("Thompson and BayesGap are the best choices at T = 10", "the two best of six",
                 f"the best are {', '.join(order[:2])} (in raw units {raw})",
                 set(order[:2]) == set(GOOD))
    good = max(few[name].mean() for name in GOOD)
    figure.claim("EI, PI and GPUCB get stuck in local minima at T = 10", "larger errors",
                 ", ".join(f"{name} {few[name].mean():.4f}" for name in (*STUCK, *GOOD)),
                 all(few[name].mean() > good for name in STUCK))
    figure.claim("The results for other budgets are almost identical", "the same choices",
                 f"order at T = 10: {', '.join(order)}; at 40: {', '.join(ranked(many))}",
                 set(order[:2]) == set(ranked(many)[:2]))
    best = min(CORRELATED, key=lambda name: few[name].mean())
    one, new = few["random, one split"].mean(), few["random, new splits"].mean()
    figure.claim("The policies find better regressors than ten random ones (not in the paper)",
                 "none", f"{best} {few[best].mean():.4f}, random on new splits {new:.4f}, on one "
                 f"split {one:.4f}", few[best].mean() < min(one, new))


def draw(found, arms):
    """Plot the errors as boxes, one panel per budget; the grey line is the best regressor."""
    figure, axes = drawing.new_figure(11.0, 4.6, 1, len(found), sharey=True)
    for axis, (budget, sample) in zip(axes[0], found.items(), strict=True):
        axis.boxplot(list(sample.values()), tick_labels=list(sample), whis=(5, 95))
        axis.axhline(arms.errors.min(), color=drawing.EXACT, lw=0.8)
        axis.tick_params(axis="x", rotation=90)
        drawing.tidy(axis, f"T = {budget}")
    axes[0, 0].set_ylabel("error of the recommended", fontsize=9)
    return figure


def main(argv=None):
    figure = Figure(__doc__, runs=(N_RUNS, 20), data=regressors.FORMAT, add=add, arguments=argv)
    arms = regressors.arms_of(figure)
    found = run(arms, figure.runs, figure.seed, figure.options.search)
    if figure.options.halving:
        X, y = regressors.load(figure.data)
        halved = [regressors.halving_search(X, y, arms.grid, arms.candidates, seed)
                  for seed in range(figure.options.halving)]
        errors = " ".join(f"{arms.errors[i]:.4f}" for i, _, _ in halved)
        print(f"HalvingGridSearchCV: {errors}; {halved[0][1]} fits, whose rows equal "
              f"{halved[0][2]:.0f} whole fits")
    compare(figure, found)
    figure.end(lambda: draw(found, arms))


if __name__ == "__main__":
    main()
