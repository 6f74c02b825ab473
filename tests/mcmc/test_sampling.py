"""Runs of many chains: threads, initial values, errors, interrupts, ArviZ."""

import os
import signal
import subprocess
import sys
import threading
import time
import types

import numpy as np
import pytest

import pybandit as pb
from pybandit import mcmc

from mcmc.reference.chains import Potts
from mcmc.samplers import gibbs, normal_sampler

pytest.importorskip("xarray")


@pytest.mark.parametrize("kind", ["gibbs", "metropolis"])
def test_chains_do_not_depend_on_threads(kind):
    if kind == "gibbs":
        sampler, initial = gibbs(Potts(1, 200, 1.0, 0.5)), None
    else:
        sampler = normal_sampler(np.random.default_rng(1).normal(0.7, 1.0, 400))
        initial = [0.7]
    trees = [sampler.sample(40, n_warmup=20, n_chains=5, initial=initial, rng=4, n_threads=n)
             for n in (1, 2, 5)]
    assert trees[0].identical(trees[1]) and trees[0].identical(trees[2])
    x = trees[0]["posterior"]["x"].to_numpy()
    assert len({chain.tobytes() for chain in x}) == 5
    other = sampler.sample(40, n_warmup=20, n_chains=5, initial=initial, rng=5)
    assert not np.array_equal(other["posterior"]["x"], x)
    fewer = sampler.sample(40, n_warmup=20, n_chains=2, initial=initial,
                           rng=np.random.SeedSequence(4))
    assert np.array_equal(fewer["posterior"]["x"], x[:2])


def test_initial_values_and_thinning_are_used():
    frozen = mcmc.RacingMetropolis(lambda n, points: np.zeros((len(n), 2)), 10, 2,
                                   log_prior=lambda x: 0.0 if x[0] in (1.0, 3.0) else -np.inf)
    tree = frozen.sample(5, n_warmup=4, n_chains=2, initial=[[1.0, 2.0], [3.0, 4.0]], rng=1)
    assert (tree["posterior"]["x"] == np.array([[[1, 2]], [[3, 4]]])).all()
    assert not tree["sample_stats"]["accepted"].any()
    assert not tree["sample_stats"]["n_evaluations"].any()
    sampler = normal_sampler(np.random.default_rng(1).normal(0.7, 1.0, 400), adapt=False)
    run = dict(n_warmup=10, n_chains=2, initial=[0.7], rng=3)
    every, third = sampler.sample(30, **run), sampler.sample(10, thin=3, **run)
    assert np.array_equal(every["posterior"]["x"][:, 2::3], third["posterior"]["x"])
    for name in ("n_evaluations", "n_looks", "n_exact"):
        assert np.array_equal(every["sample_stats"][name].to_numpy().reshape(2, 10, 3).sum(axis=2),
                              third["sample_stats"][name])
    for name in ("accepted", "fraction"):
        assert np.allclose(every["sample_stats"][name].to_numpy().reshape(2, 10, 3).mean(axis=2),
                           third["sample_stats"][name])
    assert third.attrs["thinning"] == 3 and third.attrs["sampler"] == "RacingMetropolis"


@pytest.mark.parametrize("threads", [1, 2])
def test_exceptions_of_functions_are_propagated(threads):
    error = KeyError("mine")

    def conditional(variable, values):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 1
        raise error

    with pytest.raises(KeyError) as caught:
        mcmc.RacingGibbs(conditional, 3).sample(100, n_threads=threads, rng=1)
    assert caught.value is error

    def log_likelihood(indices, points):
        raise error

    with pytest.raises(KeyError) as caught:
        mcmc.RacingMetropolis(log_likelihood, 100, 3).sample(100, n_threads=threads, rng=1)
    assert caught.value is error


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
@pytest.mark.parametrize("threads", [1, 2])
def test_interrupt_stops_all_chains(threads):
    calls = []

    def conditional(variable, values):
        calls.append(variable)
        return np.zeros((5, 2))

    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        mcmc.RacingGibbs(conditional, 3).sample(100_000, n_warmup=0, n_threads=threads, rng=1)
    assert time.perf_counter() - start < 5.0
    timer.join()
    done = len(calls)
    time.sleep(0.1)
    assert len(calls) == done


def conditional(variable, values):
    return np.zeros((5, 2))


def log_likelihood(indices, points):
    return np.zeros((len(indices), 2))


PAIR = mcmc.PairwiseTable(np.eye(3), [[1], [0]])


@pytest.mark.parametrize("model, states, options", [
    (3, 3, dict(bound=pb.racing.BettingBound(value_range=(-5.0, -0.1)))),
    (3, 3, dict(bound=pb.racing.BettingBound(delta=0.05, value_range=(-5.0, -0.1)))),
    (3, 3, dict(bound=pb.racing.EBSBound(value_range=[1.0, 1.0, 1.0]))),
    (3, 3,
     dict(bound=pb.racing.EBSBound(delta=0.05, value_range=(1.0, 1.0, 1.0)),
          looks=pb.racing.Looks(variance="marginal"))),
    (2, 1, dict(bound=pb.racing.EBSBound(value_range=[1.0]))),
    (PAIR, 3, dict(bound=pb.racing.EBSBound(value_range=np.ones(3)))),
    (PAIR, 3, dict(bound=pb.racing.BettingBound(value_range=(0.0, 1.0)))),
])
def test_options_are_checked_against_the_number_of_states(model, states, options):
    """Options are checked against the number of states of the model."""
    if model is PAIR:
        sampler = mcmc.RacingGibbs(PAIR, **options)
    else:
        factors = np.full((100, states), -1.0)
        sampler = mcmc.RacingGibbs(lambda v, x: factors, model, **options)
    assert sampler.sample(3, n_warmup=0, n_chains=1, rng=1)["posterior"]["x"].shape[0] == 1


@pytest.mark.parametrize("options, words", [
    (lambda: dict(bound=pb.racing.EBSBound(value_range=[1.0, 1.0])), "D = 3; got 2 values"),
    (lambda: dict(bound=pb.racing.EBSBound(delta=0.05, value_range=(1.0, 1.0))),
     "D = 3; got 2 values"),
    (lambda: dict(bound=pb.racing.EBSBound(value_range=())), "value_range"),
    (lambda: dict(bound=pb.racing.EBSBound(value_range=None)), "value_range"),
    (lambda: dict(bound=pb.racing.BettingBound(value_range=None)), "value_range"),
    (lambda: dict(bound=pb.racing.BettingBound(value_range=(1.0, 0.0))), "value_range"),
    (lambda: dict(bound=pb.racing.BettingBound(value_range=(0.0, 1.0)),
          looks=pb.racing.Looks(variance="marginal")), "variance"),
    (lambda: dict(bound=pb.racing.EBSBound(value_range=None, difference_range=1.0),
          looks=pb.racing.Looks(variance="marginal")),
     "value_range"),
    (dict(bound="ebs"), "bound .*EBSBound"),
    (dict(bound="best"), "bound"),
    (dict(delta=0.0), "delta"),
    (dict(delta=[0.1]), "delta"),
    (lambda: dict(looks=pb.racing.Looks(variance="both")), "variance"),
    (lambda: dict(looks=pb.racing.Looks(first=0)), "first"),
    (lambda: dict(looks=pb.racing.Looks(max_fraction=0.0)), "max_fraction"),
    (lambda: dict(looks=pb.racing.Looks(indices="random")), "indices"),
])
@pytest.mark.parametrize("method", ["race", "exact", "poisson"])
def test_invalid_options_raise_at_once(options, words, method):
    with pytest.raises(ValueError, match=words):
        mcmc.RacingGibbs(PAIR, method=method, **(options() if callable(options) else options))


@pytest.mark.parametrize("prior, words", [
    ([0.0, np.nan, 0.0], "log prior .* not NaN; got nan at index 1"),
    ([0.0, 0.0, np.inf], r"log prior .* below \+inf .*; got inf at index 2"),
    ([-np.inf] * 3, "log prior .* at least one state"),
    ([0.0] * 2, r"log prior .* must have shape \(D,\) = \(3,\)"),
    (["a", "b", "c"], "log prior"),
])
@pytest.mark.parametrize("method", ["race", "exact"])
def test_invalid_log_priors_raise(prior, words, method):
    factors = np.random.default_rng(0).normal(size=(20, 3))
    sampler = mcmc.RacingGibbs(lambda v, x: (factors, prior), 1, method=method)
    with pytest.raises((ValueError, TypeError), match=words):
        sampler.sample(3, n_warmup=0, n_chains=1, rng=1)


@pytest.mark.parametrize("make, kind, words", [
    (lambda: mcmc.RacingGibbs(None, 2), TypeError, "conditional"),
    (lambda: mcmc.RacingGibbs(conditional, 0), ValueError, "n_variables"),
    (lambda: mcmc.RacingGibbs(conditional, 2, order="reverse"), ValueError, "order"),
    (lambda: mcmc.RacingGibbs(conditional, 2, delta=2.0), ValueError, "delta"),
    (lambda: mcmc.RacingGibbs(conditional, 2, labels=["a"]), ValueError, "labels"),
    (lambda: mcmc.RacingGibbs(conditional, 2, name="draw"), ValueError, "name"),
    (lambda: mcmc.RacingMetropolis(), ValueError, "log_likelihood and factors"),
    (lambda: mcmc.RacingMetropolis(log_likelihood, 5), TypeError, "n_parameters"),
    (lambda: mcmc.RacingMetropolis(log_likelihood, None, 5), TypeError, "n_factors"),
    (lambda: mcmc.RacingMetropolis(3, 5, 1), TypeError, "log_likelihood"),
    (lambda: mcmc.RacingMetropolis(log_likelihood, 5, 1, log_prior=3), TypeError, "log_prior"),
    (lambda: mcmc.RacingMetropolis(log_likelihood, 500, 1, delta=0.6), ValueError, "delta"),
    (lambda: mcmc.RacingGibbs(PAIR, looks=50), TypeError, "looks must be .*Looks or None; got 50"),
    (lambda: mcmc.RacingGibbs(PAIR, bound=pb.racing.BettingBound(value_range="control")),
     ValueError, "value_range must be .*; got 'control'"),
    (lambda: mcmc.RacingMetropolis(log_likelihood, 5, 1, looks=50), TypeError, "looks must be"),
    (lambda: mcmc.RacingMetropolis(log_likelihood, 5, 1, looks=pb.racing.Looks(
        variance="marginal")), ValueError, "looks must leave variance at 'pairwise'"),
    (lambda: mcmc.RacingMetropolis(log_likelihood, 5, 1, proposal=0.1), TypeError, "proposal"),
    (lambda: mcmc.RacingMetropolis(log_likelihood, 5, 1, control=0.1), TypeError, "control"),
    (lambda: mcmc.RacingMetropolis(
        log_likelihood, 5, 1, control=mcmc.TaylorControl([0.0], np.ones((4, 1)))), ValueError,
     "control must have 5 factors"),
    (lambda: mcmc.RandomWalk(-1.0), ValueError, "scale"),
    (lambda: mcmc.RandomWalk([[1.0, 1.0], [0.0, 1.0]]), ValueError, "triangular"),
    (lambda: mcmc.RandomWalk(np.ones((2, 3))), ValueError, "Cholesky"),
    (lambda: mcmc.RandomWalk(1.0, target=1.0), ValueError, "target"),
    (lambda: mcmc.SGLD(None, 0.1, 5), TypeError, "gradient"),
    (lambda: mcmc.SGLD(len, 0.0, 5), ValueError, "step_size"),
    (lambda: mcmc.SGLD(len, 0.1, 0), ValueError, "batch_size"),
    (lambda: mcmc.TaylorControl([0.0], np.ones((4, 2))), ValueError, "gradients"),
    (lambda: mcmc.TaylorControl([0.0], np.ones((4, 1)), np.ones((4, 1))), ValueError, "hessians"),
    (lambda: mcmc.GLMControl(np.ones((4, 1)), np.ones(3), np.ones(4), [0.0]), ValueError,
     "slopes"),
    (lambda: mcmc.GLMControl(np.ones((4, 1)), np.ones(4), np.full(4, np.nan), [0.0]), ValueError,
     "curvatures"),
])
def test_invalid_arguments_raise_at_once(make, kind, words):
    with pytest.raises(kind, match=words):
        make()


@pytest.mark.parametrize("sampler, options, kind, words", [
    (mcmc.RacingGibbs(conditional, 2), dict(initial=[0]), ValueError, "initial"),
    (mcmc.RacingGibbs(conditional, 2), dict(initial=[0.5, 1]), ValueError, "initial"),
    (mcmc.RacingGibbs(conditional, 2), dict(n_chains=0), ValueError, "n_chains"),
    (mcmc.RacingGibbs(conditional, 2), dict(n_threads=0), ValueError, "n_threads"),
    (mcmc.RacingGibbs(conditional, 2), dict(thin=0), ValueError, "thin"),
    (mcmc.RacingGibbs(conditional, 2), dict(rng="a"), TypeError, "rng"),
    (mcmc.RacingGibbs(lambda v, x: np.zeros(3), 2), {}, ValueError, "conditional must return"),
    (mcmc.RacingGibbs(lambda v, x: (np.zeros((3, 2)), np.zeros(4)), 2), {}, ValueError,
     "log prior .* must have shape"),
    (mcmc.RacingGibbs(lambda v, x: np.full((3, 2), np.nan), 2), {}, ValueError, "finite"),
    (mcmc.RacingMetropolis(lambda n, x: np.zeros(len(n)), 9, 2), {}, ValueError,
     r"log_likelihood must return shape \(n, 2\)"),
    (mcmc.RacingMetropolis(log_likelihood, 9, 2, log_prior=lambda x: np.nan), {}, ValueError,
     "log_prior"),
    (mcmc.RacingMetropolis(log_likelihood, 9, 2, log_prior=lambda x: -np.inf), {}, ValueError,
     "initial"),
    (mcmc.RacingMetropolis(log_likelihood, 9, 2, proposal=mcmc.RandomWalk(np.ones(3))), {},
     ValueError, "scale must be for 2"),
    (mcmc.RacingMetropolis(log_likelihood, 9, 2, proposal=mcmc.SGLD(lambda n, x: 1.0, 0.1, 3)),
     {}, ValueError, "gradient must return"),
    (mcmc.RacingMetropolis(n_parameters=2, factors=lambda points: 3), {}, TypeError, "n_states"),
])
def test_invalid_arguments_of_sample_raise(sampler, options, kind, words):
    with pytest.raises(kind, match=words):
        sampler.sample(3, **(dict(n_warmup=2) | options))


def test_to_arviz_converts_a_tree():
    arviz = pytest.importorskip("arviz")
    tree = mcmc.RacingGibbs(PAIR).sample(5, n_warmup=0, n_chains=2, rng=1)
    data = mcmc.to_arviz(tree)
    if arviz.__version__.startswith("0."):
        assert isinstance(data, arviz.InferenceData)
        assert set(data.groups()) == {"posterior", "sample_stats"} and data.attrs == tree.attrs
    else:
        assert data is tree
    assert np.array_equal(data["posterior"]["x"], tree["posterior"]["x"])


@pytest.mark.parametrize("version", ["0.23.4", "1.0.0"])
def test_to_arviz_follows_the_installed_version(version, monkeypatch):
    made = types.SimpleNamespace(
        __version__=version, InferenceData=lambda attrs, **groups: (attrs, list(groups)))
    monkeypatch.setitem(sys.modules, "arviz", made)
    tree = mcmc.RacingGibbs(PAIR).sample(5, n_warmup=0, n_chains=2, rng=1)
    groups = (tree.attrs, ["posterior", "sample_stats"])
    data = mcmc.to_arviz(tree)
    assert data is tree if version == "1.0.0" else data == groups
    with pytest.raises(TypeError, match="tree must be an xarray.DataTree"):
        mcmc.to_arviz({"posterior": 1})
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(pb.errors.MissingPackageError, match=r"pybandit-core\[arviz\]"):
        mcmc.to_arviz(tree)


@pytest.mark.parametrize("make, words", [
    (lambda: mcmc.RacingGibbs(PAIR), "<RacingGibbs: 2 variables, method 'race', student, "
                                     "delta 0.05>"),
    (lambda: mcmc.RacingMetropolis(log_likelihood, 1000, 2, delta=0.01),
     "<RacingMetropolis: 1,000 factors, 2 parameters, student, delta 0.01>"),
    (lambda: PAIR, "<PairwiseTable: 2 variables, 3 states, 1 pairs>"),
    (lambda: mcmc.ExactMinibatch(np.eye(3), [0, 1, 0]),
     "<ExactMinibatch: 3 rows, 3 parameters>"),
    (lambda: mcmc.TaylorControl([0.0, 0.0], np.ones((1000, 2))),
     "<TaylorControl: 1,000 factors, 2 parameters>"),
])
def test_reprs_describe_the_object(make, words):
    assert repr(make()) == words


@pytest.mark.slow
def test_arviz_takes_the_tree():
    code = """
import warnings
warnings.simplefilter("ignore")
import matplotlib
matplotlib.use("Agg")
import arviz as az, numpy as np, pybandit as pb
y = np.random.default_rng(1).normal(0.3, 1.0, 500)
sampler = pb.mcmc.RacingMetropolis(
    lambda n, points: -0.5 * ((y[n, None] - points[:, 0]) ** 2 + points[:, 1] ** 2), y.size, 2,
    proposal=pb.mcmc.RandomWalk(0.05), name="theta", labels=["mean", "other"])
tree = sampler.sample(100, initial=[0.3, 0.0], rng=1)
import xarray
theta = tree["posterior"]["theta"].to_numpy()
values = -0.5 * (y - theta[..., :1]) ** 2
tree["log_likelihood"] = xarray.DataTree(xarray.Dataset({"y": (("chain", "draw", "row"), values)}))
data = pb.mcmc.to_arviz(tree)
table = az.summary(data)
az.plot_trace(data)
loo = az.loo(data)
elpd = loo.elpd if hasattr(loo, "elpd") else loo.elpd_loo  # ArviZ 1, ArviZ 0.23
print(list(table.index), np.isfinite(table["r_hat"].astype(float)).all(), -600 < elpd < -100)
"""
    pytest.importorskip("arviz")
    ran = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    assert ran.stdout.split("\n")[0] == "['theta[mean]', 'theta[other]'] True True", ran.stderr


def test_missing_xarray_raises_before_sampling(monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    calls = []
    with pytest.raises(ImportError, match=r"pybandit-core\[arviz\]"):
        mcmc.RacingGibbs(lambda v, x: calls.append(v), 2).sample(3)
    assert not calls
