"""Arrays passed to user functions are read-only or copies: writing to them changes no result."""

import numpy as np
import pytest

import pybandit as pb
from pybandit import mcmc

from policies.protocol import frozen

N = 400
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N, 2))
Y = (X[:, 0] + RNG.logistic(size=N) > 0) * 1.0


class Given:
    """A wrapper of functions that overwrites their arguments after each call, if `writes`."""

    def __init__(self, writes):
        self.writes, self.n_calls, self.n_written = writes, 0, 0

    def __call__(self, function):
        def wrapped(*arguments, **named):
            self.n_calls += 1
            answer = function(*[np.array(one) if isinstance(one, np.ndarray) else one
                                for one in arguments], **named)
            for one in [*arguments, *named.values()]:
                if self.writes and isinstance(one, np.ndarray):
                    try:
                        one[...] = one * 3 + 1
                        self.n_written += 1
                    except ValueError as error:
                        assert "read-only" in str(error)
            return answer

        return wrapped


def logistic(indices, points):
    s = X[indices] @ points.T
    return Y[indices, None] * s - np.logaddexp(0, s)


def at_one(indices, theta):
    return logistic(indices, np.atleast_2d(theta))[:, 0]


def prior(theta):
    return -0.5 * float(np.sum(np.square(theta)))


def drawn(tree):
    return tree["posterior"]["x"].values.tolist()


def metropolis(given, **options):
    sampler = mcmc.RacingMetropolis(given(logistic), N, 2, log_prior=given(prior), **{
        "proposal": mcmc.RandomWalk(0.2), **options})
    return [drawn(sampler.sample(20, n_warmup=20, n_chains=2, rng=1)),
            sampler.step([0.5, 0.1], n_steps=20, rng=1).value.tolist()]


def metropolis_of_factors(given):
    def make(points):
        return pb.Factors(given(lambda n, states: np.diff(logistic(n, points), axis=1)), N, 1)

    def own(points):
        if given.writes:
            with pytest.raises(ValueError, match="read-only"):
                points *= 0.5
        return make(points)

    sampler = mcmc.RacingMetropolis(factors=own, n_parameters=2, proposal=mcmc.RandomWalk(0.2))
    given.n_calls += 1
    return drawn(sampler.sample(20, n_warmup=20, n_chains=2, rng=1))


class Shifted:
    """A user-defined proposal that also writes to the current point."""

    target = 0.3

    def __init__(self, given):
        self.given = given

    def start(self, n_factors, n_parameters, rng):
        self.rng = rng
        return self

    def propose(self, points, scale):
        self.given.n_calls += 1
        points[1] = points[0] + 0.2 * scale * self.rng.standard_normal(2)
        if self.given.writes:
            points[0] = 1e3
            self.given.n_written += 1
        return 0.0


def langevin(given):
    return metropolis(given, proposal=mcmc.SGLD(
        given(lambda n, theta: ((Y[n] - 1 / (1 + np.exp(-X[n] @ theta)))[:, None]
                                * X[n]).sum(axis=0)), 1e-3, 50,
        prior_gradient=given(lambda theta: -theta)))


def control():
    mode = np.array([0.8, 0.0])
    p = 1 / (1 + np.exp(-X @ mode))
    return mcmc.GLMControl(X, Y - p, -p * (1 - p), mode, third=0.1)


def exact(given, **options):
    chain = mcmc.ExactMinibatch.from_control(control(), log_likelihood=given(logistic),
                                             **options)
    return chain.step([0.8, 0.1], n_steps=50, rng=1).value.tolist()


def spread(points):
    return float(np.sum(np.abs(points[1] - points[0]) ** 3))


def gibbs(given):
    means = np.linspace(-0.1, 0.1, 2)

    def conditional(variable, values):
        return pb.Factors(given(lambda n, i: -0.5 * (X[n, :1] - means[i]) ** 2), N, 2)

    return drawn(mcmc.RacingGibbs(given(conditional), 3).sample(
        10, n_warmup=2, n_chains=2, rng=1))


def sampler(given):
    factors = pb.Factors(given(lambda n, i: -0.5 * (X[n, :1] - np.linspace(-1, 1, 5)[i]) ** 2),
                         N, 5, control=pb.racing.ControlVariate(
                             given(lambda n, i: np.zeros((n.size, i.size))), np.zeros(5)))
    sampler = pb.RacingSampler(factors, rng=1)
    return [[sampler.draw() for _ in range(5)], pb.racing.lil_ucb(
        factors, np.zeros(5), value_range=20.0, rng=1)]


def races(given):
    ratios = pb.Factors(given(lambda n, i: X[n, :1] + 0.3), N, 1)
    return [pb.racing.AcceptanceTest(ratios, rng=1).test(0.0), pb.racing.accept(ratios, 0.0, rng=2)]


def slices(given):
    return [pb.racing.slice_sample(given(logistic), np.array([0.5, 0.2]), n_factors=N,
                                   log_prior=given(prior), rng=1).x.tolist()]


def expansions(given):
    found = mcmc.laplace(given(logistic), N, 2, log_prior=given(prior))
    made = mcmc.TaylorControl.from_autodiff(given(at_one), N, found.mode)
    return [found.mode.tolist(), found.covariance.tolist(), made.gradient.tolist(),
            made.hessian.tolist()]


def scores(given):
    def score(model, items):
        return (items * 7919 % 101 + 30 * model) / 200

    def judge(model, opponent, items):
        return np.full(items.size, float(model > opponent))

    return [pb.best_of(given(score), 3, 200, value_range=(0, 1), rng=1).pulls.tolist(),
            pb.best_of_pairs(given(judge), 3, 50, rng=1).best]


def simulations(given):
    class Coins(pb.environments.Environment):
        def __init__(self):
            super().__init__([0.2, 0.5, 0.8], [0.4, 0.5, 0.4])
            self.draw = given(self._draw)

        def _draw(self, arms, rng):
            return (np.random.default_rng(rng).random(len(arms))
                    < np.array([0.2, 0.5, 0.8])[arms]) * 1.0

        def pull(self, arms, rng=None):
            return self.draw(arms, rng)

    class Cycle(pb.Policy):
        def __init__(self):
            super().__init__(3)
            self.hear = given(super().tell)
            self.n = 0

        @property
        def done(self):
            return self.n >= 30

        def ask(self):
            return np.arange(3)

        def tell(self, arms, rewards, *more):
            self.n += len(arms)
            self.hear(arms, rewards, *more)

        def recommend(self):
            return self._best(np.arange(3), 1)

    return [one.pulls.tolist() + one.errors.tolist() for one in (
        pb.simulate(lambda _: pb.policies.RoundRobin(3, 1, batch_size=3, max_batches=60), Coins(),
                    10, rng=1),
        pb.simulate(lambda _: Cycle(), Coins(), 10, rng=1),
        pb.simulate(lambda _: Cycle(), pb.environments.BernoulliBandit([0.2, 0.5, 0.8]), 10,
                    rng=1))]


def estimators(given):
    return pb.combine_estimators([given(lambda rng, size: rng.normal(size=size))] * 2, 60, rng=1,
                                 vectorized=True).pulls.tolist()


def kernels(given):
    def kernel(points):
        return np.exp(-np.square(points[:, None] - points).sum(axis=2))

    policy = pb.policies.BayesGap(len(X[:9].copy()), budget=30, kernel=given(kernel),
                                  features=X[:9].copy(),
                                  noise_std=0.5)
    return [policy.ask().tolist(), frozen(policy.get_state())]


def blocks(given):
    table = X.repeat(2, axis=1)[:, :3]
    one = pb.tables.Blocks(given(lambda block,
                                 columns: table[100 * block:100 * block + 100][:, columns]),
                           [100] * 4, 3)
    return [one.values(np.arange(0, N, 7), [0, 2]).tolist(), one.values([3], [1]).tolist()]


CASES = {
    "RacingMetropolis": metropolis,
    "RacingMetropolis: control": lambda given: metropolis(given, control=control()),
    "RacingMetropolis: betting": lambda given: metropolis(given, control=control(),
                                                          bound=pb.racing.BettingBound(
                                                              value_range="control")),
    "RacingMetropolis: factors": metropolis_of_factors,
    "RacingMetropolis: proposal": lambda given: metropolis(given, proposal=Shifted(given)),
    "SGLD": langevin,
    "ExactMinibatch": exact,
    "ExactMinibatch: spread": lambda given: exact(given, bounds=np.full(N, 50.0),
                                                  spread=given(spread)),
    "RacingGibbs": gibbs, "RacingSampler": sampler, "races": races, "slice_sample": slices,
    "laplace and TaylorControl": expansions, "best_of": scores, "simulate": simulations,
    "combine_estimators": estimators, "kernels": kernels, "Blocks": blocks,
}


@pytest.mark.parametrize("name", CASES)
def test_writing_to_arrays_changes_no_result(name):
    polite, rude = Given(False), Given(True)
    expected = CASES[name](polite)
    assert polite.n_calls
    assert CASES[name](rude) == expected and rude.n_calls == polite.n_calls


@pytest.mark.parametrize("compiled", [True, False])
def test_likelihood_that_writes_to_points_raises(compiled):
    """Otherwise `p *= .5` would change the distribution of the chain."""
    def log_likelihood(n, points):
        points *= 0.5
        return logistic(n, points)

    chain = mcmc.RacingMetropolis(log_likelihood, N, 2, proposal=(
        mcmc.RandomWalk(0.2) if compiled else mcmc.SGLD(lambda n, x: np.zeros(2), 1e-3, 9)))
    with pytest.raises(ValueError, match="read-only"):
        chain.step([0.5, 0.1], rng=1)
