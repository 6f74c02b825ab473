"""A budget shared among unbiased estimators of one number, and reference estimators."""

from pybandit.montecarlo import estimators
from pybandit.montecarlo.allocation import EstimatorAllocator
from pybandit.montecarlo.combine import combine_estimators
from pybandit.montecarlo.population import PopulationEstimate, population_monte_carlo

__all__ = ["EstimatorAllocator", "PopulationEstimate", "combine_estimators", "estimators",
           "population_monte_carlo"]
