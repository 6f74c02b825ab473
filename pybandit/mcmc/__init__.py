"""Gibbs and Metropolis-Hastings samplers whose every decision is a race."""

from pybandit.mcmc.controls import GLMControl, TaylorControl
from pybandit.mcmc.gibbs import RacingGibbs
from pybandit.mcmc.metropolis import RacingMetropolis
from pybandit.mcmc.proposals import SGLD, RandomWalk

__all__ = ["GLMControl", "RacingGibbs", "RacingMetropolis", "RandomWalk", "SGLD",
           "TaylorControl"]
