"""Docstrings: every public name has an example, all examples print the shown output, and the
sections of numpydoc exist and describe the parameters; compiled modules included."""

import ast
import doctest
import importlib
import inspect
import pkgutil
from itertools import pairwise
from pathlib import Path

import pytest

import pybandit as pb
from public_classes import CHANGING, CLASSES, MODULES

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def modules():
    yield pb
    for found in pkgutil.walk_packages(pb.__path__, "pybandit."):
        if found.name != "pybandit.__main__":
            yield importlib.import_module(found.name)


def docstrings(module):
    """Yield the docstrings of a module and its objects; doctest overlooks those of Cython."""
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
def test_example_prints_the_shown_output(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = doctest.DocTestParser().get_doctest(EXAMPLES[name], {}, name, None, 0)
    said = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(example, out=said.append, clear_globs=False)
    assert not said, "".join(said)


def test_examples_of_compiled_modules_are_found():
    assert {"pybandit.racing.sampler.RacingSampler", "pybandit.policies.batch.batch_sar.BatchSAR",
            "pybandit.model_selection.search.BanditSearchCV"} <= set(EXAMPLES)


# sections, in the required order
SECTIONS = ("Parameters", "Attributes", "Returns", "Yields", "Raises", "See Also", "Notes",
            "References", "Examples")


def public_names():
    """Yield names and objects that users find in public modules."""
    for module in MODULES:
        if hasattr(module, "__all__"):
            yield module.__name__, module
        for name in getattr(module, "__all__", ()):
            one = getattr(module, name)
            # factor_signature of pybandit.numba is an object of numba; the module has the example
            if callable(one) and one.__module__.startswith("pybandit") or inspect.ismodule(one):
                yield f"{module.__name__}.{name}", one


PUBLIC = dict(public_names())
CALLED = {name: one for name, one in PUBLIC.items() if callable(one)}


def sections_of(text):
    """Return the sections of a docstring with their lines, in order."""
    lines, found, name = inspect.cleandoc(text).splitlines(), {}, ""
    for line, below in pairwise([*lines, ""]):
        if line and below == "-" * len(line):
            found[name := line] = []
        elif name and line != "-" * len(name):
            found[name].append(line)
    return found


def described(lines):
    """Return the names that a section describes, such as both of "n_arms, k : int"."""
    heads = [line.split(" : ")[0] for line in lines if line and line[0] != " "]
    return {name.strip(" *") for head in heads for name in head.split(",")}


def parameters_of(one):
    """Return the names of the parameters of a callable."""
    if inspect.isclass(one) and issubclass(one, BaseException):
        return set()
    return {name for name in inspect.signature(one).parameters if name != "self"}


def is_made_by_others(one):
    """Return True for results and errors, which users do not create."""
    return inspect.isclass(one) and (issubclass(one, (tuple, Exception))
                                     or "Parameters" not in sections_of(one.__doc__)
                                     and "Attributes" in sections_of(one.__doc__))


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_an_example(name):
    assert len(PUBLIC) > 170
    assert ">>>" in "\n".join(sections_of(PUBLIC[name].__doc__).get("Examples", ()))


@pytest.mark.parametrize("name", CALLED)
def test_sections_describe_parameters_and_results(name):
    one = CALLED[name]
    sections = sections_of(one.__doc__)
    assert list(sections) == sorted(sections, key=SECTIONS.index)
    if not inspect.isclass(one):
        assert {"Returns", "Yields"} & set(sections)
    if not is_made_by_others(one):
        assert described(sections.get("Parameters", ())) == parameters_of(one)
        assert not parameters_of(one) or "Raises" in sections


def stubs_of_compiled_classes():
    """Yield the constructor in the stub of each compiled class that has only one."""
    for path in Path(pb.__file__).parent.rglob("*.pyi"):
        for node in ast.parse(path.read_text()).body:
            makes = [part for part in getattr(node, "body", ())
                     if getattr(part, "name", "") in ("__init__", "__new__")]
            if len(makes) == 1:
                yield node.name, makes[0].args


STUBS = dict(stubs_of_compiled_classes())


@pytest.mark.parametrize("name", [name for name, one in CALLED.items()
                                  if inspect.isclass(one) and one.__name__ in STUBS])
def test_signatures_of_compiled_classes_equal_their_stubs(name):
    assert len(STUBS) > 50
    given = inspect.signature(CALLED[name]).parameters.values()
    wanted = STUBS[CALLED[name].__name__]
    by_name = [one.name for one in given if one.kind is one.KEYWORD_ONLY]
    assert [one.name for one in given if one.kind is one.POSITIONAL_OR_KEYWORD] == [
        a.arg for a in wanted.args[1:]]
    assert by_name == [a.arg for a in wanted.kwonlyargs]


# Classes that no call changes, so that threads may share objects.
SHARED = {"BernoulliBandit", "Betting", "BinomialBandit", "CIRCaplet", "CostlyBandit",
          "EmpiricalBandit", "ExactMinibatch", "Factor", "FunctionEnvironment", "GLMControl",
          "GLR", "GaussianBandit", "LogisticEvidence", "PairwiseTable", "PopulationMoments",
          "RacingGibbs", "RacingMetropolis", "ScaledBernoulliBandit", "TaylorControl",
          "TruncatedNormalBandit", "UniformBandit"}


# classes that describe threads in other words
OWN_WORDS = {"Study": "Several processes and threads may use one study at once",
             "Screen": "several processes and threads may use one screen at once",
             "WebTest": "several processes and threads may use one test at once",
             "Metrics": "Several processes and threads may use one test at once",
             "Blocks": "Several threads may read; they take turns",
             "BanditSearchCV": "Threads may fit one search at once",
             "KMedoids": "Threads may fit one estimator at once",
             "RaceStopping": "**Threads.** Use it only in the event loop"}


def test_every_class_documents_its_use_by_threads():
    assert len(CHANGING) > 60 and {"UCB1", "BettingRace", "RacingSampler"} < set(CHANGING)
    for name, one in CLASSES.items():
        words = " ".join(one.__doc__.split())
        notes = words.partition("Notes ---")[2]
        if name in OWN_WORDS:
            assert OWN_WORDS[name] in words
        elif name in SHARED or name not in CHANGING:
            assert "threads may share it" in words, name
        else:
            assert "**Threads.**" in notes and "RuntimeError" in notes, name
