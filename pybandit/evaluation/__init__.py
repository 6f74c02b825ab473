"""The best of many models on the same items: scores from functions, tables and files.

Examples
--------
>>> from pybandit.evaluation import best_of
>>> def score(model, items):          # one model on a batch of items
...     return [(item * (model + 2)) % 7 / 6 + 0.3 * model for item in items]
>>> best_of(score, models=3, items=1000, value_range=(0, 2), rng=1).best
2
"""

from pybandit.evaluation._async import best_of_async
from pybandit.evaluation._best_of import best_of
from pybandit.evaluation._inspect_hook import RaceStopping
from pybandit.evaluation._pairs import best_of_pairs
from pybandit.evaluation._reading import read_scores
from pybandit.evaluation._run_race import run_race
from pybandit.evaluation._running_verdict import RunningVerdict
from pybandit.evaluation._threshold import ThresholdResult
from pybandit.evaluation._verdict import verdict
from pybandit.evaluation.options import Calls, Items, group_weights
from pybandit.evaluation.ranking import Ranking, rank_by_pairs
from pybandit.evaluation.result import BestOfResult
from pybandit.evaluation.tied import TiedSet, tied_set
from pybandit.evaluation.verdict_result import Verdict

__all__ = ["BestOfResult", "Calls", "Items", "RaceStopping", "Ranking", "RunningVerdict",
           "ThresholdResult", "TiedSet", "Verdict", "best_of", "best_of_async", "best_of_pairs",
           "group_weights", "rank_by_pairs", "read_scores", "run_race", "tied_set", "verdict"]
