"""Names of the fields and curves of results."""

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
CURVES = ("error", "regret", "cumulative_regret")
# fields that a simulation has only if they were asked for
WANTED = ("checkpoints", "checkpoint_errors", "checkpoint_regrets",
          "checkpoint_cumulative_regrets", "checkpoint_leaders", "arm_pulls_by_run")
