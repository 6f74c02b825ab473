"""Several policies on the same arms, and on the same rewards."""

import hashlib
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pybandit._shared.checks import check_integer, shown
from pybandit._shared.errors import InfeasibleBudgetError
from pybandit._shared.keywords import hinted
from pybandit._shared.progress import make_bar
from pybandit._shared.types import Rng
from pybandit.policies.protocol.base import NativePolicy
from pybandit.policies.protocol.policy import Policy
from pybandit.simulation._parallel import run_in
from pybandit.simulation._plan import (
    Copies,
    Like,
    check_checkpoints,
    check_maker,
    make_plan,
    name_of,
)
from pybandit.simulation._runs import Runs
from pybandit.simulation._simulate import MOST_RUNS, Answers, check_threads
from pybandit.simulation._streams import streams_of
from pybandit.simulation.comparison import Comparison
from pybandit.simulation.result import SimulationResult

# characters of an option in words; what is longer ends with a digest
LONG = 200


@hinted()
def compare(policies: Mapping[str, Callable[..., Any] | Policy], environment: Any,
            n_runs: int = 1000, *, answer: Answers = "best", max_pulls: int | None = None,
            checkpoints: ArrayLike | None = None, budgets: ArrayLike | None = None,
            common_rewards: bool = True, arm_pulls_by_run: bool = False,
            n_threads: int | None = None, executor: Any = None, rng: Rng = None,
            progress: bool | None = None) -> Comparison:
    """Run several policies on the same arms, with common random numbers.

    Run i of every policy has the same stream, and so the same environment where one is drawn
    for every run. With `common_rewards` the j-th reward of arm a in run i is the same number
    whichever policy pulls it, and whenever: as a rule differences between policies vary
    less than between independent simulations. Not so where costs are drawn, from the same
    streams, for some policies and not for others.

    Parameters
    ----------
    policies : mapping of str to callable or Policy
        Names, and what `simulate` takes as its `policy`.
    environment, n_runs, answer, max_pulls, checkpoints, arm_pulls_by_run, n_threads, executor, \
rng, progress
        As for `simulate`, for each policy; with an executor a function that makes policies is
        called once more here, for what `Comparison.options` says of them.
    common_rewards : bool, default True
        Rewards of an arm come one by one, from a stream of its own. False: each policy has
        what `simulate` gives it with the same `rng`, bit for bit; an arm's pulls of a batch
        may then come as one sum, which is faster. An environment in Python draws from the
        stream of the run in either case: what is common is how the stream begins.
    budgets : array_like of int, optional
        Increasing numbers of pulls, in the place of `max_pulls` and `checkpoints`: the error
        against the budget. Functions in `policies` are then of an environment and a budget, and
        are run for each; policies are run once, to the last budget, and asked at each. The
        checkpoints of the results are the budgets, all else is of the last.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError, TypeError
        As `simulate`; the policy is named in a note of the exception.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> bandit = pb.environments.GaussianBandit(np.linspace(0.0, 1.0, 8))
    >>> both = pb.compare({"halving": pb.policies.SequentialHalving(8, budget=240),
    ...                    "uniform": lambda e: pb.policies.Uniform(e.n_arms, budget=240)}, bandit,
    ...                   500,
    ...                   rng=1)
    >>> print(both)
    Comparison of 2 policies, 500 runs
    halving: error 0.322 (0.2825 to 0.3642), regret 0.05686, 240 pulls
    uniform: error 0.344 (0.3037 to 0.3867), regret 0.06371, 240 pulls
    >>> more = both + pb.compare({"halving": pb.policies.SequentialHalving(8, budget=240),
    ...                           "uniform": pb.policies.Uniform(8, budget=240)}, bandit, 500,
    ...                          rng=2)
    >>> more.n_runs
    1000

    The error against the budget:

    >>> curves = pb.compare({"halving": lambda e,
    ...                      budget: pb.policies.SequentialHalving(8, budget=budget),
    ...                      "UCB1": pb.policies.UCB1(8)}, bandit, 500, rng=1,
    ...                     budgets=[60, 240, 960])
    >>> curves["halving"].curve()[0], curves["UCB1"].curve()[0]
    (array([0.54 , 0.322, 0.112]), array([0.486, 0.226, 0.036]))
    """
    n_runs = check_integer("n_runs", n_runs, 1, MOST_RUNS)
    n_threads = check_threads(n_threads, executor)
    makers = check_policies(policies, environment)
    if budgets is None:
        asked = {name: [(make, max_pulls, checkpoints)] for name, make in makers.items()}
    else:
        budgets = check_budgets(budgets, max_pulls, checkpoints)
        asked = {name: asked_at(make, budgets) for name, make in makers.items()}
    plans = {name: [make_plan(make, environment, max_pulls=most, checkpoints=marks,
                              answer=answer, per_run=arm_pulls_by_run, common=common_rewards)
                    for make, most, marks in each] for name, each in asked.items()}
    streams = streams_of(rng, n_runs)
    results, words = {}, {}
    n_plans = sum(map(len, plans.values()))
    with make_bar(progress, n_runs * n_plans, "runs", "compare") as bar:
        for name, each in plans.items():
            ends = []
            for plan in each:
                try:
                    end, words[name] = run_plan(plan, streams, n_threads, executor, bar)
                except Exception as error:
                    raise explained(error, name, plan, budgets) from error.__cause__
                ends.append(end)
            results[name] = over_budgets(budgets, ends)
    return Comparison(results=results, options=options_of(plans, words, budgets),
                      streams=(streams.identity(),))


def explained(error, name, plan, budgets):
    """The error with a note of whose it is; of a budget that is too small by its own name."""
    if budgets is not None and isinstance(error, InfeasibleBudgetError):
        error = InfeasibleBudgetError(f"budgets must reach the first pulls of every policy; got "
                                 f"{plan.max_pulls}: {error}").with_traceback(error.__traceback__)
    error.add_note(f"in policies[{name!r}]" + (f", budget {plan.max_pulls}" if budgets else ""))
    return error


def check_policies(policies, environment):
    """The mapping as a dict, each maker checked."""
    if not isinstance(policies, Mapping) or not policies:
        raise TypeError(f"policies must be a mapping of names to functions of an environment or "
                        f"policies, one or more; got {shown(policies)}")
    for name in policies:
        if not isinstance(name, str) or not name:
            raise TypeError(f"policies must have names that are text; got {shown(name)}")
    return {name: check_maker(f"policies[{name!r}]", make, environment)
            for name, make in policies.items()}


def run_plan(plan, streams, n_threads, executor, bar):
    """The result of one policy, and what it was, in words."""
    runs = Runs(plan, streams)
    is_drawn = callable(plan.environment) and not isinstance(plan.make, (Copies, Like))
    words = words_of(runs.first[2], is_drawn)
    if executor is not None:
        return SimulationResult._of(plan.checkpoints, *run_in(executor, plan, streams, bar)), words
    n_threads = n_threads or (os.cpu_count() or 1 if runs.first_is_native() else 1)
    runs.run_all(min(n_threads, streams.n_runs), bar)
    return SimulationResult._of(plan.checkpoints, *runs.results()), words


@dataclass(frozen=True)
class AtBudget:
    """A function of an environment, of one that takes a budget too."""

    make: Callable
    budget: int

    def __call__(self, environment: Any) -> Any:
        return self.make(environment, self.budget)


def check_budgets(budgets, max_pulls, checkpoints):
    """Increasing numbers of pulls, in the place of max_pulls and checkpoints."""
    for name, given in (("max_pulls", max_pulls), ("checkpoints", checkpoints)):
        if given is not None:
            raise ValueError(f"{name} must be None where budgets are given; got {given!r}")
    return check_checkpoints(budgets, None, "budgets", 1)


def asked_at(make, budgets):
    """What is simulated: a maker, its max_pulls and its checkpoints, once or for each budget."""
    if isinstance(make, (Copies, Like)):
        return [(make, budgets[-1], budgets)]
    return [(AtBudget(make, budget), budget, (budget,)) for budget in budgets]


def over_budgets(budgets, ends):
    """The result at the last budget, with the checkpoints of all."""
    if len(ends) == 1:
        return ends[0]
    arrays, metrics, totals = ends[-1]._parts()
    marks = [name for name in arrays if name.startswith("checkpoint_")]
    arrays |= {name: np.concatenate([getattr(one, name) for one in ends], axis=1)
               for name in marks}
    return SimulationResult._of(budgets, arrays, metrics, totals)


def options_of(plans, words, budgets):
    """What must be equal where comparisons are merged, each in words."""
    plan = next(iter(plans.values()))[-1]
    marks = list(plan.checkpoints if budgets is None else budgets)
    for name, each in plans.items():
        if isinstance(each[0].make, AtBudget):
            words[name] += " and for the other budgets"
    return {
        "policies": "; ".join(f"{name}: {words[name]}" for name in plans),
        "environment": words_of_environment(plan.environment),
        "max_pulls": str(plan.max_pulls),
        "checkpoints": str(marks),
        "answer": plan.answer.describe(),
        "arm_pulls_by_run": str(plan.per_run),
        "common_rewards": str(plan.common)}


def words_of(policy, is_drawn):
    """A policy's class and options; of one made for a drawn environment, which they may depend
    on, and of one in Python the class and the arms."""
    if is_drawn or not isinstance(policy, NativePolicy):
        return f"{name_of(type(policy))} of {getattr(policy, 'n_arms', '?')} arms"
    options = policy.get_state()["options"]
    return (f"{type(policy).__name__}("
            + ", ".join(f"{name}={worded(value)}" for name, value in options.items()) + ")")


def words_of_environment(environment):
    """Its class, its arms and their moments; of a function its name."""
    if callable(environment):
        return f"drawn by {name_of(environment)}"
    moments = [getattr(environment, name, None) for name in ("means", "noise_std", "costs")]
    return (f"{name_of(type(environment))} of {environment.n_arms} arms, moments "
            + worded(np.concatenate([np.ravel(one) for one in moments if one is not None])))


def worded(value):
    """A value in words that are equal where values are."""
    if isinstance(value, np.ndarray):
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"{value.dtype}{list(value.shape)}:{digest[:16]}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}={worded(one)}" for name, one in value.items()) + "}"
    words = shown(value, sys.maxsize)
    if callable(getattr(value, "get_params", None)):  # a kernel of scikit-learn: its repr rounds
        words = f"{type(value).__name__}({worded(value.get_params(deep=False))})"
    if len(words) <= LONG:
        return words
    return f"{words[:LONG]}...{hashlib.sha256(words.encode()).hexdigest()[:16]}"
