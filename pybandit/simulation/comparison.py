"""Results of several policies: tables, plots, files and merging."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from pybandit._shared.checks import check_choice, shown
from pybandit.simulation import _saving, _tables
from pybandit.simulation._parallel import joined
from pybandit.simulation._tables import CURVES
from pybandit.simulation.result import SimulationResult


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparison:
    """Results of several policies on the same arms, returned by `compare`.

    ``comparison[name]`` is the `SimulationResult` of a policy. ``+`` merges
    comparisons with different seeds; `save` and `load` move them between machines.

    Attributes
    ----------
    results : dict of str to SimulationResult
        Results by policy. Run i of each has the same stream.
    options : dict of str to str
        Description of the comparison. Comparisons with equal descriptions can be merged. Policies
        are described by class and options; policies in Python, or made by a function for drawn
        environments, by class and arms only. Environments are described by class, means,
        variances and costs, functions by their names.
    streams : tuple of dict
        Streams of the runs: the words of a seed, and a range of its children.

    See Also
    --------
    compare : returns it.
    SimulationResult : results of one policy.

    Notes
    -----
    **Threads.** Immutable: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> bandit = pb.environments.GaussianBandit([0.0] * 15 + [1.0])
    >>> policies = {"halving": pb.policies.SequentialHalving(16, budget=160),
    ...             "uniform": pb.policies.Uniform(16, budget=160)}
    >>> both = pb.compare(policies, bandit, 500, rng=1)
    >>> print(both)
    Comparison of 2 policies, 500 runs
    halving: error 0.1 (0.07668 to 0.1294), regret 0.1, 160 pulls
    uniform: error 0.114 (0.08904 to 0.1448), regret 0.114, 160 pulls
    >>> both["halving"].mean_regret, both["uniform"].mean_regret
    (0.1, 0.114)
    >>> both.save("both.npz")
    >>> pb.simulation.Comparison.load("both.npz").names
    ['halving', 'uniform']
    """

    results: dict[str, SimulationResult]
    options: dict[str, str]
    streams: tuple[dict[str, Any], ...]

    @property
    def n_runs(self) -> int:
        """Number of runs of each policy."""
        return next(iter(self.results.values())).n_runs

    @property
    def names(self) -> list[str]:
        """Names of the policies, in the order in which they were given."""
        return list(self.results)

    def __getitem__(self, name: str) -> SimulationResult:
        return self.results[check_choice("name", name, self.results)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __add__(self, other: Self) -> "Comparison":
        """Return a comparison with the runs of both, those of the left one first.

        Raises
        ------
        ValueError
            If an option differs (the message names it), or both contain the same run.
        """
        if not isinstance(other, Comparison):
            return NotImplemented
        for name in self.options | other.options:
            one, two = self.options.get(name), other.options.get(name)
            if one != two:
                raise ValueError(f"{name} must be equal in comparisons that are merged; got "
                                 f"{shown(one)} and {shown(two)}")
        streams = _saving.merged_streams(self.streams, other.streams)
        results = {}
        for name, result in self.results.items():
            parts = [one._parts() for one in (result, other.results[name])]
            marks = [] if result.checkpoints is None else result.checkpoints
            results[name] = SimulationResult._of(marks, *joined(parts))
        return Comparison(results=results, options=self.options, streams=streams)

    def summary(self) -> str:
        """Return one sentence: the policy with the smallest error, and its error.

        Policies without a known error rank last.

        Examples
        --------
        >>> import pybandit as pb
        >>> bandit = pb.environments.GaussianBandit([0.0] * 15 + [1.0])
        >>> policies = {"halving": pb.policies.SequentialHalving(16, budget=160),
        ...             "uniform": pb.policies.Uniform(16, budget=160)}
        >>> pb.compare(policies, bandit, 500, rng=1).summary()
        'Of 2 policies in 500 runs each, halving was wrong least often: 10 % (95 % interval \
7.67 % to 12.9 %).'
        """
        best = min(self.results, key=lambda name: (
            np.isnan(self[name].error_probability), self[name].error_probability))
        low, high = self[best].error_interval
        return (f"Of {len(self)} policies in {self.n_runs:,} runs each, {best} was wrong least "
                f"often: {100 * self[best].error_probability:.3g} % (95 % interval "
                f"{100 * low:.3g} % to {100 * high:.3g} %).")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, text and lists, for JSON."""
        return {"n_runs": self.n_runs, "options": dict(self.options),
                "streams": [dict(stream) for stream in self.streams],
                "results": {name: one.to_dict() for name, one in self.results.items()}}

    def to_frame(self, of: str = "policies") -> Any:
        """Return a pandas.DataFrame.

        Parameters
        ----------
        of : {"policies", "checkpoints", "runs"}
            ``"policies"``: one row per policy, with error and its 95 % interval, mean regrets,
            mean pulls and batches, and quantiles of the stopping time. ``"checkpoints"``: one row
            per policy and checkpoint, with means and intervals of the curves. ``"runs"``: one row
            per policy and run.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        MissingPackageError
            If pandas is not installed.
        ValueError
            If there are no checkpoints for ``"checkpoints"``.
        """
        check_choice("of", of, _tables.FRAMES)
        return _tables.FRAMES[of](self.results)

    def to_xarray(self) -> Any:
        """Return an xarray.Dataset with dimensions policy, run, arm and checkpoint.

        Returns
        -------
        xarray.Dataset

        Raises
        ------
        MissingPackageError
            If xarray is not installed: ``pip install 'pybandit-core[arviz]'``.
        """
        return _tables.to_xarray(self)

    def plot(self, ax: Any = None, *, of: str = "error", logx: bool = False,
             logy: bool = False) -> Any:
        """Plot a curve over the checkpoints for each policy; without checkpoints, final values.

        Intervals are 95 %: bands for up to four curves, bars for more curves and for final
        values. Errors have Wilson intervals.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; a new pyplot figure by default.
        of : {"error", "regret", "cumulative_regret", "pulls"}
            ``"pulls"``: pulls until a policy stops.
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
        from pybandit.simulation._figure import comparison_axes

        check_choice("of", of, (*CURVES, "pulls"))
        return comparison_axes(self.results, of, ax, logx, logy)

    def save(self, path: Any) -> None:
        """Write everything to a file, as NumPy's npz without pickles.

        Parameters
        ----------
        path : str or path-like
            An existing file is replaced atomically.
        """
        _saving.save(self, path)

    @staticmethod
    def load(path: Any) -> "Comparison":
        """Return the comparison that `save` wrote.

        Raises
        ------
        ValueError
            If `save` did not write the file, or it was changed.
        """
        results, options, streams = _saving.load(path, SimulationResult._of)
        return Comparison(results=results, options=options, streams=streams)

    def _repr_html_(self) -> str:
        return _tables.to_html(self.results)

    def __repr__(self):
        return f"<Comparison: {len(self)} policies, {self.n_runs:,} runs>"

    def __str__(self):
        lines = [f"Comparison of {len(self)} policies, {self.n_runs:,} runs"]
        for name, one in self.results.items():
            low, high = one.error_interval
            lines.append(f"{name}: error {one.error_probability:.4g} ({low:.4g} to {high:.4g}), "
                         f"regret {one.mean_regret:.4g}, {one.mean_pulls:,.0f} pulls")
        return "\n".join(lines)
