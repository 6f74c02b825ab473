"""Results of the runs of a simulation."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pybandit._shared.checks import check_choice, check_in
from pybandit._shared.intervals import mean_interval, wilson_interval
from pybandit.simulation import _saving, _tables
from pybandit.simulation._saving import WANTED
from pybandit.simulation._tables import CURVES, QUANTILES

Floats = NDArray[np.float64]


def error_shares(errors, regrets):
    """Return the share of errors over the first axis, and its interval.

    NaN if a run has a NaN regret and no error: it is unknown whether its answer was right.
    """
    n_runs = len(errors)
    ends = [wilson_interval(int(hits), n_runs) for hits in np.ravel(errors.sum(axis=0))]
    found = np.vstack([np.ravel(errors.mean(axis=0)), np.transpose(ends)])
    found[:, np.ravel((np.isnan(regrets) & ~errors).any(axis=0))] = np.nan
    return found.reshape(3, *np.shape(errors)[1:])


@dataclass(frozen=True, eq=False, kw_only=True)
class SimulationResult:
    """Results of the runs of a policy; arrays have one entry per run.

    Attributes
    ----------
    n_runs : int
    errors : ndarray of bool
        True if the recommended arms were not a right answer. By default right answers are the k
        best arms, where either of two arms with equal means is right.
    regrets : ndarray of float64
        Simple regret: mean of the k best means minus that of the recommended arms. With
        `Above`, distance from the threshold of the furthest arm on the wrong side; with a set,
        number of arms wrongly included or left out.
    cumulative_regrets : ndarray of float64
        Pseudo-regret: expected loss of all pulls compared with pulling the single best arm
        each time, for any k.
    pulls, batches : ndarray of int64
        Number of pulls and batches reported in the run.
    arm_pulls : ndarray of float64, shape (n_arms,)
        Mean pulls of each arm.
    metrics : dict of str to ndarray of float64
        Values of the functions in `metrics` of `simulate`.
    stopped : ndarray of bool
        True if the policy was done; otherwise `max_pulls` ended the run.
    checkpoints : ndarray of int64, shape (m,), or None
        Numbers of pulls at which the policy's answer was scored.
    checkpoint_errors, checkpoint_regrets, checkpoint_cumulative_regrets, checkpoint_leaders :
        ndarray of shape (n_runs, m), or None: `errors`, `regrets` and
        `cumulative_regrets` at each checkpoint; and the first arm of the answer, int64, -1 if it
        is empty.
    arm_pulls_by_run : ndarray of int64, shape (n_runs, n_arms), or None

    See Also
    --------
    simulate : returns it.
    Comparison : results of several policies.

    Notes
    -----
    **Threads.** Immutable: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> bandit = pb.environments.GaussianBandit([0.0, 0.5, 1.0])
    >>> result = pb.simulate(pb.policies.SequentialHalving(3, budget=60), bandit, 500, rng=1)
    >>> result
    <SimulationResult: 500 runs, error 0.076 (0.05587 to 0.1026), 60 pulls in 2 batches>
    >>> result.errors.shape, result.arm_pulls
    ((500,), array([12.1 , 23.14, 24.76]))
    >>> result.error_interval
    (0.055869027037427826, 0.10259641367396849)
    """

    n_runs: int
    errors: np.ndarray
    regrets: np.ndarray
    cumulative_regrets: np.ndarray
    pulls: np.ndarray
    batches: np.ndarray
    arm_pulls: np.ndarray
    metrics: dict = field(default_factory=dict)
    stopped: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=bool))
    checkpoints: np.ndarray | None = None
    checkpoint_errors: np.ndarray | None = None
    checkpoint_regrets: np.ndarray | None = None
    checkpoint_cumulative_regrets: np.ndarray | None = None
    checkpoint_leaders: np.ndarray | None = None
    arm_pulls_by_run: np.ndarray | None = None
    # pulls of each arm in all runs, exact integers
    _totals: np.ndarray | None = None

    @classmethod
    def _of(cls, checkpoints, arrays, metrics, totals):
        """Return a result made from the arrays of a `RunTable`."""
        n_runs = arrays["errors"].size
        marks = np.array(checkpoints, dtype=np.int64) if len(checkpoints) else None
        return cls(n_runs=n_runs, arm_pulls=totals / n_runs, metrics=metrics, checkpoints=marks,
                   _totals=totals, **arrays)

    def _parts(self):
        """Return the arguments of `_of`: arrays with one row per run, metrics, and totals."""
        arrays = {name: getattr(self, name) for name in (
            "errors", "regrets", "cumulative_regrets", "pulls", "batches", "stopped",
            *WANTED[1:])}
        arrays = {name: array for name, array in arrays.items() if array is not None}
        totals = self._totals
        # dataclasses.replace may have set other `arm_pulls`
        if totals is None or not np.array_equal(totals / self.n_runs, self.arm_pulls):
            totals = np.rint(self.arm_pulls * self.n_runs).astype(np.int64)
        return arrays, self.metrics, totals

    @property
    def error_probability(self) -> float:
        """Share of runs with an error; NaN if some means of the environment are NaN (unknown)."""
        return float(error_shares(self.errors, self.regrets)[0])

    @property
    def error_interval(self) -> tuple[float, float]:
        """95 % Wilson interval of the error probability: (low, high)."""
        _, low, high = error_shares(self.errors, self.regrets)
        return float(low), float(high)

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

    def quantiles(self, q: ArrayLike = QUANTILES, of: str = "pulls") -> Floats:
        """Return quantiles of the stopping time.

        Parameters
        ----------
        q : array_like of float
            In [0, 1].
        of : {"pulls", "batches"}

        Returns
        -------
        ndarray of float64, shape of `q`
            For each q, the smallest number of pulls (or batches) by which at least a share q of
            the runs were done; infinite if `max_pulls` ended too many runs.

        Examples
        --------
        >>> import pybandit as pb
        >>> bandit = pb.environments.GaussianBandit([1.0, 0.5, 0.0])
        >>> rule = pb.stopping.GLR(delta=0.1)
        >>> result = pb.simulate(lambda e: pb.policies.TopTwo(3, stopping=rule), bandit, 500, rng=1,
        ...                      max_pulls=300)
        >>> result.quantiles([0.1, 0.5, 0.9])
        array([ 69., 172.,  inf])
        """
        q = check_in("q", q, "in [0, 1]", lambda x: (x >= 0) & (x <= 1))
        check_choice("of", of, ("pulls", "batches"))
        needed = np.where(self.stopped, getattr(self, of), np.inf)
        # No interpolation, which would be undefined next to infinity. A product that rounding
        # raised just above an integer counts as that integer.
        ranks = np.ceil(np.nextafter(q * self.n_runs, 0.0)).astype(np.int64)
        return np.sort(needed)[np.maximum(ranks, 1) - 1]

    def curve(self, of: str = "error") -> tuple[Floats, Floats, Floats]:
        """Return the mean over the runs at each checkpoint, and its 95 % interval.

        Parameters
        ----------
        of : {"error", "regret", "cumulative_regret"}

        Returns
        -------
        mean, low, high : ndarray of float64, shape (m,)
            Wilson's interval for errors, the normal one for regrets; infinite for a single run.

        Raises
        ------
        ValueError
            If there are no checkpoints.
        """
        check_choice("of", of, CURVES)
        if self.checkpoints is None:
            raise ValueError("checkpoints must be given to simulate for a curve; got None")
        values = getattr(self, f"checkpoint_{of}s")
        if of == "error":
            share, low, high = error_shares(values, self.checkpoint_regrets)
            return share, low, high
        return mean_interval(values)

    def summary(self) -> str:
        """Return one sentence: the error probability with its interval, regret and pulls.

        Examples
        --------
        >>> import pybandit as pb
        >>> bandit = pb.environments.GaussianBandit([0.0, 0.5, 1.0])
        >>> pb.simulate(pb.policies.Uniform(3, budget=60), bandit, 500, rng=1).summary()
        'The answer was wrong in 5.8 % of 500 runs (95 % interval 4.07 % to 8.21 %), with a mean \
regret of 0.029 after 60 pulls.'
        """
        if np.isnan(self.error_probability):
            return (f"It is not known which answers of {self.n_runs:,} runs were wrong: means are "
                    f"NaN; {self.mean_pulls:,.0f} pulls per run.")
        low, high = self.error_interval
        return (f"The answer was wrong in {100 * self.error_probability:.3g} % of {self.n_runs:,} "
                f"runs (95 % interval {100 * low:.3g} % to {100 * high:.3g} %), with a mean regret "
                f"of {self.mean_regret:.3g} after {self.mean_pulls:,.0f} pulls.")

    def to_frame(self) -> Any:
        """Return a pandas.DataFrame with one row per run.

        Returns
        -------
        pandas.DataFrame
            Columns error, regret, cumulative_regret, pulls, batches and stopped, and one per
            metric.

        Raises
        ------
        MissingPackageError
            If pandas is not installed.
        """
        return _tables.run_frame(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and lists, for JSON."""
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
            "stopped": self.stopped.tolist(),
            **{name: getattr(self, name).tolist() for name in WANTED
               if getattr(self, name) is not None},
        }

    def plot(self, ax: Any = None, *, of: str = "error", logx: bool = False,
             logy: bool = False) -> Any:
        """Plot the error over the runs so far, or the mean pulls of each arm.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; a new pyplot figure by default.
        of : {"error", "pulls"}
        logx, logy : bool
            Use a logarithmic axis.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        MissingPackageError
            If Matplotlib is not installed.
        ValueError
            If `of` is not one of these.
        """
        from pybandit.simulation._figure import simulation_axes

        check_choice("of", of, ("error", "pulls"))
        return simulation_axes(self, of, ax, logx, logy)

    def _repr_html_(self) -> str:
        return _tables.to_html({"": self})

    def save(self, path: Any) -> None:
        """Write everything to a file, as NumPy's npz without pickles.

        Parameters
        ----------
        path : str or path-like
            An existing file is replaced atomically.

        Raises
        ------
        TypeError, OSError
            If `path` is not a path, or cannot be written.
        """
        _saving.save_one(self, path)

    @staticmethod
    def load(path: Any) -> "SimulationResult":
        """Return the result that `save` wrote.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If `save` did not write the file, or it was changed.
        """
        return _saving.load_one(path, SimulationResult._of)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self):
        low, high = self.error_interval
        return (f"<SimulationResult: {self.n_runs} runs, error {self.error_probability:.4g} "
                f"({low:.4g} to {high:.4g}), "
                f"{self.mean_pulls:,.0f} pulls in {self.mean_batches:,.0f} batches>")
