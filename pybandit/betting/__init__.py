"""Races by betting, and confidence sequences: guarantees for any values of known range."""

from pybandit.betting.above import BettingThreshold
from pybandit.betting.budget import BudgetRace
from pybandit.betting.confidence import ConfidenceBounds, ConfidenceSequence, confidence_sequence
from pybandit.betting.counts import CountRace
from pybandit.betting.race import BettingRace

__all__ = ["BettingRace", "BettingThreshold", "BudgetRace", "ConfidenceBounds",
           "ConfidenceSequence", "CountRace", "confidence_sequence"]
