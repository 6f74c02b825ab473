"""Replications of a policy on an environment, in threads, each on a stream of its own."""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pybandit._shared.checks import MOST_PULLS, as_list, check_integer, shown
from pybandit._shared.generators import seed_sequence_of
from pybandit._shared.progress import make_bar
from pybandit._shared.threads import in_threads
from pybandit._shared.types import Rng
from pybandit.simulation._checks import check_asked, check_horizon, check_pair, checked_rewards
from pybandit.simulation._engine import Stop, is_native, replicate
from pybandit.simulation.result import SimulationResult

METRICS = ("error", "regret", "pulls", "batches")
MOST_RUNS = 2**40


def simulate(policy_factory: Callable[[Any], Any], environment: Any, n_runs: int, *,
             rng: Rng = None, n_threads: int | None = None,
             metrics: Sequence[str] | Mapping[str, Callable[[Any, Any], float]] = METRICS,
             progress: bool | None = None, horizon: int | None = None) -> SimulationResult:
    """Run a policy many times and report its errors, regret and cost.

    Policies and environments of this package meet without Python between their
    pulls and without the GIL; rewards of an arm that a batch pulls more than once
    are drawn as one sum where the law allows it. Others run through ``ask``,
    ``pull`` and ``tell``, slower.

    Parameters
    ----------
    policy_factory : callable
        ``policy_factory(environment)`` returns a fresh policy, another one every time, with as
        many arms as the environment; called once a run.
    environment : Environment or callable
        ``environment(rng)`` returns one, drawn anew for every run. Its means are constant:
        errors and regrets are about them.
    n_runs : int
        At least 1.
    rng : None, int, SeedSequence or Generator
        Run i uses the i-th stream spawned from it, also for what a policy draws
        that was made without an `rng` of its own.
    n_threads : int, optional
        By default as many as processors, and one where Python is called between
        pulls. The result does not depend on it.
    metrics : sequence of str or callable
        The standard metrics, ``"error"``, ``"regret"``, ``"pulls"``, ``"batches"``,
        are always there. A function ``metric(policy, environment) -> float`` adds one
        of its own under its ``__name__``.
    progress : bool, optional
        None: a bar where tqdm is installed and errors go to a terminal.
    horizon : int, optional
        Most pulls of a run: it ends when the policy is done, or before the batch that
        would go beyond. Policies that never end need one.

    Returns
    -------
    SimulationResult

    Raises
    ------
    ValueError, TypeError
        Where an argument is outside its range, a policy that never ends has no horizon, was
        used before or has another number of arms than its environment; where an environment
        gives rewards that are not finite, not one a pull, or whose means change.
        `InfeasibleBudget` where the horizon is below the first batch. An exception of the
        factory or of a metric reaches the caller.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> bandit = pb.environments.BernoulliBandit(np.linspace(0.1, 0.9, 20))
    >>> result = pb.simulate(lambda e: pb.BatchSAR(e.n_arms, 2, 10, 60), bandit, 100, rng=1)
    >>> result.n_runs, result.mean_batches
    (100, 59.92)
    """
    n_runs = check_integer("n_runs", n_runs, 1, MOST_RUNS)
    if n_threads is not None:
        n_threads = check_integer("n_threads", n_threads, 1)
    if horizon is not None:
        horizon = check_integer("horizon", horizon, 1, MOST_PULLS)
    if not callable(policy_factory):
        raise TypeError(f"policy_factory must be a function of an environment; got "
                        f"{shown(policy_factory)}")
    if not callable(environment) and not hasattr(environment, "pull"):
        raise TypeError(f"environment must be an Environment, or a function of a generator that "
                        f"returns one; got {shown(environment)}")
    functions = functions_of(metrics)
    runs = _Runs(policy_factory, environment, n_runs, rng, functions, horizon)
    native = runs.first_is_native()
    n_threads = n_threads or (os.cpu_count() or 1 if native else 1)
    with make_bar(progress, n_runs, "runs", "simulate") as bar:
        runs.run_all(min(n_threads, n_runs), bar)
    return runs.result()


def functions_of(metrics):
    """The metrics that are functions, by name."""
    functions = {}
    for metric in as_list("metrics", metrics, f"functions or of {METRICS}", least=0):
        if callable(metric):
            name = getattr(metric, "__name__", None)
            if not isinstance(name, str) or name in (*METRICS, *functions):
                raise ValueError(f"metrics must be functions with names of their own; got "
                                 f"{shown(name)}")
            functions[name] = metric
        elif not isinstance(metric, str) or metric not in METRICS:
            raise ValueError(f"metrics must be functions or of {METRICS}; got {shown(metric)}")
    return functions


class _Runs:
    """The runs of one call: their streams, and where their results go."""

    def __init__(self, policy_factory, environment, n_runs, rng, functions, horizon):
        self.policy_factory, self.functions = policy_factory, functions
        self.horizon = horizon
        self.environment = None if callable(environment) else environment
        self.draw_environment = environment if callable(environment) else None
        self.streams = seed_sequence_of(rng).spawn(n_runs)
        self.first, self.one_at_a_time = None, threading.Lock()
        self.columns = {name: np.zeros(n_runs) for name in (*METRICS, *functions)}
        self.cumulative_regrets = np.zeros(n_runs)
        self.arm_totals, self.lock = 0, threading.Lock()
        self.stop = Stop()
        # of runs under way, and the first: a factory returns another one every time
        self.policies = {}

    def first_is_native(self):
        """Whether runs need no Python between pulls, judged by the first."""
        self.first = self.begin(0)
        _, environment, policy = self.first
        return is_native(policy, environment)

    def begin(self, i):
        """The generator, environment and policy of run i."""
        rng = np.random.default_rng(self.streams[i])
        environment = self.environment
        if environment is None:
            environment = self.draw_environment(rng)
        policy = self.policy_factory(environment)
        check_pair(policy, environment)
        with self.lock:
            if id(policy) in self.policies:
                raise ValueError(f"policy_factory must return another policy in every run; got "
                                 f"{type(policy).__name__} again")
            self.policies[id(policy)] = policy
        return rng, environment, policy

    def run_all(self, n_threads, bar):
        def run(i):
            self.run(i)
            bar.update(1)

        in_threads(run, len(self.streams), n_threads, self.stop)

    def run(self, i):
        if i == 0:
            (rng, environment, policy), self.first = self.first, None
        else:
            rng, environment, policy = self.begin(i)
        means = environment.means
        if callable(getattr(policy, "seed", None)):
            policy.seed(rng)
        check_horizon(policy, self.horizon)
        if is_native(policy, environment):
            replicate(policy, environment, rng, self.stop, self.horizon)
            pulls, n_batches = policy.pulls, policy.n_batches
        elif self.environment is not None and hasattr(environment, "reset"):
            with self.one_at_a_time:  # its state is shared
                pulls, n_batches = self.replicate_in_python(policy, environment, rng)
        else:
            pulls, n_batches = self.replicate_in_python(policy, environment, rng)
        if not np.array_equal(means, environment.means, equal_nan=True):
            raise ValueError("environment must have means that stay as they are in a run: errors "
                             f"and regrets are about them; got others after run {i}")
        self._record(i, policy, environment, pulls, n_batches)
        if i:
            with self.lock:
                del self.policies[id(policy)]

    def replicate_in_python(self, policy, environment, rng):
        """Run the policy to its end; return the pulls of each arm, and the batches."""
        pulls, n_batches = np.zeros(environment.n_arms, dtype=np.int64), 0
        left = np.inf if self.horizon is None else self.horizon
        if hasattr(environment, "reset"):
            environment.reset()
        while not policy.done and not self.stop.is_set():
            arms = policy.ask()
            left -= np.size(arms)
            if left < 0:
                break
            check_asked(arms, policy, environment)
            if getattr(policy, "costs", None) == "observed":
                rewards, costs = environment.pull_with_costs(arms, rng)
                policy.tell(arms, checked_rewards(rewards, arms, environment), costs)
            else:
                policy.tell(arms, checked_rewards(environment.pull(arms, rng), arms, environment))
            pulls += np.bincount(arms, minlength=pulls.size)
            n_batches += 1
        return pulls, n_batches

    def _record(self, i, policy, environment, pulls, n_batches):
        means, chosen = environment.means, policy.recommend()
        best = means[environment.best(policy.k)]
        columns = self.columns
        columns["error"][i] = not np.array_equal(np.sort(means[chosen]), np.sort(best))
        columns["regret"][i] = best.mean() - means[chosen].mean() if best.size else 0.0
        self.cumulative_regrets[i] = pulls @ (means.max() - means)
        columns["pulls"][i], columns["batches"][i] = pulls.sum(), n_batches
        with self.lock:  # integers: their sum does not depend on the order
            if np.shape(self.arm_totals) not in ((), pulls.shape):
                raise ValueError(f"environment must have as many arms in every run, "
                                 f"{self.arm_totals.size}; got {pulls.size} in run {i}")
            self.arm_totals = self.arm_totals + pulls
        for name, function in self.functions.items():
            columns[name][i] = function(policy, environment)

    def result(self):
        columns = self.columns
        return SimulationResult(
            n_runs=len(self.streams),
            errors=columns["error"].astype(bool),
            regrets=columns["regret"],
            cumulative_regrets=self.cumulative_regrets,
            pulls=columns["pulls"].astype(np.int64),
            batches=columns["batches"].astype(np.int64),
            arm_pulls=self.arm_totals / len(self.streams),
            metrics={name: columns[name] for name in self.functions},
        )
