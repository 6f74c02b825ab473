"""Whether a chain reads so much that racing is the wrong tool."""

import warnings

# Where warm-up reads more than this share of at least so many rows, at random, a pass over all of
# them in order would have cost less.
MOST_READ = 0.3
LEAST_ROWS = 1_000


def warn_of_reading(share, n_factors, has_control, warned):
    """Warn where warm-up read this share of the rows; once for all that share the event."""
    if share <= MOST_READ or n_factors < LEAST_ROWS or warned.is_set():
        return
    warned.set()
    if has_control:
        remedy = ("its control is not close enough: expand nearer to the mode, make smaller steps, "
                  "or take ExactMinibatch, for a regression")
    else:
        remedy = ("give control, a GLMControl or a TaylorControl around the mode, or take "
                  "ExactMinibatch, for a regression")
    warnings.warn(
        f"RacingMetropolis read {share:.0%} of the {n_factors} rows at a step of warm-up, in "
        f"random order, which costs more than one pass over all of them: {remedy}; else all rows at "
        f"every step, in order, are faster", stacklevel=2)
