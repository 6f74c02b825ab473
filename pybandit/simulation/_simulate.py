"""Simulate a policy on an environment, each run with its own stream."""

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

    Policies and environments of this package run without Python between pulls and without the
    GIL. If a batch pulls an arm more than once, its rewards are drawn as one sum if the
    distribution allows it. They are drawn one by one, which is slower and gives other numbers, if
    Python functions may read the policy's variances: functions in `metrics`, or `recommend` of
    your subclass. Other policies and environments run through ``ask``, ``pull`` and ``tell``,
    which is slower. Contexts are not supported: ``ask`` is called without arguments.

    Parameters
    ----------
    policy : Policy or callable
        A fresh policy with as many arms as the environment: every run starts with a copy of it.
        A policy in Python is copied with `copy.deepcopy`. Alternatively a function
        ``policy(environment)``, called once per run, that returns a new policy each time.
    environment : Environment or callable
        An environment, or a function ``environment(rng)`` that returns a new one for every run.
        Its means must be constant, or it has ``means_at(t)``, which returns the means before pull
        t of a run, t from 0. Every pull is then compared with the means at its time, and an
        answer with the means after the last pull.
    n_runs : int, default 1000
        Number of runs, at least 1.
    metrics : sequence of str or callable, or mapping of str to callable
        The standard metrics, ``"error"``, ``"regret"``, ``"pulls"``, ``"batches"``,
        are always included. A function ``metric(policy, environment) -> float`` adds a metric
        under its ``__name__``, or under the name given in a mapping.
    answer : "best", Best, Above, array_like of int or callable, default "best"
        The right answer. ``"best"``, or `simulation.Best` with an epsilon: the k best arms, for
        the policy's k; if means are equal, either arm is right. Not allowed for policies that
        name any number of arms, such as `APT` and `GoodArms`. `simulation.Above`: all arms whose
        mean is above a threshold. Arms, or a function of the environment that returns them:
        exactly this set.
    max_pulls : int, optional
        Maximum number of pulls of a run: it ends when the policy is done, or before the batch
        that would exceed this number. Required for policies that never end.
    checkpoints : array_like of int, optional
        Increasing numbers of pulls, at least 0 and at most `max_pulls`, at which the policy's
        recommendation is scored too, as if `max_pulls` had ended the run there: a batch
        counts when all of it has been reported. A finished run keeps its answer.
    arm_pulls_by_run : bool, default False
        Keep the pulls of each arm in each run, 8 bytes per arm and run.
    n_threads : int, optional
        Number of threads. By default the number of processors, or one if Python is called
        between pulls. The result does not depend on it. Compiled policies, their factories and
        metrics do not run in the calling thread.
    executor : concurrent.futures.Executor or dask.distributed.Client, optional
        Runs policies in Python: shares of the runs are submitted to it. It must be able to send
        policy, environment and metrics to its workers. The result does not depend on it.
    rng : None, int, SeedSequence or Generator
        Run i uses the i-th stream spawned from it, also for the random numbers of a policy
        that was made without an `rng`.
    progress : bool, optional
        Show a progress bar; by default if tqdm is installed and stderr is a terminal.

    Returns
    -------
    SimulationResult

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; if a policy never ends and `max_pulls` is not given;
        if a policy was used before or has another number of arms than its environment; if an
        environment returns rewards that are not finite or not one per pull, or its means change
        without `means_at`. `InfeasibleBudgetError` if `max_pulls` is below the first batch.
        Exceptions of the factory or of a metric are propagated.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> bandit = pb.environments.BernoulliBandit(np.linspace(0.1, 0.9, 20))
    >>> result = pb.simulate(lambda e: pb.policies.BatchSAR(e.n_arms, 2, batch_size=10,
    ...                                                     max_batches=60), bandit, 100,
    ...                      rng=1)
    >>> result.n_runs, result.mean_batches
    (100, 59.92)

    An error curve from one simulation, with a policy object:

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
        answer=answer, per_run=arm_pulls_by_run)
    with make_bar(progress, n_runs, "runs", "simulate") as bar:
        return result_of(plan, streams_of(rng, n_runs), n_threads, executor, bar)


def check_threads(n_threads, executor):
    """Return the number of threads or None; raise if the executor or the number is invalid."""
    check_executor(executor)
    if n_threads is None:
        return None
    if executor is not None:
        raise ValueError(f"n_threads must be None if an executor is given; got {n_threads!r}")
    return check_integer("n_threads", n_threads, 1)


def result_of(plan, streams, n_threads, executor, bar, runs=None):
    """Return the result of all runs of a plan on these streams."""
    if executor is not None:
        return SimulationResult._of(plan.checkpoints, *run_in(executor, plan, streams, bar))
    runs = runs or Runs(plan, streams)
    n_threads = n_threads or (os.cpu_count() or 1 if runs.first_is_native() else 1)
    runs.run_all(min(n_threads, streams.n_runs), bar)
    return SimulationResult._of(plan.checkpoints, *runs.results())
