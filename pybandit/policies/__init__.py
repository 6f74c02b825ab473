"""Policies with one protocol: ask which arms to pull, tell their rewards.

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

from pybandit.policies.batch.batch import BatchHalving, RoundRobin
from pybandit.policies.batch.batch_racing import BatchRacing
from pybandit.policies.batch.batch_sar import BatchSAR
from pybandit.policies.batch.screening import BatchScreening
from pybandit.policies.budget._staged import Uniform
from pybandit.policies.budget.gap import UCBE, GapE, GapEV
from pybandit.policies.budget.halving import SequentialHalving
from pybandit.policies.budget.ocba import OCBA
from pybandit.policies.budget.rejects import VBR, ContinuousRejects, SuccessiveRejects
from pybandit.policies.budget.ugap import UGapEb
from pybandit.policies.budget.variance_halving import SHAdaVar, SHVar
from pybandit.policies.confidence.ebtc import EBTC
from pybandit.policies.confidence.elimination import SuccessiveElimination
from pybandit.policies.confidence.lil_ucb import LilUCB
from pybandit.policies.confidence.lucb import KLLUCB, LUCB
from pybandit.policies.confidence.top_two import TopTwo
from pybandit.policies.confidence.track_and_stop import TrackAndStop
from pybandit.policies.confidence.ugap import UGapEc
from pybandit.policies.correlated.bayes_gap import BayesGap
from pybandit.policies.correlated.gaussian_thompson import GaussianThompson
from pybandit.policies.correlated.gaussian_upper import GPUCB, BayesUCB
from pybandit.policies.correlated.improvement import ExpectedImprovement, ProbabilityOfImprovement
from pybandit.policies.protocol.policy import Policy
from pybandit.policies.regret.index import KLUCB, UCB1, UCBV
from pybandit.policies.regret.thompson import ThompsonSampling
from pybandit.policies.thresholds.good_arms import APT, GoodArms

__all__ = ["APT", "EBTC", "GPUCB", "KLLUCB", "KLUCB", "LUCB", "OCBA", "UCB1", "UCBE", "UCBV",
           "VBR", "BatchHalving", "BatchRacing", "BatchSAR", "BatchScreening", "BayesGap",
           "BayesUCB", "ContinuousRejects", "ExpectedImprovement", "GapE", "GapEV",
           "GaussianThompson", "GoodArms", "LilUCB", "Policy", "ProbabilityOfImprovement",
           "RoundRobin", "SHAdaVar", "SHVar", "SequentialHalving", "SuccessiveElimination",
           "SuccessiveRejects", "ThompsonSampling", "TopTwo", "TrackAndStop", "UGapEb", "UGapEc",
           "Uniform"]
