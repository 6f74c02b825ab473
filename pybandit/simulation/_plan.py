"""Validated arguments of a simulation, and the definition of a right answer."""

import copy
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from pybandit._shared.checks import (
    MOST_PULLS,
    as_array,
    as_list,
    check_flag,
    check_integer,
    refuse_class,
    refuse_masks,
    shown,
)
from pybandit.policies.protocol.base import NativePolicy
from pybandit.simulation._answers import Above, Best
from pybandit.simulation._checks import means_of, pulls_of
from pybandit.simulation._run_table import Truth

METRICS = ("error", "regret", "pulls", "batches")
# limited because each checkpoint takes one column in arrays with a row per run
MOST_CHECKPOINTS = 100_000


@dataclass(frozen=True)
class RightAnswer:
    """Definition of a right answer: `kind` is "best", "above" or "set"; `right` holds the arms of
    the set, or a function of the environment that returns them."""

    kind: str = "best"
    threshold: float = 0.0
    epsilon: float = 0.0
    right: Any = None

    def truth(self, environment, means):
        """Return the `Truth` of an environment with these means."""
        arms = None
        if self.kind == "set":
            arms = self.right(environment) if callable(self.right) else self.right
            arms = arms_of(arms, means.size)
        return Truth(environment, means, self.kind, self.threshold, self.epsilon, arms)

    def describe(self):
        """Return a description; equal answers have equal descriptions."""
        if self.kind == "set":
            return f"set {name_of(self.right) if callable(self.right) else self.right.tolist()}"
        threshold = f" {self.threshold!r}" if self.kind == "above" else ""
        return f"{self.kind}{threshold}" + (f", epsilon {self.epsilon!r}" if self.epsilon else "")


@dataclass(frozen=True)
class Like:
    """A maker of policies like a given one, from its saved state, with copies of the
    attributes that a Python subclass has."""

    cls: type
    state: dict
    attributes: dict = field(default_factory=dict)

    def fresh(self):
        """Return a new policy."""
        policy = self.cls.from_state(self.state)
        if self.attributes:
            policy.__dict__.update(copy.deepcopy(self.attributes))
        return policy


@dataclass(frozen=True)
class Copies:
    """A callable that returns deep copies of a policy in Python that has no saved state."""

    policy: Any

    def __call__(self, environment):
        return copy.deepcopy(self.policy)


@dataclass(frozen=True)
class SimulationPlan:
    """The validated arguments of `simulate`; can be pickled if its functions can."""

    make: Any
    environment: Any
    functions: dict
    max_pulls: int | None
    checkpoints: tuple
    answer: RightAnswer
    per_run: bool
    common: bool = False

    def on(self, environment):
        """Return the same plan on another environment."""
        return replace(self, environment=environment)


def check_answer(answer):
    """Return the `RightAnswer` for the argument `answer`."""
    if isinstance(answer, str):
        if answer != "best":
            raise ValueError("answer must be \"best\", Best(...), Above(...), arms, or a function "
                             f"of an environment that returns arms; got {shown(answer)}")
        return RightAnswer("best")
    if isinstance(answer, Best):
        return RightAnswer("best", epsilon=answer.epsilon)
    if isinstance(answer, Above):
        return RightAnswer("above", answer.threshold, answer.epsilon)
    if isinstance(answer, type):
        raise TypeError(f"answer must be an object; got the class {answer.__name__}: call it")
    return RightAnswer("set", right=answer if callable(answer) else arms_of(answer))


def arms_of(arms, n_arms=None):
    """Return a set of arms as a sorted array; check them against `n_arms` if it is known."""
    refuse_masks("answer", arms)
    array = as_array("answer", as_list("answer", arms, "arms", least=0))
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(f"answer must be integers, the arms; got {shown(arms)}")
    bad = array < 0 if n_arms is None else (array < 0) | (array >= n_arms)
    if bad.any() or np.unique(array).size < array.size:
        most = "of at least 0" if n_arms is None else f"in [0, {n_arms})"
        raise ValueError(f"answer must be arms {most}, each named once; got {shown(arms)}")
    return np.sort(array).astype(np.int64)


def check_checkpoints(checkpoints, max_pulls, name="checkpoints", least=0):
    """Return increasing numbers of pulls as a tuple."""
    if checkpoints is None:
        return ()
    refuse_masks(name, checkpoints)
    given = as_list(name, checkpoints, "increasing numbers of pulls")
    if len(given) > MOST_CHECKPOINTS:
        raise ValueError(f"{name} must have at most {MOST_CHECKPOINTS} entries; got {len(given)}")
    pulls = tuple(check_integer(name, one, least, MOST_PULLS) for one in given)
    for before, after in zip(pulls, pulls[1:], strict=False):
        if after <= before:
            raise ValueError(f"{name} must increase; got {after} after {before}")
    if max_pulls is not None and pulls[-1] > max_pulls:
        raise ValueError(f"{name} must be at most max_pulls, {max_pulls}; got {pulls[-1]}")
    return pulls


def functions_of(metrics):
    """Return the metrics that are functions, by name."""
    if isinstance(metrics, Mapping):
        return named_functions(metrics)
    functions = {}
    for metric in as_list("metrics", metrics, f"functions or names in {METRICS}", least=0):
        if callable(metric):
            name = getattr(metric, "__name__", None)
            if not isinstance(name, str) or name in (*METRICS, *functions):
                raise ValueError(f"metrics must be functions with distinct names; got "
                                 f"{shown(name)}")
            functions[name] = metric
        elif not isinstance(metric, str) or metric not in METRICS:
            raise ValueError(f"metrics must be functions or names in {METRICS}; got "
                             f"{shown(metric)}")
    return functions


def named_functions(metrics):
    """Return the functions of a mapping; raise if a name or function is invalid."""
    for name, function in metrics.items():
        if not isinstance(name, str) or name in METRICS or not callable(function):
            raise ValueError(f"metrics must map names other than {METRICS} to functions; got "
                             f"{shown(name)}: {shown(function)}")
    return dict(metrics)


def check_maker(name, make, environment=None):
    """Return a function of an environment, or a maker of copies of a fresh policy."""
    if isinstance(make, type):
        raise TypeError(f"{name} must be an object or a function of an environment; got the class "
                        f"{make.__name__}: call it, {_call_of(make, environment)}")
    if hasattr(make, "ask"):
        if pulls_of(make):
            raise ValueError(f"{name} must be a fresh policy; got one with {make.n_pulls} pulls")
        if hasattr(make, "get_state") and hasattr(type(make), "from_state"):
            return _like(name, make)
        return _copies(name, make)
    if not callable(make):
        raise TypeError(f"{name} must be a policy or a function of an environment; got "
                        f"{shown(make)}")
    return make


def _like(name, policy):
    # policies in Python include their attributes in their state
    attributes = getattr(policy, "__dict__", {}) if isinstance(policy, NativePolicy) else {}
    try:
        like = Like(type(policy), policy.get_state(), copy.deepcopy(attributes))
        like.fresh()
    except (ValueError, TypeError) as error:
        raise TypeError(f"{name} must be a function of an environment if the policy cannot be "
                        f"restored from its state; got {shown(policy)}: {error}") from error
    return like


def _copies(name, policy):
    try:
        return Copies(copy.deepcopy(policy))
    except Exception as error:  # a policy in Python may raise any exception
        raise TypeError(f"{name} must be a policy that copy.deepcopy can copy, or a function of an "
                        f"environment; got {shown(policy)}: {error}") from error


def _call_of(cls, environment):
    """Return a call that would make an object of a policy's class, as text."""
    first = getattr(environment, "n_arms", "n_arms")
    try:
        parameters = inspect.signature(cls).parameters.values()
    except (ValueError, TypeError):
        return f"{cls.__name__}({first}, ...)"
    needed = [f"{one.name}=..." for one in parameters
              if one.kind is one.KEYWORD_ONLY and one.default is one.empty]
    return f"{cls.__name__}({', '.join([str(first), *needed])})"


def make_plan(make, environment, *, functions=None, max_pulls=None, checkpoints=None, answer="best",
              per_run=False, common=False):
    """Return the `SimulationPlan` of these arguments; raise if one is invalid."""
    if max_pulls is not None:
        max_pulls = check_integer("max_pulls", max_pulls, 1, MOST_PULLS)
    refuse_class("environment", environment, "an Environment")
    if not callable(environment) and not hasattr(environment, "pull"):
        raise TypeError(f"environment must be an Environment, such as pybandit.environments."
                        f"GaussianBandit([0, 1]), or a function of a generator that returns one; "
                        f"got {shown(environment)}")
    return SimulationPlan(make, environment, functions or {}, max_pulls,
                          check_checkpoints(checkpoints, max_pulls),
                          check_answer(answer),
                          check_flag("arm_pulls_by_run", per_run),
                          check_flag("common_rewards", common))


def truth_of(answer, environment, t=None):
    """Return the `Truth` of an environment; if its means vary, before pull t of a run."""
    return answer.truth(environment, means_of(environment, t))


def name_of(function):
    """Return module and name of a function or class, or of the class of another object."""
    if isinstance(function, partial):
        return f"{name_of(function.func)} of {function.args!r}, {function.keywords!r}"
    one: Callable = function if hasattr(function, "__qualname__") else type(function)
    # saved comparisons contain the name, so it must not name a private module
    module = "pybandit" if one.__module__.startswith("pybandit.") else one.__module__
    return f"{module}.{one.__qualname__}"
