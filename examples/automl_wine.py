"""Which of 160 regressors is best, found in fewer fits than there are regressors?

    python examples/automl_wine.py [--data CSV CSV] [--splits N] [--cache NPZ] [--runs N]
                                   [--halving N] [--quick] [--out PNG]

The model search of Hoffman, Shahriari and de Freitas 2014, section 6.2: Lasso, random
forests, linear and radial support vector machines and nearest neighbours, 160 settings. A
pull fits one of them to a random tenth of the data and scores it on another tenth; after T =
10 or 40 pulls one is recommended. Printed: the error (root of the mean square) of what is
recommended, over all splits, and the number of fits.

The data are tables of numbers, the last column predicted: the wine quality of the paper
(UCI, Cortez et al. 2009: winequality-red.csv, winequality-white.csv) or, without --data,
scikit-learn's diabetes. The whole table, regressors by splits, is fitted once; searches then
replay it. A forest of 10 trees is the beginning of that of 1,000, and forests whose settings
forbid the same splits are one: 64 forests cost as much as 6.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

TREES = (1, 10, 100, 1000)
C, EPSILON, GAMMA = (0.001, 0.01, 0.1, 1.0), (0.0001, 0.001, 0.01, 0.1), (0.025, 0.05, 0.1, 0.2)


def grids(quick=False):
    """One grid a family, over the pipeline's step "model"."""
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
    """Inputs and target."""
    if not paths:
        from sklearn.datasets import load_diabetes
        return load_diabetes(return_X_y=True)
    rows = np.vstack([np.genfromtxt(path, delimiter=",") for path in paths])
    rows = rows[np.isfinite(rows).all(axis=1)]  # a header is a row of NaN
    return rows[:, :-1], rows[:, -1]


def splitter(n_splits, n_rows):
    """Train on a random tenth, test on another; of a small table on 60 rows at least."""
    from sklearn.model_selection import ShuffleSplit

    share = max(0.1, 60 / n_rows)
    return ShuffleSplit(n_splits, train_size=share, test_size=share, random_state=0)


def score_table(candidates, X, y, splits):
    """Minus the root mean squared errors, float64, shape (candidates, splits)."""
    table = np.empty((len(candidates), len(splits)))
    for column, (train, test) in zip(table.T, splits, strict=True):
        grown = {}
        for i, candidate in enumerate(candidates):
            predicted = (_forest(candidate, X, y, train, test, grown)
                         if "model__n_estimators" in candidate
                         else _fitted(candidate, X[train], y[train]).predict(X[test]))
            column[i] = -np.sqrt(np.mean((predicted - y[test]) ** 2))
    return table


def _fitted(candidate, X, y):
    from sklearn.base import clone
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a Lasso with hardly any penalty
        return pipeline().set_params(**clone(candidate, safe=False)).fit(X, y)


def _forest(candidate, X, y, train, test, grown):
    """Predictions of a forest: the first trees of the largest one with these leaves."""
    leaf, split = candidate["model__min_samples_leaf"], candidate["model__min_samples_split"]
    key = leaf, max(split, 2 * leaf)  # a node that splits has two leaves
    if key not in grown:
        largest = {**candidate, "model__n_estimators": grown.setdefault("size", TREES[-1])}
        model = _fitted(largest, X[train], y[train])
        inputs = model["scale"].transform(X[test])
        trees = np.array([tree.predict(inputs) for tree in model["model"].estimators_])
        grown[key] = np.cumsum(trees, axis=0)
    n = candidate["model__n_estimators"]
    return grown[key][n - 1] / n
