"""The best of many models on the same items: scores from functions, tables and files."""

from pybandit.evaluation._async import best_of_async
from pybandit.evaluation._best_of import best_of
from pybandit.evaluation._groups import group_weights
from pybandit.evaluation._pairs import best_of_pairs
from pybandit.evaluation._stopping import RaceStopping
from pybandit.evaluation.result import BestOfResult

__all__ = ["BestOfResult", "RaceStopping", "best_of", "best_of_async", "best_of_pairs",
           "group_weights"]
