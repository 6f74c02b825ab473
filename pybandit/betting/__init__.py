"""Races by betting, and confidence sequences, for values of known range and any distribution.

Examples
--------
>>> import numpy as np, pybandit as pb
>>> rng, rates = np.random.default_rng(1), np.array([0.3, 0.4, 0.7])
>>> race = pb.BettingRace(3, 1000, value_range=(0, 1), rng=1)
>>> while not race.done:
...     arms, items = race.ask()
...     race.tell(arms, items, rng.binomial(1, rates[arms]))
>>> race.recommend(), race.decided
(array([2]), True)
"""

from pybandit.betting.above import BettingThreshold
from pybandit.betting.budget import BudgetRace
from pybandit.betting.confidence import ConfidenceBounds, ConfidenceSequence, confidence_sequence
from pybandit.betting.counts import CountRace
from pybandit.betting.options import Bets, Costs
from pybandit.betting.race import BettingRace

__all__ = ["BettingRace", "BettingThreshold", "Bets", "BudgetRace", "ConfidenceBounds",
           "ConfidenceSequence", "Costs", "CountRace", "confidence_sequence"]
