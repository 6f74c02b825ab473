"""Loops of RacingMetropolis, compared with the reference, and ranges derived from controls."""

import threading

import numpy as np
import pytest
from scipy import stats

import pybandit as pb
from pybandit import mcmc
from pybandit.mcmc._bounded import Ranges
from pybandit.mcmc._race_loops import CompiledLoop, PythonLoop

from mcmc.reference import minibatch, race_chain
from mcmc.regressions import Case, cell_counts, cell_law

pytest.importorskip("xarray")

THIRD = minibatch.LOGISTIC


def parts_of(case, mode, third=None, order="glm"):
    """Return the likelihood in NumPy, and a control at a mode."""
    p = 1 / (1 + np.exp(-case.x @ mode))
    slopes, curvatures = case.y - p, -p * (1 - p)

    def log_likelihood(rows, points):
        s = case.x[rows] @ points.T
        return case.y[rows, None] * s - np.logaddexp(0.0, s)

    if order == "glm":
        return log_likelihood, mcmc.GLMControl(case.x, slopes, curvatures, mode, third=third)
    lengths = np.linalg.norm(case.x, axis=1)
    return log_likelihood, mcmc.TaylorControl(
        mode, slopes[:, None] * case.x,
        curvatures[:, None, None] * case.x[:, :, None] * case.x[:, None, :],
        third=None if third is None else third * lengths**3)


def sampler_of(case, proposal=None, third=None, order="glm", controlled=True, **options):
    plain = case.sampler()
    log_likelihood, control = parts_of(case, plain.mode, third, order)
    if proposal is None:
        proposal = mcmc.Preconditioned(plain.mode, plain.covariance)
    return mcmc.RacingMetropolis(
        log_likelihood, *case.x.shape, prior_precision=case.prior, proposal=proposal,
        control=control if controlled else None, **options)


def proposals(case):
    plain = case.sampler()
    cholesky = np.linalg.cholesky(plain.covariance)
    walk = mcmc.RandomWalk(0.3 * cholesky)
    draws = mcmc.Preconditioned(plain.mode, plain.covariance, step=0.7)
    return {"number": mcmc.RandomWalk(0.05), "numbers": mcmc.RandomWalk([0.05, 0.1]),
            "factor": walk, "draws": draws, "mixture": mcmc.Mixture([draws, walk], [2, 1])}


@pytest.mark.parametrize("adapts", [False, True])
@pytest.mark.parametrize("controlled", [False, True])
@pytest.mark.parametrize("proposal", ["number", "numbers", "factor", "draws", "mixture"])
def test_chain_equals_its_reference(proposal, controlled, adapts):
    """Points and rows agree at every step for the same random numbers."""
    case = Case("logistic", 400, 2)
    sampler = sampler_of(case, proposals(case)[proposal], controlled=controlled, adapt=adapts,
                         log_prior=lambda theta: 0.0 if theta[0] > -9.0 else -np.inf)
    start = case.sampler().mode
    loop = sampler._chain(np.random.default_rng(3), start, threading.Lock())
    assert isinstance(loop, CompiledLoop)
    rng, points = np.random.default_rng(3), np.stack([start, start])
    chosen = sampler.proposal
    given = chosen.proposals if isinstance(chosen, mcmc.Mixture) else [chosen]
    moves = []
    for part, below in zip(given, (2 / 3, 1.0) if len(given) > 1 else (1.0,), strict=True):
        if isinstance(part, mcmc.Preconditioned):
            moves.append(minibatch.Move(False, part.step, part.target, part.factor, part.mode,
                                        below))
        else:
            scale = part.scale if part.scale.ndim == 2 else np.diag(
                np.broadcast_to(part.scale, 2))
            moves.append(minibatch.Move(True, 1.0, 0.234, scale, 0.0, below))
    test = pb.racing.AcceptanceTest(sampler._factors(points), rng=rng)
    other = race_chain.Chain(
        test, points, moves, rng, lambda p: -np.inf if p[0] <= -9.0 else -case.prior * p @ p / 2,
        sampler.control)
    first = [move.scale for move in moves]
    n_accepted = n_read = 0
    for _ in range(300):
        loop.chain.steps(1)
        accepted, read = other.step(adapts)
        n_accepted, n_read = n_accepted + accepted, n_read + read
        assert loop.chain.counts[1] == n_accepted and loop.chain.counts[3] == n_read
        assert np.allclose(loop.chain.values, points[0], rtol=0, atol=1e-12)
    assert n_accepted > 20
    assert np.allclose(np.atleast_1d(loop.scale), np.divide([m.scale for m in moves], first))
    if controlled:
        assert np.allclose(loop.chain.travel[1], other.farthest)


def test_both_loops_sample_the_posterior():
    """A user-defined proposal runs in Python, built-in ones in compiled code."""
    class Own:
        def __init__(self, inner):
            self.inner = inner

        def start(self, n_factors, n_parameters, rng):
            return self.inner.start(n_factors, n_parameters, rng)

    case = Case("logistic", 3000, 2)
    draws = []
    for wrap in (lambda p: p, Own):
        sampler = sampler_of(case, wrap(proposals(case)["draws"]), adapt=False)
        loop = sampler._chain(np.random.default_rng(1), case.sampler().mode, threading.Lock())
        assert isinstance(loop, PythonLoop) == (wrap is Own)
        tree = sampler.sample(3000, n_warmup=50, n_chains=2, rng=1)
        draws.append(tree["posterior"]["x"].to_numpy().reshape(-1, 2))
    scale = np.sqrt(np.diag(case.sampler().covariance))
    assert (np.abs(draws[0].mean(axis=0) - draws[1].mean(axis=0)) < 0.1 * scale).all()
    assert np.allclose(draws[0].std(axis=0) / draws[1].std(axis=0), 1.0, atol=0.08)


@pytest.mark.parametrize("order", ["glm", "taylor"])
def test_range_contains_every_remainder(order):
    case, rng = Case("logistic", 300, 3), np.random.default_rng(2)
    mode = case.sampler().mode
    log_likelihood, control = parts_of(case, mode, THIRD, order)
    ranges = Ranges(control)
    filled = []
    for _ in range(200):
        points = mode + rng.normal(size=(2, 3)) * rng.exponential(size=(2, 1))
        values = log_likelihood(np.arange(300), points)
        rest = values[:, 1] - values[:, 0] - control.changes(points)(np.arange(300), [0])[:, 0]
        low, high = control.value_range(points)
        assert low == -high and (np.abs(rest) <= high).all()
        z = ranges.inverse @ (points - mode).T
        m = (minibatch.smooth_spread if order == "glm" else minibatch.spread_any)(*z.T)
        assert high == pytest.approx(ranges.largest * m, rel=1e-6, abs=1e-9)
        filled.append(np.abs(rest).max() / high)
    assert max(filled) > (0.3 if order == "glm" else 0.1)


def bets(**options):
    return pb.racing.BettingBound(value_range="control", **options)


@pytest.mark.some(2)
@pytest.mark.parametrize("order", ["glm", "taylor"])
def test_bets_with_derived_ranges_sample_the_posterior(order):
    """The chain samples the posterior if delta is very small."""
    case = Case("logistic", 60, 1, size=1.5)
    sampler = sampler_of(case, third=THIRD, order=order, bound=bets(delta=1e-9), adapt=False)
    tree = sampler.sample(20_000, n_warmup=50, n_chains=1, thin=3, rng=5)
    plain = case.sampler()
    edges, law = cell_law(case, plain.mode, np.sqrt(np.diag(plain.covariance)), n_cells=20)
    counts = cell_counts(tree["posterior"]["x"].to_numpy()[0], edges)
    assert stats.chisquare(counts, counts.sum() * law).pvalue > 1e-6


def test_bets_read_part_of_many_rows():
    case = Case("logistic", 20_000, 3, size=0.5)
    tree = sampler_of(case, third=THIRD, bound=bets()).sample(200, n_warmup=50, rng=1)
    assert tree["sample_stats"]["fraction"].mean() < 0.1
    with pytest.raises(ValueError, match="control must have third"):
        sampler_of(case, bound=bets())  # this control has no bound on third derivatives


@pytest.mark.parametrize("walks", ["compiled", "in Python"])
def test_too_small_third_raises(walks):
    case = Case("logistic", 60, 1, size=1.5)
    sampler = sampler_of(case, third=THIRD / 20, bound=bets())
    if walks == "in Python":
        inner = sampler.proposal
        sampler.proposal = type("Own", (), {"start": lambda self, *of: inner.start(*of)})()
    with pytest.raises(ValueError, match=r"log_ratios must lie in value_range = \(-.*at factor"):
        sampler.sample(2000, n_chains=1, rng=1)


def test_precision_and_function_give_the_same_prior():
    case = Case("logistic", 200, 2)
    mode = case.sampler().mode
    log_likelihood, control = parts_of(case, mode)
    runs = [mcmc.RacingMetropolis(log_likelihood, 200, 2, control=control, **prior).sample(
        200, n_chains=2, rng=1)["posterior"]["x"].to_numpy() for prior in (
            dict(prior_precision=2.0), dict(prior_precision=[2.0, 2.0]),
            dict(log_prior=lambda theta: -theta @ theta),
            dict(prior_precision=1.0, log_prior=lambda theta: -0.5 * theta @ theta))]
    for run in runs[1:]:
        assert np.allclose(run, runs[0], rtol=1e-9)
    with pytest.raises(ValueError, match="prior_precision"):
        mcmc.RacingMetropolis(log_likelihood, 200, 2, prior_precision=-1.0)


class Plain(np.random.PCG64):
    """A bit generator whose lock is not reentrant, as before NumPy 2.4."""

    def __init__(self, seed):
        super().__init__(seed)
        self.plain = threading.Lock()

    lock = property(lambda self: self.plain)


def test_functions_run_without_the_generator_lock():
    """Functions may draw from the generator; they would deadlock if its lock were held."""
    rng, y = np.random.Generator(Plain(1)), np.linspace(-1.0, 1.0, 200)

    def free(value):
        assert not rng.bit_generator.lock.locked()
        rng.random()
        return value

    def log_likelihood(n, points):
        return free(-0.5 * (y[n, None] - points[:, 0]) ** 2)

    chain = mcmc.RacingMetropolis(log_likelihood, 200, 1, log_prior=lambda theta: free(0.0))
    assert chain.step([0.3], n_steps=20, rng=rng).n_evaluations > 0
    control = mcmc.TaylorControl([0.0], y[:, None], np.full((200, 1, 1), -1.0))
    exact = mcmc.ExactMinibatch.from_control(control, log_likelihood=log_likelihood, bounds=1.0,
                                             spread=lambda points: free(0.1))
    assert exact.step(np.zeros(1), n_steps=20, rng=rng).n_evaluations > 0
    test = pb.racing.AcceptanceTest(pb.Factors(lambda n, states: free(np.ones((n.size, 1))), 99, 1))
    assert test.test(0.0, rng=rng).accepted and not rng.bit_generator.lock.locked()
