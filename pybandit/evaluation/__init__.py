"""The best of many models on the same items: scores from functions, tables and files."""

from pybandit.evaluation._best_of import best_of
from pybandit.evaluation.result import BestOfResult

__all__ = ["BestOfResult", "best_of"]
