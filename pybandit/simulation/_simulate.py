"""Replications of a policy on an environment, each on a stream of its own."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from pybandit._shared.checks import check_integer
from pybandit._shared.keywords import hinted
from pybandit._shared.progress import make_bar
from pybandit._shared.types import Rng
from pybandit.policies.protocol.policy import Policy
from pybandit.simulation._answers import Above, Best
from pybandit.simulation._parallel import check_executor, run_in
from pybandit.simulation._plan import check_maker, functions_of, make_plan
from pybandit.simulation._runs import Runs
from pybandit.simulation._streams import streams_of
from pybandit.simulation.result import SimulationResult

MOST_RUNS = 2**40
Answers = str | Best | Above | ArrayLike | Callable[[Any], ArrayLike]


@hinted()
def simulate(policy: Policy | Callable[[Any], Any], environment: Any, n_runs: int = 1000, *,
             metrics: Sequence[str | Callable[[Any, Any], float]]
             | Mapping[str, Callable[[Any, Any], float]] = (),
             answer: Answers = "best", max_pulls: int | None = None,
             checkpoints: ArrayLike | None = None, arm_pulls_by_run: bool = False,
             n_threads: int | None = None, executor: Any = None, rng: Rng = None,
             progress: bool | None = None) -> SimulationResult:
    """Run a policy many times and report its errors, regret and cost.

    Policies and environments of this package meet without Python between their
    pulls and without the GIL; rewards of an arm that a batch pulls more than once
    are drawn as one sum where the law allows it. Not so, which is slower and draws other
    numbers, where functions of yours may want the policy's variances: in `metrics`, or a
    `recommend` of your subclass. Others run through ``ask``, ``pull`` and ``tell``, slower.
    Contexts are left out: ``ask`` is called without any.

    Parameters
    ----------
    policy : Policy or callable
        A fresh policy with as many arms as the environment: every run starts with a copy of it.
        A policy in Python is copied with `copy.deepcopy`. Or ``policy(environment)``, called
        once per run, which returns a fresh policy, a different object every time.
    environment : Environment or callable
        ``environment(rng)`` returns one, drawn anew for every run. Its means are constant, or
        it has ``means_at(t)``, the means before pull t of a run, t from 0: then every pull is
        held against the means of its moment, and an answer against those of the moment after
        the last pull told.
    n_runs : int, default 1000
        Number of runs, at least 1.
    metrics : sequence of str or callable, or mapping of str to callable
        The standard metrics, ``"error"``, ``"regret"``, ``"pulls"``, ``"batches"``,
        are always there. A function ``metric(policy, environment) -> float`` adds one
        of its own under its ``__name__``, in a mapping under the name given there.
    answer : "best", Best, Above, array_like of int or callable, default "best"
        The right answer. ``"best"``, or `simulation.Best` with an epsilon: the k best arms, k
        the policy's; if means are equal either arm is right. Refused if a policy names any
        number of arms, as `APT` and `GoodArms` do. `simulation.Above`: all arms whose mean is
        above a threshold. Arms, or a function of the environment that returns them: exactly this
        set.
    max_pulls : int, optional
        Maximum number of pulls of a run: it ends when the policy is done, or before the batch
        that would exceed this number. Required for policies that never end.
    checkpoints : array_like of int, optional
        Increasing numbers of pulls, at least 0 and at most `max_pulls`: what the policy
        recommends there is judged too. As `max_pulls` that number would have ended the run:
        a batch counts when all of it is told. A run that is done keeps its answer.
    arm_pulls_by_run : bool, default False
        Keep the pulls of each arm in each run: 8 bytes for each.
    n_threads : int, optional
        By default as many as processors, and one where Python is called between
        pulls. The result does not depend on it. Compiled policies run, and their
        factories and metrics are called, in other threads than the caller's.
    executor : concurrent.futures.Executor or dask.distributed.Client, optional
        Where policies in Python run: shares of the runs are submitted to it. Policy,
        environment and metrics must be what it can send. The result does not depend on it.
    rng : None, int, SeedSequence or Generator
        Run i uses the i-th stream spawned from it, also for what a policy draws
        that was made without an `rng` of its own.
    progress : bool, optional
        None: a bar where tqdm is installed and errors go to a terminal.

    Returns
    -------
    SimulationResult

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, a policy that never ends has no `max_pulls`, was
        used before or has another number of arms than its environment; where an environment
        gives rewards that are not finite, not one a pull, or whose means change and are not
        said. `InfeasibleBudgetError` where `max_pulls` is below the first batch. An exception of
        the factory or of a metric reaches the caller.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> bandit = pb.environments.BernoulliBandit(np.linspace(0.1, 0.9, 20))
    >>> result = pb.simulate(lambda e: pb.policies.BatchSAR(e.n_arms, 2, batch_size=10,
    ...                                                     max_batches=60), bandit, 100,
    ...                      rng=1)
    >>> result.n_runs, result.mean_batches
    (100, 59.92)

    An error curve of one simulation, of a policy that is given as it is:

    >>> result = pb.simulate(pb.policies.UCB1(20), bandit, 200, rng=1, max_pulls=800,
    ...                      checkpoints=[50, 200, 800])
    >>> result.checkpoint_errors.mean(axis=0)
    array([0.97 , 0.585, 0.195])
    """
    n_runs = check_integer("n_runs", n_runs, 1, MOST_RUNS)
    n_threads = check_threads(n_threads, executor)
    plan = make_plan(
        check_maker("policy", policy, environment), environment,
        functions=functions_of(metrics), max_pulls=max_pulls, checkpoints=checkpoints,
                     answer=answer,
        per_run=arm_pulls_by_run)
    with make_bar(progress, n_runs, "runs", "simulate") as bar:
        return result_of(plan, streams_of(rng, n_runs), n_threads, executor, bar)


def check_threads(n_threads, executor):
    """A number of threads, or None; and one that runs in threads of its own."""
    check_executor(executor)
    if n_threads is None:
        return None
    if executor is not None:
        raise ValueError(f"n_threads must be None where an executor is given; got {n_threads!r}")
    return check_integer("n_threads", n_threads, 1)


def result_of(plan, streams, n_threads, executor, bar):
    """What the runs of a plan on these streams give."""
    if executor is not None:
        return SimulationResult._of(plan.checkpoints, *run_in(executor, plan, streams, bar))
    runs = Runs(plan, streams)
    n_threads = n_threads or (os.cpu_count() or 1 if runs.first_is_native() else 1)
    runs.run_all(min(n_threads, streams.n_runs), bar)
    return SimulationResult._of(plan.checkpoints, *runs.results())
