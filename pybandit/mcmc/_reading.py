"""Whether a chain reads so much that racing is the wrong tool."""

import warnings

from pybandit._shared.errors import SlowReadingWarning

# Where warm-up reads more than this share of at least so many rows, at random, a pass over all of
# them in order would have cost less; fewer steps tell little.
MOST_READ = 0.3
LEAST_ROWS = 1_000
LEAST_STEPS = 20


def warn_of_reading(n_read, n_steps, n_factors, has_control, warned):
    """Warn where steps of warm-up read that much; once for all that share the lock `warned`."""
    if n_steps < LEAST_STEPS or n_factors < LEAST_ROWS:
        return
    share = n_read / (n_steps * n_factors)
    if share <= MOST_READ or not warned.acquire(blocking=False):
        return
    if has_control:
        remedy = ("its control is not close enough: expand nearer to the mode, make smaller steps, "
                  "or take ExactMinibatch, for a regression")
    else:
        remedy = ("give control, a GLMControl or a TaylorControl around the mode, or take "
                  "ExactMinibatch, for a regression")
    warnings.warn(
        f"RacingMetropolis read {share:.0%} of the {n_factors} rows at a step of warm-up, in "
        f"random order, which costs more than one pass over all of them: {remedy}; else all rows "
        f"at every step, in order, are faster", SlowReadingWarning, stacklevel=2)
