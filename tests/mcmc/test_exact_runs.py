"""Runs of ExactMinibatch: the tree, threads, interrupts, single steps, and errors."""

import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

from pybandit import mcmc

from mcmc.reference.minibatch import posterior_mode
from mcmc.regressions import FAMILIES, Case

pytest.importorskip("xarray")


@pytest.mark.parametrize("kind", FAMILIES)
@pytest.mark.parametrize("prior", [0.5, 0.0])
def test_mode_and_covariance_equal_optimiser(kind, prior):
    case = Case(kind, 400, 3, prior=prior)
    mode = posterior_mode(case.twin, case.x, case.y, prior, case.trials)
    sampler = case.sampler()
    deviations = np.sqrt(np.diag(sampler.covariance))
    assert np.abs((sampler.mode - mode) / deviations).max() < 1e-4
    factor = case.problem(sampler.mode).factor
    assert np.allclose(sampler.covariance, factor @ factor.T, rtol=1e-9)


def test_mode_search_uses_few_rows_first():
    case = Case("logistic", 200_000, 2)
    sampler = case.sampler()
    gradient = case.problem(sampler.mode).slope
    assert np.abs(gradient).max() < 1e-3  # gradient per posterior standard deviation


def test_prior_precision_may_be_vector_or_matrix():
    case = Case("logistic", 50, 2)
    samplers = [mcmc.ExactMinibatch(case.x, case.y, prior_precision=p)
                for p in (2.0, [2.0, 2.0], 2.0 * np.eye(2), [[3.0, 0.5], [0.5, 2.0]])]
    for other in samplers[1:3]:
        assert np.array_equal(other.mode, samplers[0].mode)
        assert np.array_equal(other.covariance, samplers[0].covariance)
    p = 1 / (1 + np.exp(-case.x @ samplers[3].mode))
    slope = case.x.T @ (case.y - p) - np.array([[3.0, 0.5], [0.5, 2.0]]) @ samplers[3].mode
    assert np.abs(slope).max() < 1e-2


@pytest.mark.parametrize("test", ["factorised", "auxiliary"])
def test_chains_do_not_depend_on_threads(test):
    sampler = Case("logistic", 300, 3).sampler(test=test)
    trees = [sampler.sample(60, n_warmup=40, n_chains=5, rng=4, n_threads=n) for n in (1, 2, 5)]
    assert trees[0].identical(trees[1]) and trees[0].identical(trees[2])
    x = trees[0]["posterior"]["x"].to_numpy()
    assert len({chain.tobytes() for chain in x}) == 5
    fewer = sampler.sample(60, n_warmup=40, n_chains=2, rng=np.random.SeedSequence(4))
    assert np.array_equal(fewer["posterior"]["x"], x[:2])


def test_tree_contains_draws_and_statistics():
    case = Case("logistic", 300, 2)
    sampler = case.sampler(name="theta", labels=["a", "b"])
    every = sampler.sample(60, n_warmup=30, n_chains=2, rng=3)
    third = sampler.sample(20, n_warmup=30, n_chains=2, rng=3, thin=3)
    assert every["posterior"]["theta"].coords["theta_dim_0"].to_numpy().tolist() == ["a", "b"]
    assert np.array_equal(every["posterior"]["theta"][:, 2::3], third["posterior"]["theta"])
    for name, take in (("n_evaluations", np.sum), ("n_exact", np.sum), ("accepted", np.mean),
                       ("fraction", np.mean)):
        found = every["sample_stats"][name].to_numpy().reshape(2, 20, 3)
        assert np.allclose(take(found, axis=2), third["sample_stats"][name])
    rows = every["sample_stats"]["n_evaluations"].to_numpy()
    assert np.allclose(every["sample_stats"]["fraction"], rows / 300) and rows.sum() > 0
    assert every["sample_stats"]["scale"].shape == (2, 2)
    assert every.attrs["sampler"] == "ExactMinibatch" and every.attrs["test"] == "factorised"
    moved = np.diff(every["posterior"]["theta"].to_numpy(), axis=1).any(axis=2)
    assert np.array_equal(moved, every["sample_stats"]["accepted"].to_numpy()[:, 1:] == 1.0)
    started = sampler.sample(1, n_warmup=0, n_chains=2, rng=3, initial=[[9.0, 9.0], [0.0, 1.0]])
    assert abs(started["posterior"]["theta"].to_numpy()).max() <= 9.0


def test_adapt_false_disables_adaptation():
    sampler = Case("student", 40, 2, size=0.3, prior=0.1).sampler(proposal="walk")
    tree = sampler.sample(4000, n_warmup=2000, n_chains=2, rng=1)
    assert abs(float(tree["sample_stats"]["accepted"].mean()) - 0.234) < 0.05
    fixed = Case("logistic", 300, 2).sampler(adapt=False).sample(5, n_warmup=50, rng=1)
    assert (fixed["sample_stats"]["scale"] == 1.0).all()


def test_chain_returns_from_a_far_start():
    """Far from the mode, where nearly all rows would be drawn, steps read all rows in order."""
    case = Case("logistic", 2000, 3)
    tree = case.sampler().sample(300, n_warmup=5000, n_chains=2, initial=[3.0, -3.0, 3.0], rng=2)
    sampler = case.sampler()
    far = np.abs(tree["posterior"]["x"][:, -100:].to_numpy() - sampler.mode)
    assert (far / np.sqrt(np.diag(sampler.covariance))).max() < 6
    assert tree["sample_stats"]["n_evaluations"][:, -100:].mean() < 200


def test_rows_of_zeros_are_never_read():
    x, y = np.zeros((50, 2)), np.tile([0.0, 1.0], 25)
    tree = mcmc.ExactMinibatch(x, y, prior_precision=4.0).sample(2000, rng=1)
    assert not tree["sample_stats"]["n_evaluations"].any()
    assert abs(float(tree["posterior"]["x"].std()) - 0.5) < 0.03


def test_single_steps_equal_many_steps():
    sampler = Case("logistic", 300, 2).sampler()
    rng, theta, n_accepted = np.random.default_rng(5), sampler.mode, 0
    for _ in range(200):
        before, theta_before = theta.copy(), theta
        step = sampler.step(theta, rng=rng)
        theta, accepted, n_read = step.value, step.n_accepted, step.n_evaluations
        assert (accepted == 0) == np.allclose(theta, before, atol=1e-9) and n_read >= 0
        assert np.array_equal(theta_before, before)  # the argument is not changed
        n_accepted += accepted
    assert n_accepted > 100
    many = sampler.step(sampler.mode, n_steps=50_000, rng=1)
    again = sampler.step(sampler.mode, n_steps=50_000, rng=1)
    assert np.array_equal(many.value, again.value) and many.n_accepted == again.n_accepted > 25_000


def test_threads_can_share_a_sampler():
    sampler, found = Case("logistic", 300, 2).sampler(), {}

    def work(i):
        found[i] = sampler.sample(200, n_chains=2, rng=i % 2)["posterior"]["x"].to_numpy()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(found[i], found[i % 2]) for i in range(6))


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
@pytest.mark.parametrize("call", ["one thread", "two threads", "step"])
def test_interrupt_stops_sampling(call):
    sampler = Case("logistic", 300, 2).sampler()
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        if call == "step":
            sampler.step(sampler.mode, n_steps=10**11, rng=1)
        else:
            sampler.sample(2, thin=10**10, n_threads=1 + (call == "two threads"), rng=1)
    assert time.perf_counter() - start < 5.0
    timer.join()


CASE = Case("logistic", 40, 2)


def make(**options):
    return mcmc.ExactMinibatch(**(dict(x=CASE.x, y=CASE.y) | options))


@pytest.mark.parametrize("call, kind, words", [
    (lambda: make(family="poisson"), ValueError, "radius must be given.*third derivative.*ball"),
    (lambda: make(family="poisson", radius=3.0, y=-CASE.y), ValueError, "y must be at least 0"),
    (lambda: make(family="poisson", radius=1e6), ValueError, "radius must be small enough"),
    (lambda: make(radius=0.0), ValueError, "radius must be finite and above 0"),
    (lambda: make(radius=1.0).sample(5, initial=[9.0, 9.0]), ValueError, "start within radius"),
    (lambda: make(family="gaussian"), ValueError, "family must be one of"),
    (lambda: make(family=3), TypeError, "family"),
    (lambda: make(y=CASE.y + 0.5), ValueError, "y must be 0 or 1"),
    (lambda: make(y=CASE.y + 2, family="probit"), ValueError, "y must be 0 or 1"),
    (lambda: make(family=mcmc.Binomial(np.ones(3))), ValueError, "trials of shape"),
    (lambda: make(family=mcmc.Binomial(CASE.y + 0.1), y=CASE.y + 1), ValueError, r"\[0, trials\]"),
    (lambda: make(y=CASE.y[1:]), ValueError, "y must have shape"),
    (lambda: make(x=CASE.x[:, 0]), ValueError, "x must have shape"),
    (lambda: make(x=np.where(CASE.x > 1, np.nan, CASE.x)), ValueError, "x must be finite"),
    (lambda: make(prior_precision=-1.0), ValueError, "prior_precision"),
    (lambda: make(prior_precision=np.ones(3)), ValueError, "prior_precision"),
    (lambda: make(proposal="nuts"), ValueError, "proposal"),
    (lambda: make(proposal=mcmc.SGLD(len, 0.1, 3)), TypeError, "proposal"),
    (lambda: make(proposal=mcmc.RandomWalk(np.ones(3))), ValueError, "scale must be for 2"),
    (lambda: make(proposal=mcmc.Preconditioned(np.zeros(3), np.eye(3))), ValueError, "mode"),
    (lambda: make(test="exact"), ValueError, "test"),
    (lambda: make(gamma=0.0), ValueError, "gamma"),
    (lambda: make(mode=np.zeros(3)), ValueError, "mode must have shape"),
    (lambda: make(labels=["a"]), ValueError, "labels"),
    (lambda: make(name="draw"), ValueError, "name"),
    (lambda: make(y=(CASE.x[:, 0] > 0) * 1.0, prior_precision=0.0), ValueError, "no mode"),
    (lambda: make(x=np.ones((40, 2)), prior_precision=0.0), ValueError, "no mode|prior_precision"),
    (lambda: make(x=np.full((40, 1), 1e4), mode=[1.0]), ValueError, "mode.*log odds"),
    (lambda: make().sample(0), ValueError, "n_samples"),
    (lambda: make().sample(5, initial=np.zeros(3)), ValueError, "initial"),
    (lambda: make().step(np.zeros(3)), ValueError, "value"),
    (lambda: make().step(np.zeros(2), n_steps=0), ValueError, "n_steps"),
    (lambda: mcmc.StudentT(0.0), ValueError, "df"),
    (lambda: mcmc.StudentT(3.0, -1.0), ValueError, "scale"),
    (lambda: mcmc.Binomial([1.0, 0.0]), ValueError, "trials"),
    (lambda: mcmc.Binomial(3.0), ValueError, "trials"),
])
def test_invalid_arguments_raise(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_student_posterior_without_peak_raises():
    x, y = np.ones((2, 1)), np.array([-9.0, 9.0])
    with pytest.raises(ValueError, match="positive definite"):
        mcmc.ExactMinibatch(x, y, family=mcmc.StudentT(1.0, 0.5), prior_precision=0.0, mode=[0.0])


def test_missing_xarray_raises_before_sampling(monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(ImportError, match=r"pybandit-core\[arviz\]"):
        make().sample(3)
