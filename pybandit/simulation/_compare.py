"""Compare several policies on the same arms and rewards."""

import hashlib
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
from pybandit.simulation._plan import (
    Copies,
    Like,
    check_checkpoints,
    check_maker,
    make_plan,
    name_of,
)
from pybandit.simulation._runs import Runs
from pybandit.simulation._simulate import MOST_RUNS, Answers, check_threads, result_of
from pybandit.simulation._streams import streams_of
from pybandit.simulation.comparison import Comparison
from pybandit.simulation.result import SimulationResult

# maximum length of an option as text; longer ones are cut and get a digest
LONG = 200


@hinted()
def compare(policies: Mapping[str, Callable[..., Any] | Policy], environment: Any,
            n_runs: int = 1000, *, answer: Answers = "best", max_pulls: int | None = None,
            checkpoints: ArrayLike | None = None, budgets: ArrayLike | None = None,
            common_rewards: bool = True, arm_pulls_by_run: bool = False,
            n_threads: int | None = None, executor: Any = None, rng: Rng = None,
            progress: bool | None = None) -> Comparison:
    """Run several policies on the same arms, with common random numbers.

    Run i of every policy has the same stream, and so the same environment if one is drawn
    for each run. With `common_rewards` the j-th reward of arm a in run i is the same number
    for every policy, at whatever time it pulls the arm. As a rule, differences between policies
    then vary less than between independent simulations. This does not apply if costs are drawn
    from the same streams for some of the policies only.

    Parameters
    ----------
    policies : mapping of str to callable or Policy
        Maps names to policies or functions, as the argument `policy` of `simulate`.
    environment, n_runs, answer, max_pulls, checkpoints, arm_pulls_by_run, n_threads, executor, \
rng, progress
        As for `simulate`, for each policy. With an executor, functions that make policies are
        called once more in this process, to describe the policies in `Comparison.options`.
    common_rewards : bool, default True
        Draw the rewards of each arm one by one from a separate stream. If False, each policy has
        the same result as in `simulate` with the same `rng`, bit for bit, and the pulls of an arm
        in a batch may be drawn as one sum, which is faster. An environment in Python draws from
        the stream of the run in either case, so that only the start of the stream is common.
    budgets : array_like of int, optional
        Increasing numbers of pulls, instead of `max_pulls` and `checkpoints`, for the error
        as a function of the budget. Functions in `policies` then take an environment and a budget,
        and are run for each budget. Policies are run once, to the last budget, and their answer
        is scored at each. The checkpoints of the results are the budgets; all other fields are
        those of the last budget.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError, TypeError
        As for `simulate`; a note of the exception names the policy.

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

    The error as a function of the budget:

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
    """Return the error with a note that names the policy; name `budgets` if one is too small."""
    if budgets is not None and isinstance(error, InfeasibleBudgetError):
        error = InfeasibleBudgetError(f"budgets must reach the first pulls of every policy; got "
                                 f"{plan.max_pulls}: {error}").with_traceback(error.__traceback__)
    error.add_note(f"in policies[{name!r}]" + (f", budget {plan.max_pulls}" if budgets else ""))
    return error


def check_policies(policies, environment):
    """Return the policies as a dict, with each maker checked."""
    if not isinstance(policies, Mapping) or not policies:
        raise TypeError(f"policies must be a non-empty mapping of names to policies or functions "
                        f"of an environment; got {shown(policies)}")
    for name in policies:
        if not isinstance(name, str) or not name:
            raise TypeError(f"policies must have non-empty strings as names; got {shown(name)}")
    return {name: check_maker(f"policies[{name!r}]", make, environment)
            for name, make in policies.items()}


def run_plan(plan, streams, n_threads, executor, bar):
    """Return the result of one policy, and a description of the policy."""
    runs = Runs(plan, streams)
    is_drawn = callable(plan.environment) and not isinstance(plan.make, (Copies, Like))
    words = words_of(runs.first[2], is_drawn)
    return result_of(plan, streams, n_threads, executor, bar, runs), words


@dataclass(frozen=True)
class AtBudget:
    """A function of an environment, made from one that also takes a budget."""

    make: Callable
    budget: int

    def __call__(self, environment: Any) -> Any:
        return self.make(environment, self.budget)


def check_budgets(budgets, max_pulls, checkpoints):
    """Return the budgets as a tuple; raise if `max_pulls` or `checkpoints` are given too."""
    for name, given in (("max_pulls", max_pulls), ("checkpoints", checkpoints)):
        if given is not None:
            raise ValueError(f"{name} must be None if budgets are given; got {given!r}")
    return check_checkpoints(budgets, None, "budgets", 1)


def asked_at(make, budgets):
    """Return (maker, max_pulls, checkpoints) of each simulation: one, or one per budget."""
    if isinstance(make, (Copies, Like)):
        return [(make, budgets[-1], budgets)]
    return [(AtBudget(make, budget), budget, (budget,)) for budget in budgets]


def over_budgets(budgets, ends):
    """Return the result at the last budget, with the checkpoints of all budgets."""
    if len(ends) == 1:
        return ends[0]
    arrays, metrics, totals = ends[-1]._parts()
    marks = [name for name in arrays if name.startswith("checkpoint_")]
    arrays |= {name: np.concatenate([getattr(one, name) for one in ends], axis=1)
               for name in marks}
    return SimulationResult._of(budgets, arrays, metrics, totals)


def options_of(plans, words, budgets):
    """Return the options as text; comparisons can be merged if these are equal."""
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
    """Describe a policy by class and options; by class and number of arms if it is made for a
    drawn environment, on which options may depend, or is written in Python."""
    if is_drawn or not isinstance(policy, NativePolicy):
        return f"{name_of(type(policy))} of {getattr(policy, 'n_arms', '?')} arms"
    options = policy.get_state()["options"]
    return (f"{type(policy).__name__}("
            + ", ".join(f"{name}={worded(value)}" for name, value in options.items()) + ")")


def words_of_environment(environment):
    """Describe an environment by class, arms and moments, or a function by its name."""
    if callable(environment):
        return f"drawn by {name_of(environment)}"
    moments = [getattr(environment, name, None) for name in ("means", "noise_std", "costs")]
    return (f"{name_of(type(environment))} of {environment.n_arms} arms, moments "
            + worded(np.concatenate([np.ravel(one) for one in moments if one is not None])))


def worded(value):
    """Return a value as text; equal values give equal text."""
    if isinstance(value, np.ndarray):
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"{value.dtype}{list(value.shape)}:{digest[:16]}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}={worded(one)}" for name, one in value.items()) + "}"
    words = shown(value, sys.maxsize)
    if callable(getattr(value, "get_params", None)):  # a scikit-learn kernel, whose repr rounds
        words = f"{type(value).__name__}({worded(value.get_params(deep=False))})"
    if len(words) <= LONG:
        return words
    return f"{words[:LONG]}...{hashlib.sha256(words.encode()).hexdigest()[:16]}"
