"""Every public class and function, for tests that must forget none of them."""

import dataclasses

import pybandit as pb
from pybandit import mcmc, model_selection, studies

MODULES = (pb, pb.environments, pb.estimators, pb.factors, pb.tables, mcmc, model_selection,
           studies)


def public(kind):
    """Name and object of all that is public and of this kind."""
    found = {name: getattr(module, name) for module in MODULES for name in module.__all__}
    return {name: one for name, one in found.items() if kind(one)}


def is_class(one):
    return isinstance(one, type) and not issubclass(one, BaseException)


def never_changes(cls):
    """Whether its objects are tuples or frozen."""
    return issubclass(cls, tuple) or (
        dataclasses.is_dataclass(cls) and cls.__dataclass_params__.frozen)


CLASSES = public(is_class)
CHANGING = {name: one for name, one in CLASSES.items() if not never_changes(one)}
FUNCTIONS = public(lambda one: callable(one) and not isinstance(one, type))


def methods_of(cls):
    """The names of its public methods."""
    return {name for name in dir(cls)
            if not name.startswith("_") and callable(getattr(cls, name, None))}
