"""Vectorised concentration bounds, for finite populations and for policies.

Every function broadcasts its arguments as in NumPy and returns a float64 array, or a float if
all arguments are scalars.

Examples
--------
Half-widths of bounds on a mean after 100 of 10,000 values: approximate, and for any
distribution:

>>> import pybandit as pb
>>> level = pb.bounds.b_normal(0.05, 100 / 10_000)
>>> round(pb.bounds.student(100, 10_000, 0.3, level), 3)
0.071
>>> round(pb.bounds.empirical_bernstein_serfling(100, 10_000, 0.3, 1.0, 0.05), 3)
0.296
>>> pb.bounds.student([10, 100, 1000], 10_000, 0.3, level).round(3)
array([0.271, 0.071, 0.021])
"""

from pybandit.policies.batch.theory import (
    batch_racing_batches,
    batch_racing_deviation,
    batch_racing_pulls,
    batch_sar_error,
)
from pybandit.policies.budget.theory import (
    halving_least_pulls,
    normal_variance_interval,
    sequential_halving_error,
    shadavar_error,
    shvar_error,
)
from pybandit.policies.correlated.theory import bayes_gap_error
from pybandit.policies.regret.index_bounds import kl_ucb, kl_variance, ucb1, ucb_v
from pybandit.policies.regret.theory import (
    bernoulli_regret_rate,
    thompson_regret,
    ucb1_regret,
    ucb_v_regret,
)
from pybandit.racing.b_normal import (
    b_normal,
    boundary,
    crossing_probability,
    normal_sample_complexity,
)
from pybandit.racing.half_widths import empirical_bernstein_serfling, normal, student

__all__ = ["b_normal", "batch_racing_batches", "batch_racing_deviation", "batch_racing_pulls",
           "batch_sar_error",
           "bayes_gap_error", "bernoulli_regret_rate", "boundary",
           "crossing_probability", "empirical_bernstein_serfling",
           "halving_least_pulls", "kl_ucb", "kl_variance", "normal",
           "normal_sample_complexity", "normal_variance_interval",
           "sequential_halving_error", "shadavar_error", "shvar_error", "student",
           "thompson_regret", "ucb1", "ucb1_regret", "ucb_v", "ucb_v_regret"]
