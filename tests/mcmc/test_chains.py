"""RacingGibbs and RacingMetropolis: stationary distributions, controls, compiled factors."""

import numpy as np
import pytest
from scipy import special, stats

import pybandit as pb
from pybandit import mcmc

from mcmc.reference.chains import Potts, logistic_problem
from mcmc.samplers import gibbs, normal_sampler

pytest.importorskip("xarray")


def visits(tree):
    """Return how often each of the 27 states of a `Potts` was drawn, by chain."""
    states = tree["posterior"]["x"].to_numpy() @ np.array([9, 3, 1])
    return np.array([np.bincount(chain, minlength=27) for chain in states])


def test_reference_chain_has_the_joint_distribution():
    model = Potts(1, 200, 1.0, 0.5)
    for order in ("sequential", "random"):
        law, sweep = model.stationary(order)
        assert np.allclose(law, model.joint()) and np.allclose(law @ sweep, law)


@pytest.mark.some(1)
@pytest.mark.parametrize("order", ["sequential", "random"])
def test_gibbs_has_exact_distribution_for_tiny_delta(order):
    """Compare the means of chains with exact probabilities, in standard errors between chains."""
    model = Potts(1, 1000, 1.0, 0.5)
    law, _ = model.stationary(order)
    tree = gibbs(model, delta=1e-6, order=order).sample(600, n_warmup=20, n_chains=10, rng=1)
    assert float(tree["sample_stats"]["fraction"].mean()) < 0.8
    shares = visits(tree) / 600
    error = shares.std(axis=0, ddof=1) / np.sqrt(10)
    # 27 t statistics with 9 degrees of freedom: |t| > 16 has probability 2e-6 / 27 each
    assert (np.abs(shares.mean(axis=0) - law) < 16 * error + 1e-3).all()
    assert np.abs(shares.mean(axis=0) - law).sum() / 2 < 0.05


def test_gibbs_bias_is_within_delta():
    """A sweep errs with probability at most 3 delta; its transition matrix gives the bias."""
    model, delta = Potts(1, 1000, 1.0, 0.5), 0.05
    law, sweep = model.stationary()
    forgets = 1 - max(np.abs(a - b).sum() / 2 for a in sweep for b in sweep)
    tree = gibbs(model, delta=delta).sample(800, n_warmup=20, n_chains=10, rng=1)
    assert float(tree["sample_stats"]["fraction"].mean()) < 0.4
    shares = visits(tree).sum(axis=0) / 8000
    noise = 0.05  # sampling error of 8,000 nearly independent draws of 27 states: about 0.02
    bias = np.abs(shares - law).sum() / 2
    assert bias < 3 * delta / forgets + noise
    assert bias < delta + noise  # not proved, but measured: errors are rare and partly cancel


def test_conditional_may_return_array_and_prior():
    model = Potts(1, 60, 1.0, 0.5)
    half = model.factors

    def conditional(variable, values):
        factors = half(variable, values)
        return factors[:30], factors[30:].sum(axis=0)

    tree = mcmc.RacingGibbs(conditional, 3, delta=1e-6).sample(
        6000, n_warmup=20, n_chains=2, initial=[2, 1, 0], rng=3)
    shares = visits(tree).sum(axis=0) / 12_000
    # total variation distance; independent draws would have about 0.02
    assert np.abs(shares - model.joint()).sum() / 2 < 0.05

    excluded = mcmc.RacingGibbs(
        lambda variable, values: (half(variable, values), [0.0, -np.inf, 0.0]), 3)
    assert not (excluded.sample(50, n_warmup=5, rng=1)["posterior"]["x"][:, :] == 1).any()


@pytest.mark.parametrize("kind", ["list", "populations"])
def test_conditional_may_return_one_array_per_state(kind):
    rng = np.random.default_rng(2)
    own = [rng.normal(size=n) * 0.01 for n in (300, 20, 1000)]
    law = special.softmax([one.sum() for one in own])
    arms = own if kind == "list" else pb.racing.Populations(lambda n, i: own[i[0]][n, None],
                                                            [len(one) for one in own])
    tree = mcmc.RacingGibbs(lambda v, x: arms, 1, delta=1e-6).sample(1500, n_chains=2, rng=1,
                                                                     n_warmup=0)
    draws = tree["posterior"]["x"].to_numpy().ravel()
    assert stats.chisquare(np.bincount(draws, minlength=3), 3000 * law).pvalue > 1e-6
    assert 0 < float(tree["sample_stats"]["fraction"].mean()) <= 1.0


def test_gibbs_statistics_are_those_of_its_races():
    """The sampler with one variable runs the same races as a plain loop."""
    rewards = np.random.default_rng(3).normal(size=(5000, 4)) * 0.01
    tree = mcmc.RacingGibbs(lambda v, x: rewards, 1, labels=["only"], name="z").sample(
        40, n_warmup=3, n_chains=2, thin=2, rng=11)
    for chain, stream in enumerate(np.random.SeedSequence(11).spawn(2)):
        rng, results = np.random.default_rng(stream), []
        for _ in range(3 + 80):
            perturbed = rng.gumbel(size=4)
            results.append(pb.race(rewards, perturbed, rng=rng))
        results = results[3:]
        assert tree["posterior"]["z"][chain, :, 0].to_numpy().tolist() == [
            r.best for r in results[1::2]]
        found = {name: tree["sample_stats"][name][chain].to_numpy() for name in
                 ("n_evaluations", "n_looks", "n_exact", "fraction")}
        for i, pair in enumerate(zip(results[::2], results[1::2], strict=True)):
            assert found["n_evaluations"][i] == sum(r.n_evaluations for r in pair)
            assert found["n_looks"][i] == sum(r.n_looks for r in pair)
            assert found["n_exact"][i] == sum(r.exact for r in pair)
            assert found["fraction"][i] == pytest.approx(
                sum(r.n_evaluations for r in pair) / (2 * rewards.size))
    assert tree["posterior"]["z_dim_0"].to_numpy().tolist() == ["only"]


def standardised(draws, mean, deviation):
    """Yield z scores of mean and second moment; standard errors come from the spread of chains."""
    scaled = (draws - mean) / deviation
    for moments, expected in ((scaled.mean(axis=1), 0.0), ((scaled**2).mean(axis=1), 1.0)):
        yield (moments.mean() - expected) / (moments.std(ddof=1) / np.sqrt(len(moments)))


# two-sided 1e-7 quantile of t with 15 degrees of freedom
FAR = 9.0


@pytest.mark.some(1)
@pytest.mark.parametrize("proposal", [
    mcmc.RandomWalk(0.1),
    mcmc.RandomWalk([0.05], target=0.3),
    "sgld",
], ids=["walk", "walk of its own target", "sgld"])
def test_metropolis_samples_a_conjugate_mean(proposal):
    """The step size of SGLD is so large that it would fail without the correction by densities."""
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


def test_sgld_correction_is_its_density_ratio():
    """Compare log q(x|x') - log q(x'|x) for the step's batch with two normal densities."""
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


def test_controls_do_not_change_the_posterior():
    """Compare with the exact chain: the same sampler with delta so small that all is read."""
    features, labels, mode, covariance = logistic_problem(3, 2000, [0.5, -0.3])
    proposal = mcmc.RandomWalk(1.6 * np.linalg.cholesky(covariance))
    options = dict(proposal=proposal, adapt=False)
    run = dict(n_warmup=50, n_chains=16, initial=mode, rng=5)
    exact = logistic_sampler(features, labels, bound=pb.racing.NormalBound(boundary=1e6), **options)
    with pytest.warns(UserWarning, match="read 100% of the 2000 rows"):
        exact = exact.sample(500, **run)
    assert float(exact["sample_stats"]["fraction"].min()) == 1.0
    scaled = {"exact": exact}
    for control in controls_of(features, labels, mode):
        sampler = logistic_sampler(features, labels, control, **options)
        scaled[type(control).__name__] = tree = sampler.sample(500, **run)
        assert float(tree["sample_stats"]["fraction"].mean()) < 0.1
    # both controls compute the same function, so the chains are equal
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


def test_control_values_are_second_order_changes():
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


def used_again(arrays):
    """Overwrite arrays, as a caller that reuses buffers would."""
    for array in arrays:
        array[...] = 7.0


def test_controls_copy_their_arrays():
    """Overwriting the arrays that were passed changes neither values nor ranges."""
    rng = np.random.default_rng(3)
    features, center = rng.normal(size=(50, 2)), np.array([0.1, -0.2])
    points = np.ascontiguousarray(center + rng.normal(size=(2, 2)))
    for kind in (mcmc.TaylorControl, mcmc.GLMControl):
        third = np.full(50, 0.5)
        arrays = ([rng.normal(size=(50, 2)), rng.normal(size=(50, 2, 2))]
                  if kind is mcmc.TaylorControl else [rng.normal(size=50), rng.normal(size=50)])

        def make(parts, third, kind=kind):
            return (kind(center, *parts, third=third) if kind is mcmc.TaylorControl
                    else kind(features, *parts, center, third=third))

        control = make([part.copy() for part in arrays], third.copy())
        reused = make(arrays, third)
        used_again([*arrays, third])
        everything = np.arange(50), np.array([0])
        values = reused.changes(points)(*everything)
        assert np.array_equal(values, control.changes(points)(*everything))
        assert values.sum() == pytest.approx(reused.total_change(points)())
        assert reused.value_range(points) == control.value_range(points)


def test_compiled_factors_give_the_same_chain():
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
