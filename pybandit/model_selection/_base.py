"""Base class of the search: scikit-learn's class, or a typed declaration for type checkers.

scikit-learn has no type annotations. Without the declaration, type checkers would accept any
attribute name on a search.
"""
# ruff: noqa: B027 (empty methods, which are never run)

from typing import TYPE_CHECKING, Any, Self

from pybandit._shared.optional import require

__all__ = ["SearchBase"]

if TYPE_CHECKING:
    from abc import ABCMeta, abstractmethod

    class SearchBase(metaclass=ABCMeta):
        """Public interface of scikit-learn's searches."""

        estimator: Any
        scoring: Any
        n_jobs: int | None
        refit: Any
        cv: Any
        verbose: int
        pre_dispatch: int | str
        error_score: float | str
        return_train_score: bool
        cv_results_: dict[str, Any]
        best_estimator_: Any
        best_score_: float
        best_params_: dict[str, Any]
        best_index_: int
        scorer_: Any
        n_splits_: int
        refit_time_: float
        multimetric_: bool
        feature_names_in_: Any

        @abstractmethod
        def __init__(self, estimator: Any, *, scoring: Any = None, n_jobs: int | None = None,
                     refit: Any = True, cv: Any = None, verbose: int = 0,
                     pre_dispatch: int | str = "2*n_jobs", error_score: float | str = ...,
                     return_train_score: bool = True) -> None: ...
        @property
        def classes_(self) -> Any: ...
        @property
        def n_features_in_(self) -> int: ...
        def fit(self, X: Any, y: Any = None, **params: Any) -> Self: ...
        def score(self, X: Any, y: Any = None, **params: Any) -> float: ...
        def score_samples(self, X: Any) -> Any: ...
        def predict(self, X: Any) -> Any: ...
        def predict_proba(self, X: Any) -> Any: ...
        def predict_log_proba(self, X: Any) -> Any: ...
        def decision_function(self, X: Any) -> Any: ...
        def transform(self, X: Any) -> Any: ...
        def inverse_transform(self, X: Any) -> Any: ...
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def get_metadata_routing(self) -> Any: ...

else:
    require("sklearn.model_selection", "sklearn")

    from sklearn.model_selection._search import BaseSearchCV as SearchBase
