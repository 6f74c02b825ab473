"""RacingGibbs and RacingMetropolis: exact stationary laws, chains in threads, ArviZ, errors."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from scipy import special, stats

import pybandit as pb
from pybandit import mcmc

from mcmc.reference.chains import Potts, logistic_problem

xarray = pytest.importorskip("xarray")


def visits(tree):
    """How often each of the 27 states of a `Potts` was drawn, by chain."""
    states = tree["posterior"]["x"].to_numpy() @ np.array([9, 3, 1])
    return np.array([np.bincount(chain, minlength=27) for chain in states])


def gibbs(model, **options):
    def conditional(variable, values):
        return pb.Factors(lambda n, i: model.factors(variable, values, n)[:, i],
                          len(model.pair), 3)

    return mcmc.RacingGibbs(conditional, 3, **options)


def test_the_twin_has_the_joint_law_as_its_stationary_law():
    model = Potts(1, 200, 1.0, 0.5)
    for order in ("sequential", "random"):
        law, sweep = model.stationary(order)
        assert np.allclose(law, model.joint()) and np.allclose(law @ sweep, law)


@pytest.mark.parametrize("order", ["sequential", "random"])
def test_gibbs_has_the_exact_stationary_law_as_delta_vanishes(order):
    """The distance of batch means, whose spread tells how far it may be."""
    model = Potts(1, 1000, 1.0, 0.5)
    law, _ = model.stationary(order)
    tree = gibbs(model, delta=1e-6, order=order).sample(600, n_warmup=20, n_chains=10, rng=1)
    assert float(tree["sample_stats"]["fraction"].mean()) < 0.8
    shares = visits(tree) / 600
    error = shares.std(axis=0, ddof=1) / np.sqrt(10)
    # 27 t statistics of 9 degrees of freedom: beyond 16 has a chance of 2e-6 / 27 each
    assert (np.abs(shares.mean(axis=0) - law) < 16 * error + 1e-3).all()
    assert np.abs(shares.mean(axis=0) - law).sum() / 2 < 0.05


def test_gibbs_is_biased_by_no_more_than_delta_allows():
    """A sweep errs by 3 delta at most, and the chain forgets at the rate of its sweep."""
    model, delta = Potts(1, 1000, 1.0, 0.5), 0.05
    law, sweep = model.stationary()
    forgets = 1 - max(np.abs(a - b).sum() / 2 for a in sweep for b in sweep)
    tree = gibbs(model, delta=delta).sample(800, n_warmup=20, n_chains=10, rng=1)
    assert float(tree["sample_stats"]["fraction"].mean()) < 0.4
    shares = visits(tree).sum(axis=0) / 8000
    noise = 0.05  # 27 states and 8,000 draws, nearly independent: about 0.02
    bias = np.abs(shares - law).sum() / 2
    assert bias < 3 * delta / forgets + noise
    assert bias < delta + noise  # what is found: errors are rare and go both ways


def test_a_conditional_may_be_an_array_with_a_prior():
    model = Potts(1, 60, 1.0, 0.5)
    half = model.factors

    def conditional(variable, values):
        factors = half(variable, values)
        return factors[:30], factors[30:].sum(axis=0)

    tree = mcmc.RacingGibbs(conditional, 3, delta=1e-6).sample(
        6000, n_warmup=20, n_chains=2, initial=[2, 1, 0], rng=3)
    shares = visits(tree).sum(axis=0) / 12_000
    # a total variation distance; independent draws would have one of about 0.02
    assert np.abs(shares - model.joint()).sum() / 2 < 0.05

    excluded = mcmc.RacingGibbs(
        lambda variable, values: (half(variable, values), [0.0, -np.inf, 0.0]), 3)
    assert not (excluded.sample(50, n_warmup=5, rng=1)["posterior"]["x"][:, :] == 1).any()


@pytest.mark.parametrize("kind", ["list", "populations"])
def test_states_with_factors_of_their_own(kind):
    rng = np.random.default_rng(2)
    own = [rng.normal(size=n) * 0.01 for n in (300, 20, 1000)]
    law = special.softmax([one.sum() for one in own])
    arms = own if kind == "list" else pb.Populations(lambda n, i: own[i[0]][n, None],
                                                     [len(one) for one in own])
    tree = mcmc.RacingGibbs(lambda v, x: arms, 1, delta=1e-6).sample(1500, n_chains=2, rng=1,
                                                                     n_warmup=0)
    draws = tree["posterior"]["x"].to_numpy().ravel()
    assert stats.chisquare(np.bincount(draws, minlength=3), 3000 * law).pvalue > 1e-6
    assert 0 < float(tree["sample_stats"]["fraction"].mean()) <= 1.0


def test_the_statistics_of_gibbs_are_those_of_its_races():
    """One variable, one race a step: the same races by hand."""
    rewards = np.random.default_rng(3).normal(size=(5000, 4)) * 0.01
    tree = mcmc.RacingGibbs(lambda v, x: rewards, 1, labels=["only"], name="z").sample(
        40, n_warmup=3, n_chains=2, thin=2, rng=11)
    for chain, stream in enumerate(np.random.SeedSequence(11).spawn(2)):
        rng, results = np.random.default_rng(stream), []
        for _ in range(3 + 80):
            offsets = rng.gumbel(size=4)
            results.append(pb.race(rewards, offsets, rng=rng))
        results = results[3:]
        assert tree["posterior"]["z"][chain, :, 0].to_numpy().tolist() == [
            r.winner for r in results[1::2]]
        found = {name: tree["sample_stats"][name][chain].to_numpy() for name in
                 ("n_evaluations", "n_looks", "n_exact", "fraction")}
        for i, pair in enumerate(zip(results[::2], results[1::2], strict=True)):
            assert found["n_evaluations"][i] == sum(r.n_evaluations for r in pair)
            assert found["n_looks"][i] == sum(r.n_looks for r in pair)
            assert found["n_exact"][i] == sum(r.exact for r in pair)
            assert found["fraction"][i] == pytest.approx(
                sum(r.n_evaluations for r in pair) / (2 * rewards.size))
    assert tree["posterior"]["z_dim_0"].to_numpy().tolist() == ["only"]


def normal_sampler(y, **options):
    """The mean of normal data with a normal prior, on its own scale."""
    return mcmc.RacingMetropolis(
        lambda n, points: -0.5 * (y[n, None] - points[:, 0]) ** 2, y.size, 1,
        log_prior=lambda x: -0.5 * float(x[0]) ** 2, **options)


def standardised(draws, mean, deviation):
    """z of the chains' mean and of their second moment, from the spread between chains."""
    scaled = (draws - mean) / deviation
    for moments, expected in ((scaled.mean(axis=1), 0.0), ((scaled**2).mean(axis=1), 1.0)):
        yield (moments.mean() - expected) / (moments.std(ddof=1) / np.sqrt(len(moments)))


# |t| of 15 degrees of freedom beyond this: 1e-7
FAR = 9.0


@pytest.mark.parametrize("proposal", [
    mcmc.RandomWalk(0.1),
    mcmc.RandomWalk([0.05], target=0.3),
    "sgld",
], ids=["walk", "walk of its own target", "sgld"])
def test_metropolis_on_a_conjugate_mean(proposal):
    """SGLD at a step size far too large to be right without its reverse density."""
    y = np.random.default_rng(1).normal(0.7, 1.0, 400)
    if proposal == "sgld":
        proposal = mcmc.SGLD(lambda n, x: np.array([(y[n] - x[0]).sum()]), 3e-3, 100,
                             prior_gradient=lambda x: -x)
    sampler = normal_sampler(y, proposal=proposal, delta=1e-6,
                             adapt=not isinstance(proposal, mcmc.SGLD))
    tree = sampler.sample(1200, n_warmup=300, n_chains=16, initial=[0.7], rng=2)
    draws = tree["posterior"]["x"].to_numpy()[..., 0]
    mean, deviation = y.sum() / 401, 401**-0.5
    assert all(abs(z) < FAR for z in standardised(draws, mean, deviation))
    assert np.abs(draws.std() / deviation - 1) < 0.1
    if not isinstance(proposal, mcmc.SGLD):
        target = proposal.target or 0.44
        assert abs(float(tree["sample_stats"]["accepted"].mean()) - target) < 0.1


def test_the_reverse_density_of_sgld():
    """log q(x|x') - log q(x'|x) with the batch of the step, by two normal densities."""
    y = np.random.default_rng(1).normal(size=50)
    batches = []

    def gradient(n, x):
        batches.append(n.copy())
        return np.array([(y[n] - x[0]).sum(), -len(n) * x[1]])

    step = np.array([0.01, 0.04])
    sgld = mcmc.SGLD(gradient, step, 7, prior_gradient=lambda x: -x)
    mover = sgld.start(50, 2, np.random.default_rng(4))
    points = np.array([[0.3, -0.2], [0.0, 0.0]])
    for scale in (1.0, 1.7):
        correction = mover.propose(points, scale)
        assert np.array_equal(batches[-1], batches[-2]) and batches[-1].size == 7
        variance = step * scale**2

        def log_q(to, of, variance=variance, batch=batches[-1]):
            slope = 50 / 7 * gradient(batch, of) - of
            return stats.norm.logpdf(to, of + variance / 2 * slope, np.sqrt(variance)).sum()

        expected = log_q(points[0], points[1]) - log_q(points[1], points[0])
        assert correction == pytest.approx(expected, rel=1e-10)
        assert abs(expected) > 1e-3


def logistic_sampler(features, labels, control=None, **options):
    def log_likelihood(n, points):
        s = features[n] @ points.T
        return labels[n, None] * s - np.logaddexp(0.0, s)

    return mcmc.RacingMetropolis(log_likelihood, *features.shape, control=control, **options)


def controls_of(features, labels, mode):
    p = special.expit(features @ mode)
    slopes, curvatures = labels - p, -p * (1 - p)
    return [mcmc.GLMControl(features, slopes, curvatures, mode),
            mcmc.TaylorControl(mode, slopes[:, None] * features,
                               curvatures[:, None, None] * features[:, :, None]
                               * features[:, None])]


def test_logistic_regression_with_and_without_controls():
    """Against the exact chain: the same sampler, delta so small that all is read."""
    features, labels, mode, covariance = logistic_problem(3, 2000, [0.5, -0.3])
    proposal = mcmc.RandomWalk(1.6 * np.linalg.cholesky(covariance))
    options = dict(proposal=proposal, adapt=False)
    run = dict(n_warmup=50, n_chains=16, initial=mode, rng=5)
    exact = logistic_sampler(features, labels, bound=pb.NormalBound(boundary=1e6), **options)
    exact = exact.sample(500, **run)
    assert float(exact["sample_stats"]["fraction"].min()) == 1.0
    scaled = {"exact": exact}
    for control in controls_of(features, labels, mode):
        sampler = logistic_sampler(features, labels, control, **options)
        scaled[type(control).__name__] = tree = sampler.sample(500, **run)
        assert float(tree["sample_stats"]["fraction"].mean()) < 0.1
    # the two controls are one function, so are the chains
    assert np.array_equal(scaled["GLMControl"]["posterior"]["x"],
                          scaled["TaylorControl"]["posterior"]["x"])
    deviations = np.sqrt(np.diagonal(covariance))
    chains = {name: (tree["posterior"]["x"].to_numpy() - mode) / deviations
              for name, tree in scaled.items()}
    for power in (1, 2):
        moments = {name: (c**power).mean(axis=1) for name, c in chains.items()}
        difference = moments["exact"].mean(axis=0) - moments["GLMControl"].mean(axis=0)
        error = np.sqrt(sum(m.var(axis=0, ddof=1) / 16 for m in
                            (moments["exact"], moments["GLMControl"])))
        assert (np.abs(difference) < FAR * error).all() and (error < 0.1).all()


def test_controls_are_second_order_changes_with_their_totals():
    features, labels, mode, _ = logistic_problem(3, 300, [0.5, -0.3, 0.1])
    points = mode + 0.01 * np.random.default_rng(1).normal(size=(2, 3))
    s = features @ points.T
    true = np.diff(labels[:, None] * s - np.logaddexp(0.0, s), axis=1)
    for control in controls_of(features, labels, mode):
        values = control.changes(points)(np.arange(300), np.array([0]))
        assert np.abs(values - true).max() < 1e-5 < np.abs(true).max() / 100
        assert control.total_change(points)() == pytest.approx(values.sum(), rel=1e-9)
        some = np.array([7, 3, 200])
        assert np.array_equal(control.changes(points)(some, np.array([0])), values[some])
    first_order = mcmc.TaylorControl(mode, features)
    assert np.allclose(first_order.changes(points)(some, np.array([0]))[:, 0],
                       features[some] @ (points[1] - points[0]))


def test_compiled_factors_make_the_same_chain():
    pytest.importorskip("numba")
    import pybandit.numba

    features, labels, mode, covariance = logistic_problem(3, 2000, [0.5, -0.3])

    @pybandit.numba.factor
    def log_ratios(factors, states, out, features, labels, points):
        for f in range(factors.size):
            x = features[factors[f]]
            before = after = 0.0
            for i in range(x.size):
                before += x[i] * points[0, i]
                after += x[i] * points[1, i]
            out[f, 0] = (labels[factors[f]] * (after - before)
                         - np.log1p(np.exp(after)) + np.log1p(np.exp(before)))

    control = controls_of(features, labels, mode)[0]
    options = dict(proposal=mcmc.RandomWalk(1.6 * np.linalg.cholesky(covariance)),
                   control=control)
    compiled = mcmc.RacingMetropolis(
        n_parameters=2, factors=lambda points: pb.Factors(
            log_ratios.bind(features, labels, points), 2000, 1), **options)
    python = logistic_sampler(features, labels, **options)
    run = dict(n_warmup=50, n_chains=3, rng=5)
    for threads in (1, 3):
        got = compiled.sample(200, n_threads=threads, **run)
        expected = python.sample(200, **run)
        assert np.array_equal(got["posterior"]["x"], expected["posterior"]["x"])
        assert np.array_equal(got["sample_stats"]["n_looks"], expected["sample_stats"]["n_looks"])


@pytest.mark.parametrize("kind", ["gibbs", "metropolis"])
def test_chains_do_not_depend_on_the_threads(kind):
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


def test_initial_values_and_thinning():
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
def test_an_exception_of_a_function_is_unchanged(threads):
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
def test_an_interrupt_stops_all_chains(threads):
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


@pytest.mark.parametrize("make, kind, words", [
    (lambda: mcmc.RacingGibbs(None, 2), TypeError, "conditional"),
    (lambda: mcmc.RacingGibbs(conditional, 0), ValueError, "n_variables"),
    (lambda: mcmc.RacingGibbs(conditional, 2, order="reverse"), ValueError, "order"),
    (lambda: mcmc.RacingGibbs(conditional, 2, delta=2.0), ValueError, "delta"),
    (lambda: mcmc.RacingGibbs(conditional, 2, labels=["a"]), ValueError, "labels"),
    (lambda: mcmc.RacingGibbs(conditional, 2, name="draw"), ValueError, "name"),
    (lambda: mcmc.RacingMetropolis(), ValueError, "log_likelihood or factors"),
    (lambda: mcmc.RacingMetropolis(log_likelihood, 5), TypeError, "n_parameters"),
    (lambda: mcmc.RacingMetropolis(log_likelihood, None, 5), TypeError, "n_factors"),
    (lambda: mcmc.RacingMetropolis(3, 5, 1), TypeError, "log_likelihood"),
    (lambda: mcmc.RacingMetropolis(log_likelihood, 5, 1, log_prior=3), TypeError, "log_prior"),
    (lambda: mcmc.RacingMetropolis(log_likelihood, 500, 1, delta=0.6), ValueError, "delta"),
    (lambda: mcmc.RacingMetropolis(log_likelihood, 5, 1, proposal=0.1), TypeError, "proposal"),
    (lambda: mcmc.RacingMetropolis(log_likelihood, 5, 1, control=0.1), TypeError, "control"),
    (lambda: mcmc.RacingMetropolis(
        log_likelihood, 5, 1, control=mcmc.TaylorControl([0.0], np.ones((4, 1)))), ValueError,
     "control must be of 5 factors"),
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
def test_what_is_refused_at_once(make, kind, words):
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
     "log prior of shape"),
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
def test_what_is_refused_in_sampling(sampler, options, kind, words):
    with pytest.raises(kind, match=words):
        sampler.sample(3, **(dict(n_warmup=2) | options))


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
if hasattr(az, "InferenceData"):  # before ArviZ 1
    tree = az.InferenceData.from_datatree(tree)
table = az.summary(tree)
az.plot_trace(tree)
print(list(table.index), np.isfinite(table["r_hat"].astype(float)).all())
"""
    pytest.importorskip("arviz")
    ran = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    assert ran.stdout.split("\n")[0] == "['theta[mean]', 'theta[other]'] True", ran.stderr


def test_xarray_is_asked_for_before_the_work(monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    calls = []
    with pytest.raises(ImportError, match=r"pybandit\[arviz\]"):
        mcmc.RacingGibbs(lambda v, x: calls.append(v), 2).sample(3)
    assert not calls
