"""What the search inherits: scikit-learn's, which has no types; those are in the stub."""

from pybandit._shared.optional import require

require("sklearn.model_selection", "sklearn")

from sklearn.model_selection._search import BaseSearchCV as SearchBase  # noqa: E402

__all__ = ["SearchBase"]
