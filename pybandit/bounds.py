"""Concentration bounds, vectorised: of finite populations, and those policies pull by.

Every function broadcasts its arguments as NumPy does and returns a float64 array, or a
float where all arguments are scalars.
"""

from pybandit.policies.index_bounds import kl_ucb, kl_variance, ucb1, ucb_v
from pybandit.racing.b_normal import (
    b_normal,
    boundary,
    crossing_probability,
    normal_sample_complexity,
)
from pybandit.racing.half_widths import empirical_bernstein_serfling, normal, student

__all__ = ["b_normal", "boundary", "crossing_probability", "empirical_bernstein_serfling",
           "kl_ucb", "kl_variance", "normal", "normal_sample_complexity", "student", "ucb1",
           "ucb_v"]
