"""Rules of the public interface: words, order of arguments, signatures, results, errors."""

import copy
import dataclasses
import importlib
import inspect
import pickle

import pytest

import pybandit as pb

MODULES = [name for name in pb.__all__ if inspect.ismodule(getattr(pb, name))]
OPTIONAL = ["model_selection", "numba"]
OLD_WORDS = {
    "n_models", "n_estimators", "n_tasks", "sigma", "variances", "sd", "tolerance", "alpha",
    "offsets", "seed", "horizon", "max_evaluations", "max_comparisons", "budget_cost", "paid",
    "setting", "constants", "policy_factory", "population", "replace", "per_batch"}
# exceptions: words of scikit-learn, and symbols of a model
OTHER_WORDS = {"BanditSearchCV", "CIRCaplet"}
BY_NAME = {"rng", "delta", "budget", "max_pulls", "progress", "n_threads", "noise_std"}
# functions of numbers, and environments that only have means and noise
BY_POSITION = {
    "combine_estimators", "b_normal", "boundary", "kl_variance", "empirical_bernstein_serfling",
    "GaussianBandit", "UniformBandit", "TruncatedNormalBandit", "Environment",
    "FunctionEnvironment"}


def public():
    """Return every public callable once, sorted by name."""
    modules = [pb, *(importlib.import_module(f"pybandit.{name}") for name in MODULES + OPTIONAL)]
    found = {id(one): one for module in modules for name in getattr(module, "__all__", ())
             if callable(one := getattr(module, name))}
    return sorted(found.values(), key=lambda one: one.__name__)


def is_error(one):
    return inspect.isclass(one) and issubclass(one, BaseException)


CALLABLES = [one for one in public() if not is_error(one)]
POLICIES = [getattr(pb.policies, name) for name in pb.policies.__all__]
RECORDS = [one for one in CALLABLES if inspect.isclass(one)
           and (issubclass(one, tuple) or dataclasses.is_dataclass(one))]
each = pytest.mark.parametrize("one", CALLABLES, ids=lambda one: one.__name__)


def parameters(one):
    return list(inspect.signature(one).parameters.values())


def test_top_level_has_few_names():
    names = [name for name in pb.__all__ if name not in MODULES]
    assert len(names) <= 22 and len(MODULES) == 18
    assert {*pb.policies.__all__} & {*pb.__all__} == {"Policy"}
    assert {*OPTIONAL, "embedding", "integrations"} <= {*dir(pb)} - {*pb.__all__}


@each
def test_signature_is_readable_and_short(one):
    own = parameters(one)
    assert all(parameter.name.isidentifier() for parameter in own)
    is_made_by_us = dataclasses.is_dataclass(one) and not hasattr(one, "__post_init__")
    assert len(own) <= 14 or is_made_by_us


@each
def test_parameters_have_the_words_of_the_interface(one):
    if one.__name__ not in OTHER_WORDS:
        assert not {parameter.name for parameter in parameters(one)} & OLD_WORDS


@each
def test_options_are_given_by_name(one):
    for parameter in parameters(one):
        if parameter.name in BY_NAME and one.__name__ not in BY_POSITION:
            assert parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.__name__)
def test_policies_take_arms_and_k_by_position(policy):
    positional = [one.name for one in parameters(policy) if one.kind == one.POSITIONAL_OR_KEYWORD]
    assert positional in (["n_arms"], ["n_arms", "k"])


@pytest.mark.parametrize("name", [
    "Uniform", "UCB1", "ThompsonSampling", "SequentialHalving", "TopTwo"])
def test_second_positional_number_is_rejected(name):
    with pytest.raises(TypeError, match="positional argument"):
        getattr(pb.policies, name)(20, 600)


def test_records_are_frozen_and_only_pairs_are_tuples():
    pairs = {one.__name__ for one in RECORDS if issubclass(one, tuple)}
    assert pairs == {"ConfidenceBounds", "Layout"}
    records = [one for one in RECORDS if dataclasses.is_dataclass(one)]
    assert len(records) > 20
    assert all(one.__dataclass_params__.frozen for one in records)


@pytest.mark.parametrize("name", pb.errors.__all__)
def test_errors_have_one_module_and_one_base(name):
    one = getattr(pb.errors, name)
    assert issubclass(one, (pb.errors.PybanditError, pb.errors.PybanditWarning))
    assert name.endswith(("Error", "Warning")) and one.__module__ == "pybandit.errors"
    assert pickle.loads(pickle.dumps(one)) is one and copy.copy(one) is one
