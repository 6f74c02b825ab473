"""Model search with few fits, for scikit-learn: Hoffman, Shahriari and de Freitas 2014.

Examples
--------
>>> from sklearn.datasets import make_classification
>>> from sklearn.linear_model import LogisticRegression
>>> from pybandit.model_selection import BanditSearchCV
>>> x, y = make_classification(300, random_state=1)
>>> search = BanditSearchCV(LogisticRegression(), {"C": [1e-3, 1e-1, 10.0]}, random_state=1)
>>> found = search.fit(x, y)
>>> found.n_fits_, list(found.best_params_)
(3, ['C'])
"""

from pybandit.model_selection.search import BanditSearchCV

__all__ = ["BanditSearchCV"]
