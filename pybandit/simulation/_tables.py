"""Results as data frames, data sets and HTML. pandas and xarray are imported when needed."""

import numpy as np

from pybandit._shared.html import table
from pybandit._shared.optional import require

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
CURVES = ("error", "regret", "cumulative_regret")
RUNS = {"error": "errors", "regret": "regrets", "cumulative_regret": "cumulative_regrets",
        "pulls": "pulls", "batches": "batches", "stopped": "stopped"}


def policies_frame(results):
    """Return a data frame with one row per policy."""
    pandas = require("pandas", "pandas")
    rows = []
    for one in results.values():
        low, high = one.error_interval
        needed = dict(zip((f"pulls_{100 * q:g}%" for q in QUANTILES), one.quantiles(),
                          strict=True))
        rows.append({"n_runs": one.n_runs, "error": one.error_probability, "error_low": low,
                     "error_high": high, "regret": one.mean_regret,
                     "cumulative_regret": one.mean_cumulative_regret, "pulls": one.mean_pulls,
                     "batches": one.mean_batches, "stopped": float(one.stopped.mean()), **needed})
    return pandas.DataFrame(rows, index=pandas.Index(list(results), name="policy"))


def checkpoints_frame(results):
    """Return a data frame with one row per policy and checkpoint."""
    pandas = require("pandas", "pandas")
    parts = []
    for name, one in results.items():
        columns = {}
        for curve in CURVES:
            columns |= dict(zip((curve, f"{curve}_low", f"{curve}_high"), one.curve(curve),
                                strict=True))
        parts.append(pandas.DataFrame({"policy": name, "checkpoint": one.checkpoints, **columns}))
    return pandas.concat(parts, ignore_index=True)


def run_frame(result):
    """Return a data frame with one row per run of a result."""
    pandas = require("pandas", "pandas")
    columns = {column: getattr(result, array) for column, array in RUNS.items()}
    return pandas.DataFrame({**columns, **result.metrics},
                            index=pandas.RangeIndex(result.n_runs, name="run"))


def runs_frame(results):
    """Return a data frame with one row per policy and run."""
    pandas = require("pandas", "pandas")
    return pandas.concat([
        pandas.DataFrame({"policy": name, "run": np.arange(one.n_runs),
                          **{column: getattr(one, array) for column, array in RUNS.items()}})
        for name, one in results.items()], ignore_index=True)


FRAMES = {"policies": policies_frame, "checkpoints": checkpoints_frame, "runs": runs_frame}


def to_xarray(comparison):
    """Return an xarray.Dataset of a comparison."""
    xarray = require("xarray", "arviz")
    results = list(comparison.results.values())

    def stacked(array):
        return np.stack([getattr(one, array) for one in results])

    variables = {name: (("policy", "run"), stacked(array)) for name, array in RUNS.items()}
    variables["arm_pulls"] = ("policy", "arm"), stacked("arm_pulls")
    grid = {"policy": comparison.names, "run": np.arange(comparison.n_runs),
            "arm": np.arange(results[0].arm_pulls.size)}
    if results[0].arm_pulls_by_run is not None:
        variables["arm_pulls_by_run"] = ("policy", "run", "arm"), stacked("arm_pulls_by_run")
    if results[0].checkpoints is not None:
        grid["checkpoint"] = results[0].checkpoints
        for name in ("error", "regret", "cumulative_regret", "leader"):
            variables[f"checkpoint_{name}"] = (("policy", "run", "checkpoint"),
                                               stacked(f"checkpoint_{name}s"))
    return xarray.Dataset(variables, coords=grid, attrs=comparison.options)


def to_html(results):
    """Return an HTML table of results by name; a single result may have the name ""."""
    rows = []
    for name, one in results.items():
        low, high = one.error_interval
        rows.append((name, f"{one.error_probability:.4g} ({low:.4g} to {high:.4g})",
                     f"{one.mean_regret:.4g}", f"{one.mean_pulls:,.0f}",
                     f"{one.mean_batches:,.0f}"))
    n_runs = next(iter(results.values())).n_runs
    head = ("policy" if any(results) else "", "error (95 %)", "regret", "pulls", "batches")
    return f"<p>{n_runs:,} runs{' of each' * (len(rows) > 1)}</p>{table(head, rows)}"
