"""Hints for keywords that a function does not have."""

import functools
import inspect
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)

# Words of other libraries, and earlier ones of this, by the word used here.
OTHERS = {
    "alpha": "delta", "confidence": "delta", "horizon": "max_pulls", "max_evaluations": "max_pulls",
    "max_retries": "retry", "n_items": "items", "n_models": "models", "names": "models",
    "paid": "store", "population": "population_size", "random_state": "rng", "retries": "retry",
    "seed": "rng", "sigma": "noise_std", "std": "noise_std", "tolerance": "epsilon"}
# Options of `best_of` that belong to a group.
GROUPS = {name: f"calls=Calls({name}=...)" for name in (
    "block_size", "concurrency", "executor", "retry", "timeout", "per_minute", "failed", "version")}
GROUPS |= {name: f"items=Items(..., {name}=...)" for name in (
    "population_size", "weights", "prior_scores")}


def hinted(function: F) -> F:
    """Let a function name the nearest keyword when it gets one that it does not have."""
    known = dict(inspect.signature(function).parameters)
    takes_any = any(one.kind is one.VAR_KEYWORD for one in known.values())
    title = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def checked(*arguments: Any, **keywords: Any) -> Any:
        if not (takes_any or keywords.keys() <= known.keys()):
            wrong = next(name for name in keywords if name not in known)
            raise TypeError(f"{title}() got an unexpected keyword argument {wrong!r}"
                            f"{_remedy(wrong, known)}")
        return function(*arguments, **keywords)

    return cast(F, checked)


def hinted_class(cls: C) -> C:
    """Let a class name the nearest keyword of its constructor; see `hinted`."""
    cls.__init__ = hinted(cls.__init__)  # type: ignore[misc]
    return cls


def _remedy(wrong, known):
    word = OTHERS.get(wrong, wrong)
    if word in known and word != wrong:
        return f". Did you mean {word!r}?"
    if "calls" in known and word in GROUPS:
        return f": pass {GROUPS[word]}"
    close = get_close_matches(wrong, known, 1)
    return f". Did you mean {close[0]!r}?" if close else ""
