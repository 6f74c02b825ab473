"""Base class of KMedoids: classes of scikit-learn, or a typed declaration for type checkers.

scikit-learn has no type annotations. Without the declaration, type checkers would accept any
attribute name on an estimator.
"""

from typing import TYPE_CHECKING, Any, Self

from pybandit._shared.optional import require

__all__ = ["ClusterBase"]

if TYPE_CHECKING:

    class ClusterBase:
        """Public interface of scikit-learn's estimators that cluster and transform."""

        n_features_in_: int
        feature_names_in_: Any

        def fit_predict(self, X: Any, y: Any = None, **params: Any) -> Any: ...
        def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any: ...
        def get_feature_names_out(self, input_features: Any = None) -> Any: ...
        def set_output(self, *, transform: Any = None) -> Self: ...
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def get_metadata_routing(self) -> Any: ...

else:
    require("sklearn.base", "sklearn")

    from sklearn.base import (
        BaseEstimator,
        ClassNamePrefixFeaturesOutMixin,
        ClusterMixin,
        TransformerMixin,
    )

    class ClusterBase(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin,
                      BaseEstimator):
        """An estimator that clusters and transforms."""
