"""All public classes and functions, for tests that must cover each of them."""

import dataclasses
import importlib
import inspect
import pkgutil

import pybandit as pb


def public_modules():
    """Return the modules in which users find public names, including modules in `__all__`."""
    modules = [pb] + [importlib.import_module(f"pybandit.{found.name}")
                      for found in pkgutil.iter_modules(pb.__path__) if found.name[0] != "_"]
    modules += [one for module in modules for name in getattr(module, "__all__", ())
                if inspect.ismodule(one := getattr(module, name))]
    return list(dict.fromkeys(modules))


MODULES = public_modules()


def public(kind):
    """Return all public objects of a kind by name."""
    found = {name: getattr(module, name) for module in MODULES
             for name in getattr(module, "__all__", ())}
    return {name: one for name, one in found.items() if kind(one)}


def is_class(one):
    return isinstance(one, type) and not issubclass(one, BaseException)


# compiled records, whose attributes are read-only
RECORDS = {"AcceptResult", "DrawInfo", "RaceResult"}


def never_changes(cls):
    """Return True if instances are tuples, frozen dataclasses or compiled records."""
    return issubclass(cls, tuple) or cls.__name__ in RECORDS or (
        dataclasses.is_dataclass(cls) and cls.__dataclass_params__.frozen)


CLASSES = public(is_class)
CHANGING = {name: one for name, one in CLASSES.items() if not never_changes(one)}
FUNCTIONS = public(lambda one: callable(one) and not isinstance(one, type))


def methods_of(cls):
    """Return the names of the public methods of a class."""
    return {name for name in dir(cls)
            if not name.startswith("_") and callable(getattr(cls, name, None))}
