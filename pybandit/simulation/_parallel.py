"""Runs of policies in an executor: shares of the runs, each with its own streams."""

import copy
import functools
import pickle
import re

import numpy as np

from pybandit._shared.checks import shown
from pybandit._shared.threads import with_context
from pybandit.simulation._run_table import added
from pybandit.simulation._runs import Runs

# number of shares; fixed, because the result must not depend on the number of workers
SHARES = 64


def check_executor(executor):
    """Raise unless the executor has a `submit` method."""
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor must be a concurrent.futures.Executor, a Dask client or None; "
                        f"got {shown(executor)}")


def run_in(executor, plan, streams, bar):
    """Return the results of all runs, in order."""
    size = -(-streams.n_runs // SHARES)
    futures, parts = [], []
    try:
        for first in range(0, streams.n_runs, size):
            part = streams.part(first, min(size, streams.n_runs - first))
            share = with_context(executor, functools.partial(run_share, plan, part))
            futures.append(executor.submit(share))
        for future in futures:
            parts.append(future.result())
            bar.update(parts[-1][0]["errors"].size)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        if not re.search("pickle|local object", str(error), re.IGNORECASE):
            raise
        raise TypeError("policy, environment and metrics must be picklable, because the executor "
                        f"sends them to another process; got {error}") from error
    finally:
        # after an exception or Ctrl-C, cancel the shares that have not started
        for future in futures[len(parts):]:
            future.cancel()
    return joined(parts)


def run_share(plan, streams):
    """Run a share in one thread, on a copy of the environment if it has state."""
    if hasattr(plan.environment, "reset"):
        plan = plan.on(copy.deepcopy(plan.environment))
    runs = Runs(plan, streams)
    runs.run_in_a_row(0, streams.n_runs)
    return runs.results()


def joined(parts):
    """Return the concatenated results of shares or simulations."""
    arrays, columns, totals = zip(*parts, strict=True)
    if len({one.size for one in totals}) > 1:
        raise ValueError("environment must have the same number of arms in every run; got "
                         f"{sorted({one.size for one in totals})}")
    return ({name: np.concatenate([one[name] for one in arrays]) for name in arrays[0]},
            {name: np.concatenate([one[name] for one in columns]) for name in columns[0]},
            added(totals))
