"""Objects whose __init__ was not called, or called twice, raise a clear error on any use.

Memory is allocated in __init__, which knows its size; until it ends, no method may run.
"""

import importlib
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import pybandit as pb

FOLDERS = {
    "policies.protocol": "_statistics policy base _ring _index functions",
    "policies.budget": "_heap _staged gap ugap halving variance_halving rejects",
    "policies.batch": "_batch batch batch_racing batch_sar",
    "policies.correlated": "_gaussian bayes_gap gaussian_thompson improvement gaussian_upper",
    "policies.regret": "index thompson",
    "policies.confidence": "top_two",
    "simulation": "base environments observed costly _engine _truncated_normal functions",
    "montecarlo": "allocation estimators",
}
ROOMS = [f"{folder}.{name}" for folder, names in FOLDERS.items() for name in names.split()]


def compiled_classes():
    found = {}
    for room in ROOMS:
        module = importlib.import_module(f"pybandit.{room}")
        found |= {f"{room}.{name}": cls for name, cls in vars(module).items()
                  if isinstance(cls, type) and cls.__module__ == module.__name__
                  and "__pyx_vtable__" in vars(cls)}
    return found


CLASSES = compiled_classes()
PUBLIC = {name: cls for name, cls in CLASSES.items()
          if issubclass(cls, (pb.Policy, pb.environments.Environment))}
ARGUMENTS = [(), (None,), (3,), ([0, 1], [0.5, 0.5]), ({},), ([0], None), (np.zeros(3),),
             ({"chosen": 0, "ring": [0], "scales": [1.0]},), (np.random.default_rng(1),),
             ([0], [0.5], "drop"), (2, [[1.0, 2.0]], 1.0)]

WALK = textwrap.dedent("""
    import faulthandler, sys, warnings
    faulthandler.enable()
    warnings.simplefilter("ignore")
    sys.path[:0] = {path!r}
    from policies.test_unmade import ARGUMENTS, CLASSES
    n = 0
    for name, cls in CLASSES.items():
        makers = [lambda: cls.__new__(cls)]
        try:
            makers.append(type("Forgets", (cls,), {{"__init__": lambda self: None}}))
        except TypeError:
            pass  # the class cannot be subclassed
        for make in makers:
            for attribute in dir(cls):
                for arguments in [None, *ARGUMENTS]:
                    if attribute in ("__init_subclass__", "__subclasshook__", "__init__"):
                        continue
                    print(name, attribute, arguments, file=sys.stderr)
                    try:
                        value = getattr(make(), attribute)
                        if arguments is not None and callable(value):
                            value(*arguments)
                    except Exception:
                        pass
                    n += 1
    print(n)
""")


def test_uninitialised_objects_do_not_crash():
    assert len(CLASSES) > 40
    done = subprocess.run([sys.executable, "-c", WALK.format(path=sys.path)], text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 10_000


@pytest.mark.parametrize("name", PUBLIC)
def test_uninitialised_objects_raise_clear_errors(name):
    cls = PUBLIC[name]

    class Forgets(cls):
        def __init__(self):
            pass

    names = {"pulls", "means", "variances"} if issubclass(cls, pb.Policy) else {
        "means", "variances", "costs", "best"}
    for unmade in cls.__new__(cls), Forgets():
        assert "__init__ was not called" in repr(unmade)
        for attribute in names:
            with pytest.raises(RuntimeError, match="cannot be used: its __init__ was not called"):
                value = getattr(unmade, attribute)
                value(1)
        calls = {"tell": ([0], [0.5]), "add_late": ([0], [0.5]), "ask": (), "get_state": ()}
        for call in calls if issubclass(cls, pb.Policy) else []:
            with pytest.raises((RuntimeError, NotImplementedError, AttributeError)):
                getattr(unmade, call)(*calls[call])


def test_second_init_is_refused_and_changes_nothing():
    policy = pb.policies.BatchRacing(5, 2, batch_size=5)
    policy.tell(policy.ask(), np.zeros(5))
    for again in (lambda: policy.__init__(5, 2), lambda: pb.Policy.__init__(policy, 3)):
        with pytest.raises(RuntimeError, match="already initialised: __init__ cannot be called"):
            again()
    assert policy.n_pulls == 5 and policy.ask().size == 5
    bandit = pb.environments.BinomialBandit([0.5, 0.25], trials=3)
    with pytest.raises(RuntimeError, match="already initialised"):
        bandit.__init__([0.5], trials=4)
    assert bandit.trials == 3 and bandit.means.tolist() == [0.5, 0.25]


def test_failed_init_leaves_an_unusable_object():
    policy = pb.policies.UCB1.__new__(pb.policies.UCB1)
    with pytest.raises(ValueError, match="exploration"):
        policy.__init__(3, exploration=-1.0)
    for call in (policy.ask, lambda: policy.pulls, lambda: policy.__init__(3)):
        with pytest.raises(RuntimeError, match="did not finish|already initialised"):
            call()


def test_init_of_a_base_class_does_not_initialise_the_object():
    policy = pb.policies.KLUCB.__new__(pb.policies.KLUCB)
    pb.Policy.__init__(policy, 3)
    with pytest.raises(RuntimeError, match="cannot be used"):
        policy.ask()
