"""What the runs of a simulation gave."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pybandit._shared.intervals import wilson_interval


@dataclass(frozen=True)
class SimulationResult:
    """What the runs of a policy gave; every array has one entry a run.

    Attributes
    ----------
    n_runs : int
    errors : ndarray of bool
        Whether the recommended arms were not k best ones. Where means are equal
        either arm will do.
    regrets : ndarray of float64
        Simple regret: mean of the k best means less that of the recommended arms.
    cumulative_regrets : ndarray of float64
        Pseudo-regret: what the pulls lost in the mean against as many of the one best
        arm, whatever k is.
    pulls, batches : ndarray of int64
        Told in the run.
    arm_pulls : ndarray of float64, shape (n_arms,)
        Mean pulls of each arm.
    metrics : dict of str to ndarray of float64
        What the functions in `metrics` of `simulate` gave.
    """

    n_runs: int
    errors: np.ndarray
    regrets: np.ndarray
    cumulative_regrets: np.ndarray
    pulls: np.ndarray
    batches: np.ndarray
    arm_pulls: np.ndarray
    metrics: dict = field(default_factory=dict)

    @property
    def error_probability(self) -> float:
        """Share of runs with an error."""
        return float(self.errors.mean())

    @property
    def error_interval(self) -> tuple[float, float]:
        """95 % Wilson interval of the error probability: (low, high)."""
        return wilson_interval(int(self.errors.sum()), self.n_runs)

    @property
    def mean_regret(self) -> float:
        """Mean simple regret."""
        return float(self.regrets.mean())

    @property
    def mean_cumulative_regret(self) -> float:
        """Mean pseudo-regret."""
        return float(self.cumulative_regrets.mean())

    @property
    def mean_pulls(self) -> float:
        """Mean number of pulls."""
        return float(self.pulls.mean())

    @property
    def mean_batches(self) -> float:
        """Mean number of batches."""
        return float(self.batches.mean())

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and lists, as JSON takes them."""
        return {
            "n_runs": self.n_runs,
            "error_probability": self.error_probability,
            "error_interval": list(self.error_interval),
            "mean_regret": self.mean_regret,
            "mean_cumulative_regret": self.mean_cumulative_regret,
            "mean_pulls": self.mean_pulls,
            "mean_batches": self.mean_batches,
            "errors": self.errors.tolist(),
            "regrets": self.regrets.tolist(),
            "cumulative_regrets": self.cumulative_regrets.tolist(),
            "pulls": self.pulls.tolist(),
            "batches": self.batches.tolist(),
            "arm_pulls": self.arm_pulls.tolist(),
            "metrics": {name: values.tolist() for name, values in self.metrics.items()},
        }

    def plot(self, axes: Any = None) -> Any:
        """Pulls of each arm, and the error so far over the runs; a matplotlib Figure."""
        from pybandit.simulation._figure import simulation_figure

        return simulation_figure(self, axes)

    def __repr__(self):
        low, high = self.error_interval
        return (f"SimulationResult: {self.n_runs} runs, error {self.error_probability:.4g} "
                f"({low:.4g} to {high:.4g}), regret {self.mean_regret:.4g}, "
                f"{self.mean_pulls:,.0f} pulls in {self.mean_batches:,.0f} batches")
