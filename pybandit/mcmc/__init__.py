"""Gibbs and Metropolis-Hastings samplers that read few of the data: by races, or exactly."""

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
           "RandomWalk", "SGLD", "StudentT", "TaylorControl", "laplace"]
