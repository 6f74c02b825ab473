"""Races over factors: Chen and Ghahramani 2016.

`race` finds the best state and `RacingSampler` draws states. `accept` and `slice_sample` are
steps of a Markov chain. A bound decides when a gap is significant; a control variate makes gaps
easier to detect.

Examples
--------
>>> import numpy as np, pybandit as pb
>>> factors = np.random.default_rng(0).normal([0.0, 0.1, 0.3], 1.0, (100_000, 3))
>>> result = pb.race(factors, rng=1)
>>> result.best, result.n_evaluations, factors.size
(2, 450, 300000)
"""

from pybandit.racing._lil_ucb import lil_ucb
from pybandit.racing._looks import Looks
from pybandit.racing._race import RaceResult, race
from pybandit.racing.acceptance import AcceptanceTest, AcceptResult, accept
from pybandit.racing.bounds import BettingBound, EBSBound, NormalBound, StudentBound
from pybandit.racing.control import ControlVariate
from pybandit.racing.exact import exact_sample
from pybandit.racing.factors import Factors, Populations
from pybandit.racing.populations import race_populations
from pybandit.racing.sampler import DrawInfo, RacingSampler
from pybandit.racing.slice_sampling import SliceResult, slice_sample
from pybandit.racing.taylor import PopulationMoments, taylor_control

__all__ = ["AcceptResult", "AcceptanceTest", "BettingBound", "ControlVariate", "DrawInfo",
           "EBSBound", "Factors", "Looks", "NormalBound", "PopulationMoments", "Populations",
           "RaceResult", "RacingSampler", "SliceResult", "StudentBound", "accept", "exact_sample",
           "lil_ucb", "race", "race_populations", "slice_sample", "taylor_control"]
