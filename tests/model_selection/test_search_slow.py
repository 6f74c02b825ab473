"""A fifth of the full grid's fits finds a candidate within a standard error of the best."""

import ast
import pathlib
import re

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.datasets import load_diabetes, load_digits  # noqa: E402
from sklearn.linear_model import ElasticNet, Ridge  # noqa: E402
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold  # noqa: E402
from sklearn.neighbors import KNeighborsRegressor  # noqa: E402
from sklearn.pipeline import Pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.svm import SVC, SVR  # noqa: E402

from pybandit.model_selection import BanditSearchCV  # noqa: E402

pytestmark = pytest.mark.slow


def digits():
    grid = {"C": np.logspace(-2, 3, 8).tolist(), "gamma": np.logspace(-5, -1, 8).tolist()}
    return SVC(), grid, StratifiedKFold(5, shuffle=True, random_state=0), load_digits


def diabetes():
    grid = [
        {"model": [ElasticNet()], "model__alpha": np.logspace(-3, 1, 6).tolist(),
         "model__l1_ratio": [0.1, 0.4, 0.7, 1.0]},
        {"model": [SVR()], "model__C": np.logspace(-1, 3, 6).tolist(),
         "model__gamma": np.logspace(-4, 0, 6).tolist()},
        {"model": [KNeighborsRegressor()], "model__n_neighbors": [1, 3, 5, 8, 13, 21, 34, 55]},
    ]
    pipeline = Pipeline([("scale", StandardScaler()), ("model", Ridge())])
    return pipeline, grid, KFold(5, shuffle=True, random_state=0), load_diabetes


@pytest.mark.parametrize("problem", [digits, diabetes])
def test_a_fifth_of_the_fits_is_within_a_standard_error(problem):
    estimator, grid, cv, load = problem()
    data = load(return_X_y=True)
    full = GridSearchCV(estimator, grid, cv=cv, refit=False).fit(*data).cv_results_
    means, best = full["mean_test_score"], full["mean_test_score"].argmax()
    assert means.size >= 60
    error = np.std([full[f"split{i}_test_score"][best] for i in range(5)], ddof=1) / np.sqrt(5)
    for seed in range(3):
        found = BanditSearchCV(estimator, grid, cv=cv, refit=False, random_state=seed).fit(*data)
        assert found.n_fits_ <= 0.2 * 5 * means.size
        assert means[found.best_index_] >= means[best] - error


def test_the_full_grid_finds_the_result_of_the_page():
    """All 125 fits find the result of the page's search with 25, which `test_blocks` runs."""
    text = (pathlib.Path(__file__).parents[2] / "docs" / "model_search.md").read_text()
    (found,) = re.findall(r"prints `(.*) 25`, which is also what 125 fits of the full grid", text)
    grid = ast.literal_eval(re.search(r"^grid = (.*)$", text, re.MULTILINE)[1])
    search = GridSearchCV(SVC(), grid).fit(*load_digits(return_X_y=True))
    assert len(search.cv_results_["params"]) * search.n_splits_ == 125
    assert repr(search.best_params_) == found
