"""Some or all runs of a simulation, in threads of this process."""

import threading
from math import nan

import numpy as np

from pybandit._shared.checks import as_array, check_scalar
from pybandit._shared.threads import in_threads
from pybandit._shared.worker import Stop
from pybandit.policies.protocol.base import NativePolicy
from pybandit.simulation._checks import (
    check_answer_kind,
    check_asked,
    check_constant,
    check_environment,
    check_fresh,
    check_max_pulls,
    check_pair,
    checked_rewards,
    has_plain_means,
    means_of,
    varies,
)
from pybandit.simulation._engine import Session
from pybandit.simulation._native import (
    LENT_SEED,
    PLAIN_SEED,
    draws_natively,
    is_fresh,
    is_native,
    pays_in_its_own_way,
    renew,
    takes_stream,
)
from pybandit.simulation._plan import Like, truth_of
from pybandit.simulation._run_rewards import RunRewards
from pybandit.simulation._run_table import RunTable

# maximum number of runs of compiled policies that a thread makes before it reports progress
MOST_IN_A_ROW = 64


class Pattern:
    """Source of fresh policies like a given one; reuses one object if it can be renewed."""

    def __init__(self, like):
        self.like, self.spare, self.checked = like, None, None

    def fresh(self):
        if self.spare is None or self.checked is None or not renew(self.spare, self.checked):
            self.spare = self.like.fresh()
            # `renew` resets the compiled state; a user-defined class may have other state
            cls = self.like.cls
            is_builtin = cls.__module__.startswith("pybandit.") or "rules" in vars(cls)
            if is_builtin and isinstance(self.spare, NativePolicy):
                self.checked = self.spare._checked_state(self.like.state)
        return self.spare


class Runs:
    """The runs of one plan: their streams and their results."""

    def __init__(self, plan, streams):
        self.plan, self.streams, self.n_runs = plan, streams, streams.n_runs
        self.environment = None if callable(plan.environment) else plan.environment
        self.columns = {name: np.zeros(self.n_runs) for name in plan.functions}
        self.stop, self.one_at_a_time, self.idle = Stop(), threading.Lock(), []
        # policies of runs in progress and of the first: a factory must not return one twice
        self.policies, self.truth, self.table = {}, None, None
        if self.environment is not None:
            check_environment(self.environment)
            if not varies(self.environment):
                self.truth = truth_of(plan.answer, self.environment)
        self.first = self.begin(0, self.pattern())
        check_answer_kind(self.first[2], plan.answer.kind)
        self.table = RunTable(self.n_runs, self.first[1].n_arms, plan.checkpoints, plan.per_run)

    def pattern(self):
        return Pattern(self.plan.make) if isinstance(self.plan.make, Like) else None

    def session(self):
        plan = self.plan
        return Session(self.table, self.streams, self.stop, plan.max_pulls, plan.common,
                       bool(plan.functions))

    def first_is_native(self):
        """Return True if the first run needs no Python between pulls; others are assumed alike."""
        _, environment, policy = self.first
        return is_native(policy, environment)

    def begin(self, i, pattern):
        """Return the generator of run i (None if not needed), its environment and its policy."""
        environment, rng = self.environment, None
        if environment is None:
            rng = self.streams.generator(i)
            environment = self.plan.environment(rng)
            check_environment(environment)
        if pattern is not None:
            policy = pattern.fresh()
            check_pair(policy, environment)
        else:
            policy = self.plan.make(environment)
            fresh = is_fresh(policy, environment)
            if not fresh:
                check_pair(policy, environment)
            if self.policies.setdefault(id(policy), i) != i:
                raise ValueError(f"policy must return a new policy in every run; got "
                                 f"{type(policy).__name__} again")
            if not fresh:
                check_fresh(policy)
        seed = getattr(type(policy), "seed", None)
        # the engine lends its bits to the policy, or seeds it
        seeds = seed is LENT_SEED or (
            rng is None and self.streams.is_known and takes_stream(policy))
        needs_none = seeds and is_native(policy, environment)
        if seed is not PLAIN_SEED and not needs_none and callable(getattr(policy, "seed", None)):
            rng = self.streams.generator(i) if rng is None else rng
            policy.seed(rng)
        return rng, environment, policy

    def run_all(self, n_threads, bar):
        size, is_native = 1, self.first_is_native()
        if is_native:
            size = max(1, min(MOST_IN_A_ROW, self.n_runs // (8 * n_threads)))

        def run(block):
            start = block * size
            end = min(start + size, self.n_runs)
            self.run_in_a_row(start, end)
            bar.update(end - start)

        # Ctrl-C can interrupt policies in Python; a single thread is the calling thread
        in_threads(run, -(-self.n_runs // size), n_threads, self.stop, hears=not is_native)

    def run_in_a_row(self, start, end):
        try:  # reuse those of a thread that has finished
            session, pattern, are_alike = self.idle.pop()
        except IndexError:
            session, pattern, are_alike = self.session(), self.pattern(), False
        i = start
        while i < end and not self.stop.is_set():
            if not are_alike:
                started = self.begin(i, pattern) if i else self.first
                self.run(i, session, *started)
                if pattern is None and i:
                    del self.policies[id(started[2])]
                i += 1
                are_alike = self.are_alike(session, pattern, started[0])
            if are_alike:
                i = session.play_many(i, end, pattern.spare, self.environment, self.truth,
                                      pattern.checked)
                are_alike = i == end  # otherwise the policy cannot be reset
        self.idle.append((session, pattern, are_alike))

    def are_alike(self, session, pattern, rng):
        """Return True if the following runs need no Python; `rng` is that of the last run."""
        return (pattern is not None and pattern.checked is not None
                and (rng is None or takes_stream(pattern.spare))
                and self.truth is not None and self.streams.is_known
                and not self.plan.functions and has_plain_means(self.environment)
                and session.takes(pattern.spare, self.environment))

    def run(self, i, session, rng, environment, policy):
        self.table.check_arms(i, environment.n_arms)
        check_max_pulls(policy, self.plan.max_pulls)
        truth = self.truth
        if truth is None and not varies(environment):
            truth = truth_of(self.plan.answer, environment)
        if session.takes(policy, environment):
            if rng is None and not self.streams.is_known:
                rng = self.streams.generator(i)
            before = None if has_plain_means(environment) else environment.means
            session.play(i, policy, environment, truth, rng, takes_stream(policy))
            if before is not None:
                check_constant(before, environment, i)
        else:
            rng = self.streams.generator(i) if rng is None else rng
            one = _PythonRun(self, i, environment, policy, truth, rng)
            if self.environment is not None and hasattr(environment, "reset"):
                with self.one_at_a_time:  # the environment has shared state
                    one.run()
            else:
                one.run()
        if self.stop.is_set():
            return  # the run may have stopped in the middle of a batch
        for name, function in self.plan.functions.items():
            value = function(policy, environment)
            self.columns[name][i] = check_scalar(
                f"the value that {name} returns", value, "a number",
                lambda x: np.ones_like(x, dtype=bool))

    def results(self):
        """Return arrays by the names of `SimulationResult`, metrics, and the arms' totals."""
        arrays, totals = self.table.columns()
        return arrays, self.columns, totals


class _PythonRun:
    """A run with Python between pulls."""

    def __init__(self, runs, i, environment, policy, truth, rng):
        self.runs, self.plan, self.i, self.rng = runs, runs.plan, i, rng
        self.environment, self.policy, self.truth = environment, policy, truth
        self.pulls = np.zeros(environment.n_arms, dtype=np.int64)
        self.n_pulls, self.n_batches, self.next_mark = 0, 0, 0
        self.varies = varies(environment)
        self.lost = 0.0 if self.varies else nan
        wanted = getattr(policy, "costs", None)  # a policy's `costs` may also be an array
        self.wants_costs = isinstance(wanted, str) and wanted == "told"
        self.rewards = environment
        if draws_natively(environment) and not (
                self.wants_costs and pays_in_its_own_way(environment)):
            self.rewards = RunRewards(environment, i, runs.streams if runs.plan.common else None)

    def run(self):
        """Run to the end of the policy, or to `max_pulls`."""
        environment, policy, before = self.environment, self.policy, self.environment.means
        most = np.inf if self.plan.max_pulls is None else self.plan.max_pulls
        marks = self.plan.checkpoints
        if hasattr(self.rewards, "reset"):
            self.rewards.reset()
        while not policy.done and not self.runs.stop.is_set():
            arms = as_array("the return value of ask", policy.ask())
            reached = self.n_pulls + arms.size
            while self.next_mark < len(marks) and reached > marks[self.next_mark]:
                self.enter_mark()
            if reached > most:
                break
            # a copy, so that neither environment nor policy can change the other's arms
            arms = check_asked(arms, policy, environment)
            arms.flags.writeable = False
            self.pull(arms)
        while self.next_mark < len(marks):
            self.enter_mark()
        self.enter(None, bool(policy.done))
        if not self.varies:
            check_constant(before, environment, self.i)

    def pull(self, arms):
        """Pull a batch; add its regret if means vary."""
        environment, rewards = self.environment, self.rewards
        if self.varies:
            for j, arm in enumerate(arms):
                means = means_of(environment, self.n_pulls + j)
                self.lost += means.max() - means[arm]
        if self.wants_costs:
            given, costs = rewards.pull_with_costs(arms, self.rng)
            self.policy.tell(arms, checked_rewards(given, arms, environment), costs)
        else:
            given = rewards.pull(arms, self.rng)
            self.policy.tell(arms, checked_rewards(given, arms, environment))
        self.pulls += np.bincount(arms, minlength=self.pulls.size)
        self.n_pulls += arms.size
        self.n_batches += 1

    def enter_mark(self):
        self.enter(self.next_mark, False)
        self.next_mark += 1

    def enter(self, column, stopped):
        truth = self.truth
        if self.varies:
            truth = truth_of(self.plan.answer, self.environment, self.n_pulls)
        self.runs.table.enter(self.i, column, truth, self.policy, self.pulls,
                              self.lost, self.n_batches, stopped)
