"""Hints for keywords that a function does not have."""

import functools
import inspect
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, TypeVar

T = TypeVar("T", bound=Callable[..., Any])

# Keywords of other libraries, and of earlier versions, mapped to the keyword used here.
OTHERS = {
    "alpha": "delta", "confidence": "delta", "horizon": "max_pulls", "max_evaluations": "max_pulls",
    "max_retries": "retry", "n_items": "items", "n_models": "models", "names": "models",
    "paid": "store", "population": "population_size", "random_state": "rng", "retries": "retry",
    "seed": "rng", "sigma": "noise_std", "std": "noise_std", "tolerance": "epsilon"}


def hinted(**groups: type) -> Callable[[T], T]:
    """Decorate a function or class so that its error for an unknown keyword suggests the right one.

    `groups` maps parameters to the classes of their options: for ``retry=3`` passed to `best_of`,
    the error suggests ``calls=Calls(retry=...)``.
    """

    def decorate(thing: T) -> T:
        if not isinstance(thing, type):
            return _checked(thing, thing.__qualname__, groups)
        thing.__init__ = _checked(thing.__init__, thing.__qualname__, groups)
        return thing

    return decorate


def _checked(function, title, groups):
    known = dict(inspect.signature(function).parameters)
    takes_any = any(one.kind is one.VAR_KEYWORD for one in known.values())

    @functools.wraps(function)
    def checked(*arguments, **keywords):
        if not (takes_any or keywords.keys() <= known.keys()):
            wrong = next(name for name in keywords if name not in known)
            raise TypeError(f"{title}() got an unexpected keyword argument {wrong!r}"
                            f"{_remedy(wrong, known, groups)}")
        return function(*arguments, **keywords)

    return checked


def _remedy(wrong, known, groups):
    word = OTHERS.get(wrong, wrong)
    if word in known:
        return f". Did you mean {word!r}?"
    for name, group in groups.items():
        if word in inspect.signature(group).parameters:
            return f": pass {name}={group.__name__}({word}=...)"
    close = get_close_matches(wrong, known, 1)
    return f". Did you mean {close[0]!r}?" if close else ""
