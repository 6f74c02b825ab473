"""Model search in fewer fits, for scikit-learn: Hoffman, Shahriari and de Freitas 2014."""

from pybandit.model_selection.search import BanditSearchCV

__all__ = ["BanditSearchCV"]
