"""What all runs of a simulation share, and what is right in an environment."""

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
from pybandit.simulation._ledger import Truth

METRICS = ("error", "regret", "pulls", "batches")
# of all runs, so that their books are arrays
MOST_CHECKPOINTS = 100_000


@dataclass(frozen=True)
class Answer:
    """Which answer is right: `kind` "best", "above" or "set", of which `right` are the arms,
    or a function of the environment that gives them."""

    kind: str = "best"
    threshold: float = 0.0
    epsilon: float = 0.0
    right: Any = None

    def truth(self, environment, means):
        """What is right there, of these means."""
        arms = None
        if self.kind == "set":
            arms = self.right(environment) if callable(self.right) else self.right
            arms = arms_of(arms, means.size)
        return Truth(environment, means, self.kind, self.threshold, self.epsilon, arms)

    def describe(self):
        """In words that are equal where answers are."""
        if self.kind == "set":
            return f"set {name_of(self.right) if callable(self.right) else self.right.tolist()}"
        threshold = f" {self.threshold!r}" if self.kind == "above" else ""
        return f"{self.kind}{threshold}" + (f", epsilon {self.epsilon!r}" if self.epsilon else "")


@dataclass(frozen=True)
class Like:
    """In the place of a factory: policies like one that was given, with copies of the
    attributes that a subclass in Python has."""

    cls: type
    state: dict
    attributes: dict = field(default_factory=dict)

    def fresh(self):
        """One more of them."""
        policy = self.cls.from_state(self.state)
        if self.attributes:
            policy.__dict__.update(copy.deepcopy(self.attributes))
        return policy


@dataclass(frozen=True)
class Copies:
    """In the place of a factory: deep copies of a policy in Python without a saved state."""

    policy: Any

    def __call__(self, environment):
        return copy.deepcopy(self.policy)


@dataclass(frozen=True)
class Plan:
    """What `simulate` was asked, checked; it can be pickled where its functions can."""

    make: Any
    environment: Any
    functions: dict
    max_pulls: int | None
    checkpoints: tuple
    answer: Answer
    per_run: bool
    common: bool = False

    def on(self, environment):
        """The same on another environment."""
        return replace(self, environment=environment)


def check_answer(answer):
    """Return the `Answer` of this argument."""
    if isinstance(answer, str):
        if answer != "best":
            raise ValueError("answer must be \"best\", Best(...), Above(...), arms, or a function "
                             f"of an environment that returns arms; got {shown(answer)}")
        return Answer("best")
    if isinstance(answer, Best):
        return Answer("best", epsilon=answer.epsilon)
    if isinstance(answer, Above):
        return Answer("above", answer.threshold, answer.epsilon)
    if isinstance(answer, type):
        raise TypeError(f"answer must be an object; got the class {answer.__name__}: call it")
    return Answer("set", right=answer if callable(answer) else arms_of(answer))


def arms_of(arms, n_arms=None):
    """A set of arms, increasing; checked against the number of arms where that is known."""
    refuse_masks("answer", arms)
    array = as_array("answer", as_list("answer", arms, "arms", least=0))
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(f"answer must be arms, integers; got {shown(arms)}")
    bad = array < 0 if n_arms is None else (array < 0) | (array >= n_arms)
    if bad.any() or np.unique(array).size < array.size:
        most = "" if n_arms is None else f" in [0, {n_arms}),"
        raise ValueError(f"answer must be arms{most} at least 0, each once; got {shown(arms)}")
    return np.sort(array).astype(np.int64)


def check_checkpoints(checkpoints, max_pulls, name="checkpoints", least=0):
    """Increasing numbers of pulls, as a tuple."""
    if checkpoints is None:
        return ()
    refuse_masks(name, checkpoints)
    given = as_list(name, checkpoints, "increasing numbers of pulls")
    if len(given) > MOST_CHECKPOINTS:
        raise ValueError(f"{name} must be at most {MOST_CHECKPOINTS}; got {len(given)}")
    pulls = tuple(check_integer(name, one, least, MOST_PULLS) for one in given)
    for before, after in zip(pulls, pulls[1:], strict=False):
        if after <= before:
            raise ValueError(f"{name} must increase; got {after} after {before}")
    if max_pulls is not None and pulls[-1] > max_pulls:
        raise ValueError(f"{name} must be at most max_pulls, {max_pulls}; got {pulls[-1]}")
    return pulls


def functions_of(metrics):
    """The metrics that are functions, by name."""
    if isinstance(metrics, Mapping):
        return named_functions(metrics)
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


def named_functions(metrics):
    """Those of a mapping."""
    for name, function in metrics.items():
        if not isinstance(name, str) or name in METRICS or not callable(function):
            raise ValueError(f"metrics must map names, none of {METRICS}, to functions; got "
                             f"{shown(name)}: {shown(function)}")
    return dict(metrics)


def check_maker(name, make, environment=None):
    """A function of an environment, or what a fresh policy is that can be saved or copied."""
    if isinstance(make, type):
        raise TypeError(f"{name} must be an object or a function of an environment; got the class "
                        f"{make.__name__}: call it, {_call_of(make, environment)}")
    if hasattr(make, "ask"):
        if pulls_of(make):
            raise ValueError(f"{name} must be a fresh policy; got one of {make.n_pulls} pulls")
        if hasattr(make, "get_state") and hasattr(type(make), "from_state"):
            return _like(name, make)
        return _copies(name, make)
    if not callable(make):
        raise TypeError(f"{name} must be a policy or a function of an environment; got "
                        f"{shown(make)}")
    return make


def _like(name, policy):
    # what is not compiled knows itself what its state is
    attributes = getattr(policy, "__dict__", {}) if isinstance(policy, NativePolicy) else {}
    try:
        like = Like(type(policy), policy.get_state(), copy.deepcopy(attributes))
        like.fresh()
    except (ValueError, TypeError) as error:
        raise TypeError(f"{name} must be a function of an environment where policies are not "
                        f"made from their states; got {shown(policy)}: {error}") from error
    return like


def _copies(name, policy):
    try:
        return Copies(copy.deepcopy(policy))
    except Exception as error:  # of a policy in Python: any
        raise TypeError(f"{name} must be a policy that copy.deepcopy can copy, or a function of an "
                        f"environment; got {shown(policy)}: {error}") from error


def _call_of(cls, environment):
    """A call that makes an object of a policy's class, as text."""
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
    """The `Plan` of these arguments, each checked."""
    if max_pulls is not None:
        max_pulls = check_integer("max_pulls", max_pulls, 1, MOST_PULLS)
    refuse_class("environment", environment, "an Environment")
    if not callable(environment) and not hasattr(environment, "pull"):
        raise TypeError(f"environment must be an Environment, such as pybandit.environments."
                        f"GaussianBandit([0, 1]), or a function of a generator that returns one; "
                        f"got {shown(environment)}")
    return Plan(make, environment, functions or {}, max_pulls,
                check_checkpoints(checkpoints, max_pulls),
                check_answer(answer),
                check_flag("arm_pulls_by_run", per_run), check_flag("common_rewards", common))


def truth_of(answer, environment, t=None):
    """What is right in an environment; where its means vary, before pull t of a run."""
    return answer.truth(environment, means_of(environment, t))


def name_of(function):
    """Where a function or class is from, or the class of what is neither."""
    if isinstance(function, partial):
        return f"{name_of(function.func)} of {function.args!r}, {function.keywords!r}"
    one: Callable = function if hasattr(function, "__qualname__") else type(function)
    # saved comparisons hold it, so it does not name a private module
    module = "pybandit" if one.__module__.startswith("pybandit.") else one.__module__
    return f"{module}.{one.__qualname__}"
