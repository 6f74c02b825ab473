"""Gibbs and Metropolis-Hastings samplers that read few of the data: by races, or exactly.

Examples
--------
Logistic regression; of 20,000 rows, fewer than 10 are read per step:

>>> import numpy as np, pybandit as pb
>>> rng = np.random.default_rng(1)
>>> x = rng.normal(size=(20_000, 3))
>>> y = (rng.random(20_000) < 1 / (1 + np.exp(-x @ [1.0, -0.5, 0.0]))).astype(float)
>>> tree = pb.mcmc.ExactMinibatch(x, y).sample(500, rng=1)
>>> bool(tree["sample_stats"]["n_evaluations"].mean() < 10)
True
"""

from pybandit.mcmc.arviz import to_arviz
from pybandit.mcmc.controls import GLMControl, TaylorControl
from pybandit.mcmc.exact import ExactMinibatch, ExactStep
from pybandit.mcmc.families import Binomial, StudentT
from pybandit.mcmc.gibbs import RacingGibbs
from pybandit.mcmc.laplace import Laplace, laplace
from pybandit.mcmc.metropolis import MetropolisStep, RacingMetropolis
from pybandit.mcmc.pairwise import PairwiseTable
from pybandit.mcmc.preconditioned import Mixture, Preconditioned
from pybandit.mcmc.proposals import SGLD, RandomWalk

__all__ = ["Binomial", "ExactMinibatch", "ExactStep", "GLMControl", "Laplace", "MetropolisStep",
           "Mixture", "PairwiseTable", "Preconditioned", "RacingGibbs", "RacingMetropolis",
           "RandomWalk", "SGLD", "StudentT", "TaylorControl", "laplace", "to_arviz"]
