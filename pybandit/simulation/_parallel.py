"""Runs of policies in Python, in an executor: shares of them, each with streams of its own."""

import copy
import functools
import pickle
import re

import numpy as np

from pybandit._shared.checks import shown
from pybandit._shared.threads import with_context
from pybandit.simulation._ledger import added
from pybandit.simulation._runs import Runs

# of any simulation, whatever the workers: the result must not depend on their number
SHARES = 64


def check_executor(executor):
    """Refuse what takes no work."""
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor must be a concurrent.futures.Executor, a Dask client or None; "
                        f"got {shown(executor)}")


def run_in(executor, plan, streams, bar):
    """The results of all runs, in their order."""
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
        raise TypeError("policy, environment and metrics must be picklable where the "
                        f"executor sends them to a process; got {error}") from error
    finally:
        # an exception, or Ctrl-C: what has not begun does not
        for future in futures[len(parts):]:
            future.cancel()
    return joined(parts)


def run_share(plan, streams):
    """Some of the runs, in one thread; objects that several shares would use are copied."""
    if hasattr(plan.environment, "reset"):
        plan = plan.on(copy.deepcopy(plan.environment))
    runs = Runs(plan, streams)
    runs.run_in_a_row(0, streams.n_runs)
    return runs.results()


def joined(parts):
    """The results of shares, or of simulations, one after the other."""
    arrays, columns, totals = zip(*parts, strict=True)
    if len({one.size for one in totals}) > 1:
        raise ValueError("environment must have as many arms in every run; got "
                         f"{sorted({one.size for one in totals})}")
    return ({name: np.concatenate([one[name] for one in arrays]) for name in arrays[0]},
            {name: np.concatenate([one[name] for one in columns]) for name in columns[0]},
            added(totals))
