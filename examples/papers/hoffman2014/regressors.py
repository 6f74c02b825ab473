"""Find the best of 160 regressors in fewer fits than there are regressors.

    python examples/model_selection/automl_wine.py [--data CSV CSV] [--splits N] [--cache NPZ]
        [--runs N] [--halving N] [--quick] [--out PNG]

The model search of Hoffman, Shahriari and de Freitas 2014, section 6.2, with 160 settings of
Lasso, random forests, linear and radial support vector machines and nearest neighbours. A pull
fits one of them to a random tenth of the data and scores it on another tenth. After T = 10 or
40 pulls, one is recommended. The table shows its root mean squared error over all splits, and
the number of fits.

The data are tables of numbers whose last column is predicted: the wine quality data of the
paper (UCI, Cortez et al. 2009: winequality-red.csv, winequality-white.csv) or, without --data,
scikit-learn's diabetes data. The whole table of regressors by splits is fitted once, and
searches replay it. A forest of 10 trees is the first part of one with 1,000 trees, and forests
whose settings forbid the same splits are equal, so 64 forests cost as much as 6.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

BUDGETS = (10, 40)
POLICIES = ("gp-ucb", "bayes-gap", "bayes-ucb", "thompson", "ei", "pi")
TREES = (1, 10, 100, 1000)
C, EPSILON, GAMMA = (0.001, 0.01, 0.1, 1.0), (0.0001, 0.001, 0.01, 0.1), (0.025, 0.05, 0.1, 0.2)


def grids(quick=False):
    """Return one grid per family, for the step "model" of the pipeline."""
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.linear_model import Lasso
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.svm import SVR

    forest = dict(n_estimators=TREES[:2] if quick else TREES, min_samples_split=[2, 3, 5, 7],
                  min_samples_leaf=[2, 6, 10, 14])
    families = [
        (Lasso(), dict(alpha=[0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5])),
        (RandomForestRegressor(random_state=0), forest),
        (SVR(kernel="linear"), dict(C=C, epsilon=EPSILON)),
        (SVR(), dict(C=C, epsilon=EPSILON, gamma=GAMMA)),
        (KNeighborsRegressor(), dict(n_neighbors=[1, 3, 5, 7, 9, 11, 13, 15])),
    ]
    if quick:
        families = [families[0], families[1], families[4]]
    return [dict(model=[model], **{f"model__{name}": list(values) for name, values in grid.items()})
            for model, grid in families]


def pipeline():
    from sklearn.linear_model import Lasso
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    return Pipeline([("scale", StandardScaler()), ("model", Lasso())])


def load(paths):
    """Return inputs and target."""
    if not paths:
        from sklearn.datasets import load_diabetes
        return load_diabetes(return_X_y=True)
    rows = np.vstack([np.genfromtxt(path, delimiter=",") for path in paths])
    rows = rows[np.isfinite(rows).all(axis=1)]  # a header is a row of NaN
    return rows[:, :-1], rows[:, -1]


def random_tenths(n_splits, n_rows, seed=0):
    """Return training and test rows, a tenth of the data each, or 60 if that is more."""
    from sklearn.model_selection import ShuffleSplit

    share = max(0.1, 60 / n_rows)
    found = ShuffleSplit(n_splits, train_size=share, test_size=share, random_state=seed)
    return list(found.split(np.empty((n_rows, 0))))


def score_table(candidates, X, y, splits):
    """Return minus the root mean squared errors, float64, shape (candidates, splits)."""
    table = np.empty((len(candidates), len(splits)))
    for column, (train, test) in zip(table.T, splits, strict=True):
        grown = {}
        most = max(candidate.get("model__n_estimators", 0) for candidate in candidates)
        for i, candidate in enumerate(candidates):
            predicted = (_forest(candidate, most, X, y, train, test, grown)
                         if "model__n_estimators" in candidate
                         else _fitted(candidate, X[train], y[train]).predict(X[test]))
            column[i] = -np.sqrt(np.mean((predicted - y[test]) ** 2))
    return table


def _fitted(candidate, X, y):
    from sklearn.base import clone
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # Lasso with a small penalty
        return pipeline().set_params(**clone(candidate, safe=False)).fit(X, y)


def _forest(candidate, most, X, y, train, test, grown):
    """Return predictions of a forest, from the first trees of the largest one with its leaves."""
    leaf, split = candidate["model__min_samples_leaf"], candidate["model__min_samples_split"]
    key = leaf, max(split, 2 * leaf)  # a node that splits has two leaves
    if key not in grown:
        largest = {**candidate, "model__n_estimators": most}
        model = _fitted(largest, X[train], y[train])
        inputs = model["scale"].transform(X[test])
        trees = np.array([tree.predict(inputs) for tree in model["model"].estimators_])
        grown[key] = np.cumsum(trees, axis=0)
    n = candidate["model__n_estimators"]
    return grown[key][n - 1] / n


def load_table(path, candidates, X, y, n_splits):
    """Return the score table, loaded from `path` as far as it exists; compute and save the rest."""
    path = Path(path) if path else None
    table = np.empty((len(candidates), 0))
    if path and path.exists():
        with np.load(path) as saved:
            table = saved["scores"][:, :n_splits]
    if table.shape[0] != len(candidates):
        raise SystemExit(f"{path} has {table.shape[0]} regressors, not {len(candidates)}")
    for split in random_tenths(n_splits, len(y))[table.shape[1]:]:
        table = np.hstack([table, score_table(candidates, X, y, [split])])
        if path:
            np.savez_compressed(path, scores=table)
    return table


def replayed(table, candidates):
    """Return an estimator that replays scores of the table; its data are split numbers."""
    from sklearn.base import BaseEstimator

    rows = {name_of(candidate): row for candidate, row in zip(candidates, table, strict=True)}

    class Replay(BaseEstimator):
        def set_params(self, **candidate):
            self.row = rows[name_of(candidate)]
            return self

        def fit(self, X, y=None):
            return self

        def score(self, X, y=None):
            return self.row[int(X[0, 0])]

    return Replay()


def name_of(candidate):
    return tuple((name, value if np.isscalar(value) else repr(value))
                 for name, value in sorted(candidate.items()))


def bandit_search(policy, budget, table, candidates, grid, seed):
    """Return the recommended candidate, and the number of fits."""
    from pybandit.model_selection import BanditSearchCV

    n_splits = table.shape[1]
    same = [(np.array([i]), np.array([i])) for i in range(n_splits)]
    found = BanditSearchCV(replayed(table, candidates), grid, policy=policy, budget=budget,
                           cv=same, refit=False, random_state=seed)
    found.fit(np.arange(n_splits)[:, None])
    return found.best_index_, found.n_fits_


def random_search(budget, table, rng):
    """Return the best of random candidates by one split each, or more if the budget allows."""
    order, n = rng.permutation(len(table)), rng.permutation(table.shape[1])
    each = max(1, budget // len(table))
    tried = order[:budget // each]
    return tried[table[tried][:, n[:each]].mean(axis=1).argmax()], tried.size * each


def halving_search(X, y, grid, candidates, seed):
    """Run scikit-learn's halving over growing training sets.

    Return the best candidate, the number of fits, and their rows in units of whole fits.
    """
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingGridSearchCV

    ((train, test),) = random_tenths(1, len(y), 1000 + seed)  # not a split of the table
    rows, half = np.concatenate([train, test]), train.size
    # scikit-learn's default, but large enough that no training set is empty
    fewest = max(4, rows.size // 3 ** int(np.log(len(candidates)) / np.log(3)))
    found = HalvingGridSearchCV(
        pipeline(), grid, cv=[(np.arange(half), np.arange(half, rows.size))], refit=False,
        scoring="neg_root_mean_squared_error", min_resources=fewest, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fits of few rows may fail or not converge
        found.fit(X[rows], y[rows])
    fits = np.array(found.n_candidates_)
    # each row of the results is a candidate in one round
    best = candidates.index(found.cv_results_["params"][found.best_index_])
    return best, fits.sum(), fits @ found.n_resources_ / rows.size


def run(table, candidates, grid, n_runs):
    """Return (method, T) -> errors of the recommended models and numbers of fits, per run."""
    errors, found = -table.mean(axis=1), {}
    for budget in BUDGETS:
        rows = [random_search(budget, table, np.random.default_rng((1, i))) for i in range(n_runs)]
        found["random search", budget] = rows
        for policy in POLICIES:
            found[policy, budget] = [bandit_search(policy, budget, table, candidates, grid, i)
                                     for i in range(n_runs)]
    return {key: (errors[[i for i, _ in rows]], np.array([n for _, n in rows]))
            for key, rows in found.items()}


def print_table(found, table):
    """Print the mean error of the recommended models, its 95 % half-width, and the fits."""
    errors = -table.mean(axis=1)
    best = errors.argmin()
    noise = table[best].std(ddof=1) / np.sqrt(table.shape[1])
    print(f"{table.shape[0]} regressors x {table.shape[1]} splits; errors from {errors.min():.4f} "
          f"(standard error {noise:.4f}) by the median {np.median(errors):.4f} to "
          f"{errors.max():.4f}\n")
    print(f"{'method':<20}{'T':>4}{'error':>10}{'+-':>8}{'above the best':>16}{'fits':>8}")
    for (name, budget), (chosen, fits) in found.items():
        width = 1.96 * chosen.std() / np.sqrt(chosen.size)
        print(f"{name:<20}{budget:>4}{chosen.mean():>10.4f}{width:>8.4f}"
              f"{chosen.mean() - errors.min():>16.4f}{fits.mean():>8.1f}", flush=True)
    print(f"{'full grid':<20}{'':>4}{errors.min():>10.4f}{'':>8}{0:>16.4f}{table.size:>8}")


def draw(found, table, path):
    """Plot the errors of the recommended models, as in Figs 3 and 4."""
    from pybandit._shared import drawing

    figure, axes = drawing.new_figure(9.0, 4.0, 1, len(BUDGETS), sharey=True)
    for axis, budget in zip(axes[0], BUDGETS, strict=True):
        rows = {name: errors for (name, t), (errors, _) in found.items() if t == budget}
        axis.boxplot(list(rows.values()), tick_labels=list(rows), whis=(5, 95), showfliers=False)
        axis.axhline(-table.mean(axis=1).max(), color="grey", linewidth=0.8)
        axis.tick_params(axis="x", rotation=40)
        axis.set_title(f"T = {budget}")
    axes[0, 0].set_ylabel("error of the recommended")
    drawing.save(figure, path)


def main(argv=None):
    parser = argparse.ArgumentParser(description="Model search with fewer fits than models.")
    parser.add_argument("--data", nargs="+", metavar="CSV", help="tables; the last column is y")
    parser.add_argument("--splits", type=int, default=15,
                        help="splits of the table (default %(default)s)")
    parser.add_argument("--cache", metavar="NPZ", help="file to save the table in, or to reuse")
    parser.add_argument("--runs", type=int, default=100,
                        help="runs per method (default %(default)s)")
    parser.add_argument("--halving", type=int, default=3, metavar="N", help="runs of "
                        "HalvingGridSearchCV, without replay (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="80 of the regressors, 2 runs")
    parser.add_argument("--out", default="automl_wine.png", metavar="PNG",
                        help="file of the plot (default %(default)s)")
    arguments = parser.parse_args(argv)
    if arguments.quick:
        arguments.splits, arguments.runs, arguments.halving = 3, 2, 0
    from sklearn.model_selection import ParameterGrid

    start = time.perf_counter()
    X, y = load(arguments.data)
    grid = grids(arguments.quick)
    candidates = list(ParameterGrid(grid))
    table = load_table(arguments.cache, candidates, X, y, arguments.splits)
    print(f"table of scores: {time.perf_counter() - start:.0f} s")
    found = run(table, candidates, grid, arguments.runs)
    halved = [halving_search(X, y, grid, candidates, seed) for seed in range(arguments.halving)]
    print_table(found, table)
    if halved:
        errors = -table.mean(axis=1)[[i for i, _, _ in halved]]
        print(f"{'HalvingGridSearchCV':<24}{errors.mean():>10.4f}; {len(halved)} runs, "
              f"{halved[0][1]} fits, whose rows equal {halved[0][2]:.0f} whole fits")
    draw(found, table, arguments.out)
    print(f"\n{time.perf_counter() - start:.0f} s; plot: {arguments.out}")


if __name__ == "__main__":
    main()
