"""Policies on arms of known means, thousands of times: environments, and who runs them."""

from pybandit.simulation import environments
from pybandit.simulation._compare import compare
from pybandit.simulation._simulate import simulate
from pybandit.simulation.comparison import Comparison
from pybandit.simulation.result import SimulationResult

__all__ = ["Comparison", "SimulationResult", "compare", "environments", "simulate"]
