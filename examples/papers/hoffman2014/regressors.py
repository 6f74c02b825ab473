"""The 160 regressors of Sec. 6.2, their scores by split, and searches for the best one.

A pull fits a regressor to a random tenth of the data and scores it on another tenth, by minus
the root mean squared error. The table of regressors by splits is fitted once, and searches
replay it. A forest of 10 trees is the first part of one with 1,000 trees, and forests whose
settings forbid the same splits are equal, so 64 forests cost as much as 6. The printed
min_samples_split = 1 is refused by scikit-learn; it is 2 here, which is the same forest.
"""

import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from setting import correlated

ROOT = Path(__file__).parents[3]
FORMAT = ("CSV without text below its header, the target in the last column; for "
          "winequality-red.csv, winequality-white.csv in the same folder is added")
TREES, FEW_TREES = (1, 10, 100, 1000), (1, 3, 10, 30)
C, EPSILON, GAMMA = (0.001, 0.01, 0.1, 1.0), (0.0001, 0.001, 0.01, 0.1), (0.025, 0.05, 0.1, 0.2)
N_SPLITS = 20, 8  # at the paper's size and with --quick
FAMILIES = "Lasso", "forest", "linear SVM", "rbf SVM", "neighbours"


def grids(few_trees=False):
    """Return one grid per family, in the order of `FAMILIES`, for the step "model"."""
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.linear_model import Lasso
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.svm import SVR

    families = [
        (Lasso(), dict(alpha=[0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5])),
        (RandomForestRegressor(random_state=0),
         dict(n_estimators=FEW_TREES if few_trees else TREES, min_samples_split=[2, 3, 5, 7],
              min_samples_leaf=[2, 6, 10, 14])),
        (SVR(kernel="linear"), dict(C=C, epsilon=EPSILON)),
        (SVR(), dict(C=C, epsilon=EPSILON, gamma=GAMMA)),
        (KNeighborsRegressor(), dict(n_neighbors=[1, 3, 5, 7, 9, 11, 13, 15])),
    ]
    return [dict(model=[model], **{f"model__{name}": list(values) for name, values in grid.items()})
            for model, grid in families]


def pipeline():
    from sklearn.linear_model import Lasso
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    return Pipeline([("scale", StandardScaler()), ("model", Lasso())])


def load(path=None):
    """Return inputs and target; without a path, those of scikit-learn's diabetes data."""
    if path is None:
        from sklearn.datasets import load_diabetes
        return load_diabetes(return_X_y=True)
    paths = [Path(path)]
    white = paths[0].with_name("winequality-white.csv")
    if paths[0].name == "winequality-red.csv" and white.exists():
        paths.append(white)
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
    table = np.empty((len(candidates), 0))
    if path and path.exists():
        with np.load(path) as saved:
            table = saved["scores"][:, :n_splits]
    if table.shape[0] != len(candidates):
        raise SystemExit(f"{path} has {table.shape[0]} regressors, not {len(candidates)}")
    for split in random_tenths(n_splits, len(y))[table.shape[1]:]:
        table = np.hstack([table, score_table(candidates, X, y, [split])])
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            np.savez_compressed(path, scores=table)
    return table


class Arms(NamedTuple):
    """The regressors, their grid and family, and scores of shape (regressors, splits)."""

    grid: list
    candidates: list
    family: np.ndarray
    table: np.ndarray

    @property
    def errors(self):
        """Root mean squared errors over all splits: the truth of the searches."""
        return -self.table.mean(axis=1)


def arms_of(figure):
    """Return the arms of a script, from its options `--data`, `--splits` and `--cache`.

    Without `--cache`, tables at the paper's size are kept in build/papers.
    """
    from sklearn.model_selection import ParameterGrid

    X, y = load(figure.data)
    grid, cache = grids(figure.quick), figure.options.cache
    if cache is None and not figure.quick:
        name = "diabetes" if figure.data is None else figure.data.stem
        cache = ROOT / "build" / "papers" / f"{name}_{len(y)}.npz"
    candidates = list(ParameterGrid(grid))
    table = load_table(cache, candidates, X, y,
                       figure.options.splits or N_SPLITS[figure.quick])
    families = [str(part["model"][0]) for part in grid]
    return Arms(grid, candidates, np.array([families.index(str(candidate["model"]))
                                            for candidate in candidates]), table)


def add(parser):
    """Add the options that `arms_of` reads."""
    parser.add_argument("--splits", type=int,
                        help=f"splits of the table (default {N_SPLITS[0]}, with --quick "
                             f"{N_SPLITS[1]})")
    parser.add_argument("--cache", type=Path, metavar="NPZ",
                        help="file to save the table in, or to reuse")


def kernel_of(arms, by_value=False):
    """Return exp(-(x - x')^2) within a family and 0 between families, as in Sec. 6.2.

    The paper does not say in which unit x is: it is the place of a parameter in its list, or
    with `by_value` the parameter itself.
    """
    kernel = np.zeros((len(arms.candidates),) * 2)
    for family, grid in enumerate(arms.grid):
        (members,) = np.nonzero(arms.family == family)
        x = np.array([[arms.candidates[i][name] if by_value else
                       values.index(arms.candidates[i][name])
                       for name, values in grid.items() if name != "model"] for i in members])
        kernel[np.ix_(members, members)] = np.exp(-((x[:, None] - x)**2).sum(axis=2))
    return kernel


def paper_search(name, budget, arms, kernel, rng, **options):
    """Run a policy of the paper; return the regressor of each pull and the recommended one.

    Each pull has a random split of the table. The regressors are in random order, so that
    ties, such as the first pull, have no favourite. The paper does not print the centre of the
    scores, the noise and the scale of the prior. Here they are the true ones: the mean of the
    table, the deviation of a regressor's scores, and the deviation of the regressors' means.
    """
    means, centre = arms.table.mean(axis=1), arms.table.mean()
    noise = np.sqrt(arms.table.var(axis=1, ddof=1).mean())
    order = rng.permutation(len(means))
    if name == "Thompson":
        options["rng"] = rng
    policy = correlated(name, budget, kernel=kernel[np.ix_(order, order)], noise_std=noise,
                        prior_std=means.std(), **options)
    fitted = []
    while not policy.done:
        pulled = policy.ask()
        scores = arms.table[order[pulled], rng.integers(arms.table.shape[1])]
        policy.tell(pulled, scores - centre)
        fitted.extend(order[pulled])
    return np.array(fitted), order[policy.recommend()[0]]


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


def bandit_search(policy, budget, arms, seed):
    """Return the regressor that `BanditSearchCV` recommends, and the number of fits."""
    from pybandit.model_selection import BanditSearchCV

    n_splits = arms.table.shape[1]
    same = [(np.array([i]), np.array([i])) for i in range(n_splits)]
    found = BanditSearchCV(replayed(arms.table, arms.candidates), arms.grid, policy=policy,
                           budget=budget, cv=same, refit=False, random_state=seed)
    found.fit(np.arange(n_splits)[:, None])
    return found.best_index_, found.n_fits_


def random_search(budget, table, rng, new_splits=False):
    """Return the best of `budget` random regressors, all on one split or each on another."""
    tried = rng.choice(len(table), min(budget, len(table)), replace=False)
    splits = rng.integers(table.shape[1], size=tried.size if new_splits else 1)
    return tried[table[tried, splits].argmax()]


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
