"""pybandit: pure exploration at C speed."""

import os as _os

from pybandit import bounds
from pybandit._checks import InfeasibleBudget
from pybandit.betting import BettingRace, BettingThreshold
from pybandit.confidence import ConfidenceBounds, ConfidenceSequence, confidence_sequence
from pybandit.factors import Factors
from pybandit.racing import DrawInfo, RaceResult, RacingSampler, exact_sample, race
from pybandit.racing_bounds import BettingBound, EBSBound, NormalBound, StudentBound

__version__ = "0.1.0"

__all__ = [
    "BettingBound",
    "BettingRace",
    "BettingThreshold",
    "ConfidenceBounds",
    "ConfidenceSequence",
    "DrawInfo",
    "EBSBound",
    "Factors",
    "InfeasibleBudget",
    "NormalBound",
    "RaceResult",
    "RacingSampler",
    "StudentBound",
    "bounds",
    "confidence_sequence",
    "exact_sample",
    "get_include",
    "race",
]


def get_include():
    """Return the directory that holds ``pybandit/*.h``, the headers of the C kernels."""
    return _os.path.join(_os.path.dirname(__file__), "include")
