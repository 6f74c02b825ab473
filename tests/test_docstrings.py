"""Every example of a docstring prints what it says, of compiled modules too."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import pybandit as pb
from public_classes import CHANGING, CLASSES

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


# What no call changes: threads may share it.
SHARED = {"BernoulliBandit", "BinomialBandit", "CIRCaplet", "CostlyBandit", "EmpiricalBandit",
          "ExactMinibatch", "GLMControl", "GaussianBandit", "LogisticEvidence", "PairwiseTable",
          "PopulationMoments", "RacingGibbs", "RacingMetropolis", "ScaledBernoulliBandit",
          "TaylorControl", "TruncatedNormalBandit", "UniformBandit"}


# in words of their own
OWN_WORDS = {"Study": "Several processes and threads may use one study at once",
             "Blocks": "Several threads may read; they take turns",
             "BanditSearchCV": "Threads may fit one search at once"}


def test_every_class_says_what_threads_may_do():
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
