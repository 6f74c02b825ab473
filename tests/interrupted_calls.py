"""Calls that take data, to be interrupted: how to create, call and inspect the objects.

An object must be in the state before the call, or after it. A function or an object without
state must return the same when it is called again.
"""

from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

import pybandit as pb
from pybandit import mcmc, webtests

from policies.every_class import EVERY
from policies.protocol import frozen

HAS_NUMBA = find_spec("numba") is not None  # numba has no wheels for free-threaded CPython 3.13
if HAS_NUMBA:
    import pybandit.numba

    from simulation.numba_rules import mixture_of

RNG = np.random.default_rng(0)
MATRIX = RNG.normal(size=(3000, 3))
POINTS = RNG.normal(size=(3000, 2))
ARMS = RNG.integers(0, 3, 20_000)
MANY = 4000


class Call(NamedTuple):
    """Functions that create an object, call it, and return its complete state."""

    make: Any
    call: Any
    look: Any


def judged():
    """Return a verdict that was told the scores of two models."""
    running = pb.evaluation.RunningVerdict(value_range=(-9, 9))
    running.tell(MATRIX[:, 0], MATRIX[:, 1])
    return running


def late(name, **lost):
    """Report the first rewards of a policy late, after they were reported as missing."""
    def make():
        policy = EVERY[name]() if name in EVERY else pb.policies.Uniform(7, budget=MANY)
        arms = policy.ask()
        policy.tell(arms, np.full(arms.size, np.nan), missing="drop")
        return policy

    def call(policy):
        n = policy.n_pulls - policy.pulls.sum()
        policy.add_late(np.arange(n) % 7, np.linspace(0.0, 1.0, n))

    return Call(make, call, lambda policy: frozen(policy.get_state()))


def counted():
    """Report counts of many arms to a policy."""
    def make():
        policy = pb.policies.ThompsonSampling(MANY, rng=1, batch_size=50)
        policy.ask()
        return policy

    trials = np.arange(MANY) % 7
    return Call(make, lambda policy: policy.tell_counts(trials, trials * 0.5),
                lambda policy: frozen(policy.get_state()))


def table(call):
    def look(bandit):
        return frozen(bandit.__reduce__()[-1])

    def make():
        bandit = pb.environments.TableBandit(MATRIX[:100].T)
        bandit.pull(ARMS[:50])
        return bandit

    return Call(make, call, look)


def remembered(make, call):
    """Return a `Call` of an object without state; its next call must return the same."""
    return Call(make, call, lambda one: frozen_result(call(one)))


def frozen_result(value):
    if isinstance(value, (tuple, list)):
        return [frozen_result(part) for part in value]
    return frozen(value)


def function(call):
    return remembered(lambda: None, lambda _: call())


def height(rng):
    return 1.0 - rng.random() ** 2


CAPLET = pb.environments.CIRCaplet(0.08, n_steps=16)
EVIDENCE = pb.environments.LogisticEvidence(POINTS[:40], labels=np.arange(40) % 2,
                                            n_anneals=[20, 40])
GLM = mcmc.GLMControl(POINTS, POINTS[:, 0], POINTS[:, 1], np.zeros(2))
TAYLOR = mcmc.TaylorControl(np.zeros(2), POINTS)
ROWS = np.arange(3000)
CURVED = mcmc.GLMControl(POINTS, np.zeros(3000), np.full(3000, -1.0), np.zeros(2), third=1.0)
LABELS = (POINTS[:, 0] > 0.5).astype(np.int64)
WALK = mcmc.RacingMetropolis(lambda n, points: -0.5 * (POINTS[n, :1] - points[:, 0]) ** 2, 3000, 1,
                             proposal=mcmc.RandomWalk(0.05))
EXACT = mcmc.ExactMinibatch(POINTS, (POINTS[:, 0] > 0.5) * 1.0)
BANDITS = {
    "BernoulliBandit": pb.environments.BernoulliBandit([0.1, 0.5, 0.9]),
    "BinomialBandit": pb.environments.BinomialBandit([0.1, 0.5, 0.9], trials=20),
    "CostlyBandit": pb.environments.CostlyBandit(
        pb.environments.GaussianBandit([0.1, 0.5, 0.9]), [1.0, 2.0, 3.0]),
    "EmpiricalBandit": pb.environments.EmpiricalBandit(MATRIX[:50].T),
    "GaussianBandit": pb.environments.GaussianBandit([0.1, 0.5, 0.9]),
    "ScaledBernoulliBandit": pb.environments.ScaledBernoulliBandit(
        [0.1, 0.5, 0.9], [0.1] * 3, [0.5] * 3),
    "TruncatedNormalBandit": pb.environments.TruncatedNormalBandit([0.3, 0.4, 0.5],
                                                                   [0.02**0.5] * 3),
    "UniformBandit": pb.environments.UniformBandit([0.1, 0.5, 0.9], [0.1**0.5] * 3),
}
if HAS_NUMBA:
    BANDITS["FunctionEnvironment"] = mixture_of(np.array([0.1, 0.5, 0.9]))
GLR, WAGERS = pb.stopping.GLR(delta=0.1), pb.stopping.Betting(delta=0.1)
SEEN = [np.linspace(0.2, 0.8, 2000) ** power for power in (1, 2, 3)]


def distances(factors, states, out, y):
    for f in range(factors.size):
        for s in range(states.size):
            out[f, s] = -abs(y[factors[f]] - states[s])


if HAS_NUMBA:
    distances = pb.numba.factor(distances)


def bound():
    return pb.Factors(distances.bind(POINTS[:, 0].copy()), len(POINTS), 2).evaluate(ROWS, [0, 1])



PULLS = {f"{name}.{method}": function(
    lambda bandit=bandit, method=method: getattr(bandit, method)(ARMS, rng=1))
    for name, bandit in BANDITS.items() for method in ("pull", "pull_with_costs")}
CALLS = PULLS | {
    "Policy.add_late": late("uniform of many"),
    **{f"Policy.add_late of {name}": late(name) for name in (
        "ugap", "thompson gaussian", "batch racing", "ebtc", "shadavar")},
    "Policy.tell_counts": counted(),
    "power_curves": function(
        lambda: webtests.power_curves(0.1, [1.0], 500, n_runs=3, rng=1).power),
    "plan_counts": function(lambda: webtests.plan_counts([0.1, 0.2], 500, n_runs=3, rng=1).batches),
    "TableBandit.pull": table(lambda bandit: bandit.pull(ARMS)),
    "TableBandit.pull_with_costs": table(lambda bandit: bandit.pull_with_costs(ARMS)),
    "TableBandit.reset": table(lambda bandit: bandit.reset()),
    "GLR.margins": function(lambda: GLR.margins(pulls=[9, 8, 7], means=[0.1, 0.2, 0.3])),
    "GLR.is_sure": function(lambda: GLR.is_sure(pulls=[9, 8, 7], means=[0.1, 0.2, 0.3])),
    "Betting.margins": function(lambda: WAGERS.margins(SEEN)),
    "Betting.is_sure": function(lambda: WAGERS.is_sure(SEEN)),
    **({"Factor.bind": function(bound)} if HAS_NUMBA else {}),
    "CIRCaplet.pull": function(lambda: CAPLET.pull(np.zeros(300, dtype=int), rng=1)),
    "CIRCaplet.pull_with_costs": function(
        lambda: CAPLET.pull_with_costs(np.zeros(300, dtype=int), rng=1)),
    "CIRCaplet.paths": function(lambda: CAPLET.paths(np.zeros(300, dtype=int), rng=1)),
    "LogisticEvidence.pull": function(lambda: EVIDENCE.pull([0, 1, 0], rng=1)),
    "LogisticEvidence.pull_with_costs": function(
        lambda: EVIDENCE.pull_with_costs([0, 1, 0], rng=1)),
    "LogisticEvidence.log_likelihood": function(lambda: EVIDENCE.log_likelihood([0.1, 0.2])),
    "GLMControl.changes": function(
        lambda: GLM.changes(np.array([[0.1, 0.2], [0.3, 0.4]]))(ROWS, [0])),
    "GLMControl.total_change": function(
        lambda: GLM.total_change(np.array([[0.1, 0.2], [0.3, 0.4]]))()),
    "TaylorControl.changes": function(
        lambda: TAYLOR.changes(np.array([[0.1, 0.2], [0.3, 0.4]]))(ROWS, [0])),
    "TaylorControl.total_change": function(
        lambda: TAYLOR.total_change(np.array([[0.1, 0.2], [0.3, 0.4]]))()),
    "ExactMinibatch.from_control": function(lambda: mcmc.ExactMinibatch.from_control(
        CURVED, log_likelihood=lambda n, points: -0.5 * (POINTS[n] @ points.T)**2).step(
            np.zeros(2), n_steps=20, rng=1)),
    "GLMControl.value_range": function(
        lambda: CURVED.value_range(np.array([[0.1, 0.2], [0.3, 0.4]]))),
    "TaylorControl.value_range": function(lambda: mcmc.TaylorControl(
        np.zeros(2), POINTS, third=1.0).value_range(np.array([[0.1, 0.2], [0.3, 0.4]]))),
    "TaylorControl.from_autodiff": function(lambda: mcmc.TaylorControl.from_autodiff(
        lambda n, theta: np.sin(POINTS[n] @ theta), 3000, np.zeros(2)).hessian),
    "RacingMetropolis.step": function(lambda: WALK.step([0.1], n_steps=20, rng=1).value),
    "categorical": function(lambda: pb.factors.categorical(
        LABELS, np.log([[0.2, 0.8], [0.5, 0.5]])).evaluate(ROWS, [0, 1])),
    "gaussian": function(
        lambda: pb.factors.gaussian(POINTS[:, 0], [0.1, 0.2]).evaluate(ROWS, [0, 1])),
    "members": function(lambda: pb.factors.members(LABELS, 2)),
    "pairwise": function(lambda: pb.factors.pairwise(np.eye(2), LABELS).evaluate(ROWS, [0, 1])),
    "poisson": function(lambda: pb.factors.poisson(LABELS, [0.1, 0.2]).evaluate(ROWS, [0, 1])),
    "laplace": function(lambda: mcmc.laplace(
        lambda n, points: -((points[:, None] - POINTS[n]) ** 2).sum(axis=2).T, 3000, 2)),
    "PopulationMoments": function(lambda: pb.racing.taylor_control(
        pb.racing.PopulationMoments(POINTS), [[0.0, 0.0]], [0.0, 0.1], np.ones((2, 2))).totals),
    "taylor_control": function(lambda: pb.racing.taylor_control(
        POINTS, [[0.0, 0.0]], [0.0, 0.1], np.ones((2, 2))).totals),
    "verdict": function(
        lambda: pb.verdict(MATRIX[:, 0], MATRIX[:, 1], value_range=(-9, 9)).interval),
    "rank_by_pairs": function(lambda: pb.evaluation.rank_by_pairs(
        lambda a, b, items: MATRIX[items, a] > MATRIX[items, b], MATRIX.shape[1], len(MATRIX),
        rng=1).means),
    "tied_set": function(lambda: pb.tied_set(MATRIX, value_range=(-9, 9)).e_values),
    "RunningVerdict.tell": Call(
        lambda: pb.evaluation.RunningVerdict(value_range=(-9, 9)),
        lambda one: one.tell(MATRIX[:, 0], MATRIX[:, 1]), lambda one: frozen(one.get_state())),
    "RunningVerdict.result": function(lambda: judged().result().interval),
    "medoid": function(lambda: pb.cluster.medoid(MATRIX, rng=1, n_threads=2).mean_distance),
    "confidence_sequence": function(
        lambda: pb.confidence_sequence(MATRIX[:, 0], value_range=(-9, 9))),
    "combine_estimators": function(lambda: pb.combine_estimators(
        [height, height], 200, rng=1, progress=False).allocator.get_state()),
}
