"""Every example of a docstring prints what it says, of compiled modules too."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import pybandit as pb

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def modules():
    yield pb
    for found in pkgutil.walk_packages(pb.__path__, "pybandit."):
        if found.name != "pybandit.__main__":
            yield importlib.import_module(found.name)


def docstrings(module):
    """Names and docstrings of a module, and of what it defines; doctest overlooks Cython's."""
    yield module.__name__, module.__doc__
    for name, value in vars(module).items():
        if getattr(value, "__module__", None) != module.__name__:
            continue
        yield f"{module.__name__}.{name}", value.__doc__
        if inspect.isclass(value):
            for key, member in vars(value).items():
                yield f"{module.__name__}.{name}.{key}", getattr(member, "__doc__", None)


EXAMPLES = {name: text for module in modules() for name, text in docstrings(module)
            if isinstance(text, str) and ">>>" in text}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_prints_what_it_says(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = doctest.DocTestParser().get_doctest(EXAMPLES[name], {}, name, None, 0)
    said = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(example, out=said.append, clear_globs=False)
    assert not said, "".join(said)


def test_examples_of_compiled_modules_are_found():
    assert {"pybandit.racing.sampler.RacingSampler", "pybandit.policies.batch_sar.BatchSAR",
            "pybandit.model_selection.search.BanditSearchCV"} <= set(EXAMPLES)


# What no call changes, or says at length who may share it.
SHARED = {"ExactMinibatch", "GLMControl", "PairwiseTable", "PopulationMoments", "RacingGibbs",
          "RacingMetropolis", "TaylorControl"}


def changing_classes():
    """Public classes that calls change: not results, bounds, and what else is frozen."""
    for module in (pb, pb.environments, pb.estimators, pb.mcmc):
        for name in module.__all__:
            one = getattr(module, name)
            frozen = getattr(getattr(one, "__dataclass_params__", None), "frozen", False)
            if not inspect.isclass(one) or frozen or issubclass(one, (tuple, Exception)):
                continue
            draws = issubclass(one, pb.environments.Environment) and "reset" not in vars(one)
            if name not in SHARED and (not draws or one is pb.environments.Environment):
                yield name, one


def test_classes_that_calls_change_say_what_threads_may_do():
    classes = dict(changing_classes())
    assert len(classes) > 35 and {"UCB1", "BettingRace", "RacingSampler"} < set(classes)
    for name, one in classes.items():
        notes = " ".join(one.__doc__.partition("Notes\n")[2].split())
        if name == "Study":
            assert "Several processes and threads may use one study at once" in one.__doc__
        else:
            assert "**Threads.**" in notes and "RuntimeError" in notes, name
