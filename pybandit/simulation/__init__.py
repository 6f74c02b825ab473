"""Policies on arms of known means, thousands of times: environments, and who runs them."""

from pybandit.simulation import environments
from pybandit.simulation._simulate import simulate
from pybandit.simulation.result import SimulationResult

__all__ = ["SimulationResult", "environments", "simulate"]
