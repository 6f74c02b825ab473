"""Gibbs and Metropolis-Hastings samplers whose every decision is a race."""

from pybandit.mcmc.controls import GLMControl, TaylorControl
from pybandit.mcmc.gibbs import RacingGibbs
from pybandit.mcmc.laplace import Laplace, laplace
from pybandit.mcmc.metropolis import RacingMetropolis
from pybandit.mcmc.preconditioned import Mixture, Preconditioned
from pybandit.mcmc.proposals import SGLD, RandomWalk

__all__ = ["GLMControl", "Laplace", "Mixture", "Preconditioned", "RacingGibbs",
           "RacingMetropolis", "RandomWalk", "SGLD", "TaylorControl", "laplace"]
