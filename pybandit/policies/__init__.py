"""Policies under one protocol: ask which arms to pull, tell what they gave.

Examples
--------
>>> import numpy as np, pybandit as pb
>>> policy = pb.policies.SequentialHalving(4, budget=80)
>>> while not policy.done:
...     arms = policy.ask()
...     policy.tell(arms, np.array([0.1, 0.9, 0.3, 0.2])[arms])
>>> policy.recommend()
array([1])
"""

from pybandit.policies._staged import Uniform
from pybandit.policies.batch import BatchHalving, RoundRobin
from pybandit.policies.batch_racing import BatchRacing
from pybandit.policies.batch_sar import BatchSAR
from pybandit.policies.ebtc import EBTC
from pybandit.policies.elimination import SuccessiveElimination
from pybandit.policies.gap import UCBE, GapE, GapEV, UGapEb
from pybandit.policies.gaussian import (
    BayesGap,
    ExpectedImprovement,
    GaussianThompson,
    ProbabilityOfImprovement,
)
from pybandit.policies.gaussian_upper import GPUCB, BayesUCB
from pybandit.policies.good_arms import APT, GoodArms
from pybandit.policies.halving import SequentialHalving, SHAdaVar, SHVar
from pybandit.policies.index import KLUCB, UCB1, UCBV
from pybandit.policies.lil_ucb import LilUCB
from pybandit.policies.lucb import KLLUCB, LUCB, UGapEc
from pybandit.policies.ocba import OCBA
from pybandit.policies.policy import Policy
from pybandit.policies.rejects import VBR, ContinuousRejects, SuccessiveRejects
from pybandit.policies.screening import BatchScreening
from pybandit.policies.thompson import ThompsonSampling
from pybandit.policies.top_two import TopTwo
from pybandit.policies.track_and_stop import TrackAndStop

__all__ = ["APT", "EBTC", "GPUCB", "KLLUCB", "KLUCB", "LUCB", "OCBA", "UCB1", "UCBE", "UCBV",
           "VBR", "BatchHalving", "BatchRacing", "BatchSAR", "BatchScreening", "BayesGap",
           "BayesUCB", "ContinuousRejects", "ExpectedImprovement", "GapE", "GapEV",
           "GaussianThompson", "GoodArms", "LilUCB", "Policy", "ProbabilityOfImprovement",
           "RoundRobin", "SHAdaVar", "SHVar", "SequentialHalving", "SuccessiveElimination",
           "SuccessiveRejects", "ThompsonSampling", "TopTwo", "TrackAndStop", "UGapEb", "UGapEc",
           "Uniform"]
