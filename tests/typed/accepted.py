"""Code that `mypy --strict` must accept, with the types that it must infer."""

import math
from collections.abc import Iterator
from typing import Any, assert_type

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

import pybandit as pb
from pybandit.cluster import KMedoids
from pybandit.evaluation import RaceStopping
from pybandit.lab.plates import Layout, Plates
from pybandit.mcmc import (
    ExactMinibatch,
    GLMControl,
    Laplace,
    Mixture,
    PairwiseTable,
    Preconditioned,
    RacingGibbs,
    RacingMetropolis,
    RandomWalk,
    StudentT,
    TaylorControl,
)
from pybandit.model_selection import BanditSearchCV
from pybandit.studies import (
    Amendment,
    AmendResult,
    Batch,
    Event,
    Recommendation,
    Status,
    TellResult,
)
from pybandit.webtests import CountAmendment, SplitCheck, WebTest

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def policies(rng: Generator) -> Ints:
    policy = pb.policies.BatchSAR(100, k=5, batch_size=10, max_batches=20)
    while not policy.done:
        arms = policy.ask()
        policy.tell(arms, rng.normal(size=arms.size), missing="drop")
    assert_type(policy.means, Floats)
    return policy.recommend()


class Greedy(pb.Policy):
    """A user-defined policy."""

    def ask(self) -> Ints:
        return np.array([0])

    def recommend(self) -> Ints:
        return np.array([0])


async def score_one(model: int, item: int) -> float:
    return (model + item) / 99


def races(scores: Floats, rng: Generator) -> None:
    result = pb.best_of(scores, value_range=(0, 1), delta=0.05, rng=1)
    assert_type(result, pb.evaluation.BestOfResult)
    assert_type(result.best, int)
    assert_type(result.intervals, Floats)
    assert_type(result.tied, Ints)
    assert_type(result.summary(), str)
    race = pb.BettingRace(5, 1000, k=2, value_range=(0.0, 1.0), rng=rng)
    arms, items = race.ask()
    race.tell(arms, items, scores[items, arms])
    assert_type(race.recommend(), Ints)
    assert_type(pb.BettingRace.from_state(race.get_state()), pb.BettingRace)
    assert_type(pb.BettingThreshold(5, None, threshold=0.5, value_range=1.0).above, Ints)
    budgeted = pb.BudgetRace(5, 1000, budget=500, value_range=1.0, rng=rng)
    assert_type(budgeted.recommend(), Ints)
    assert_type(budgeted.error_estimate, float)
    assert_type(pb.best_of(scores, value_range=1.0, budget=99).error_estimate, float | None)
    priced = pb.best_of(scores, value_range=1.0, costs=pb.Costs([0.1, 0.2], max_cost=9.0))
    assert_type(priced.cost, float | None)
    pb.best_of(scores, value_range=1.0, items=pb.Items(population_size=math.inf))
    pb.best_of(lambda model, items: items * 1.0, 2, 9, value_range=9.0, store={(0, 1): 0.5})
    weights = pb.evaluation.group_weights(["a", "b"])
    pb.best_of(scores, value_range=1.0, items=pb.Items(weights=weights))
    pairs = pb.best_of_pairs(lambda a, b, items: items > a + b, ["a", "b", "c"], 9,
                             baseline="b")
    assert_type(pairs.baseline, str | None)
    calls = pb.Calls(concurrency=8, retry=TimeoutError, timeout=5.0, per_minute=600, failed=0.0)
    assert_type(pb.best_of(score_one, 2, 9, value_range=1.0, calls=calls).n_wasted, int)
    race.tell(*race.ask(n=40), [0.5] * 40)
    assert_type(race.pending, tuple[Ints, Ints])
    assert_type(race.n_wasted_by_arm, Ints)
    assert_type(race.waste_cost, float | None)
    told = pb.BettingRace(2, 9, population_size=90, value_range=1.0,
                          costs=pb.betting.Costs(max_cost=9.0))
    told.tell([0, 1], [3, 3], [0.5, 0.25], [1.0, 2.0])
    pb.BudgetRace(2, 9, costs=pb.betting.Costs([[0.1, 0.2]], budget=3.5), value_range=1.0)
    assert_type(pb.confidence_sequence(scores[:, 0], value_range=(0, 1)),
                pb.betting.ConfidenceBounds)
    assert_type(pb.race(scores, rng=2).best, int)


def hooks() -> RaceStopping:
    return RaceStopping(3, value_range=(0.0, 1.0), finish=True, delta=0.1)


def large_tables(scores: Floats) -> pb.tables.Blocks:
    def read(block: int, columns: Ints) -> Floats:
        return scores[10 * block:10 * block + 10, columns]

    blocks = pb.tables.Blocks(read, [10, 10], 3, names="abc", shuffled=True)
    assert_type(blocks.sizes, Ints)
    assert_type(blocks.values([0, 1], [2]), Floats)
    assert_type(pb.tables.Blocks.open("scores.parquet", columns=["a"]), pb.tables.Blocks)
    assert_type(pb.race(blocks, rng=1), pb.racing.RaceResult)
    pb.RacingSampler(blocks).draw(5)
    pb.best_of("scores.parquet", value_range=1.0)
    return pb.tables.shuffle(scores, "shuffled.parquet", rng=1, memory=1 << 28)


def draws(y: Floats, means: Floats) -> Ints:
    def log_likelihood(indices: Ints, states: Ints) -> Floats:
        differences: Floats = y[indices, None] - means[states]
        return -0.5 * differences**2

    sampler = pb.RacingSampler(pb.Factors(log_likelihood, y.size, means.size), rng=2)
    states, info = sampler.draw(1000)
    assert_type(info.fraction, float)
    return states


def slices(y: Floats) -> pb.racing.SliceResult:
    def log_likelihood(indices: Ints, points: Floats) -> Floats:
        return -0.5 * np.square(y[indices, None] - points[:, 0])

    return pb.racing.slice_sample(log_likelihood, [0.5], n_factors=y.size, rng=1,
                                  log_prior=lambda x: -float(x @ x))


def medoids(x: Floats, labels: Ints) -> None:
    assert_type(pb.cluster.medoid(x, exact=True).index, int)
    assert_type(pb.cluster.medoid(x, labels=labels).indices, Ints)
    assert_type(pb.cluster.medoid(lambda i, j: x[i] @ x[j].T, 9, triangle=True).bound,
                str | None)


def chains(x: Floats, y: Floats) -> Any:
    def log_likelihood(indices: Ints, points: Floats) -> Floats:
        s = x[indices] @ points.T
        values: Floats = y[indices, None] * s - np.logaddexp(0, s)
        return values

    control = GLMControl(x, y, y, np.zeros(3))
    exact = ExactMinibatch(x, y, family=StudentT(3.0), proposal="laplace", prior_precision=2.0)
    smooth = TaylorControl.from_autodiff(lambda n, theta: x[n] @ theta, 9, np.zeros(3),
                                         backend="jax", third=0.0)
    assert_type(smooth.value_range(x[:2]), tuple[float, float])
    curved = GLMControl(x, y, -y, np.zeros(3), third=0.1)
    assert_type(ExactMinibatch.from_control(curved, log_likelihood=log_likelihood, radius=9.0),
                ExactMinibatch)
    assert_type(exact.step(exact.mode, n_steps=5, rng=1).value, Floats)
    assert_type(pb.mcmc.laplace(log_likelihood, *x.shape), Laplace)
    draws = Preconditioned(np.zeros(3), np.eye(3), step=0.8)
    assert_type(Preconditioned.from_control(control, prior_precision=1.0), Preconditioned)
    proposal = Mixture([draws, RandomWalk(0.1)], [19, 1])
    sampler = RacingMetropolis(log_likelihood, *x.shape, proposal=proposal, control=control,
                               log_prior=lambda theta: -0.5 * float(theta @ theta))
    assert_type(sampler.step(np.zeros(3), rng=1).value, Floats)
    gibbs = RacingGibbs(lambda variable, values: x[values], 3, order="random")
    graph = PairwiseTable(np.eye(2), [[1], [0]], log_prior=[0.0, 0.5])
    assert_type(graph.n_states, int)
    RacingGibbs(graph, method="poisson").sample(10)
    labels = np.zeros(5, dtype=np.int64)
    for part in pb.factors.members(labels, 2):
        assert_type(pb.factors.gaussian(y, [0.0, 1.0], members=part), pb.Factors)
    assert_type(pb.factors.pairwise(np.eye(2), labels, weights=np.ones(5)), pb.Factors)
    return sampler.sample(2000, n_warmup=500, rng=1), gibbs.sample(10, n_chains=2)


def simulations() -> None:
    bandit = pb.environments.BernoulliBandit([0.1, 0.9])
    result = pb.simulate(lambda environment: pb.policies.UCB1(environment.n_arms), bandit, 100,
                         rng=1,
                         max_pulls=50, metrics={"told": lambda policy, _: float(policy.n_pulls)})
    assert_type(result.error_probability, float)
    assert_type(result.error_interval, tuple[float, float])
    assert_type(result.quantiles([0.1, 0.5]), NDArray[np.float64])
    pair = pb.compare({"policy": pb.policies.UCB1(2),
                       "factory": lambda e: pb.policies.Uniform(e.n_arms, budget=50)},
                      bandit, 10, max_pulls=50, checkpoints=[10, 50],
                      answer=pb.simulation.Above(0.5))
    assert_type(pair, pb.simulation.Comparison)
    assert_type(pair + pair, pb.simulation.Comparison)
    assert_type(pair["policy"], pb.simulation.SimulationResult)
    budgets = pb.compare({"policy": pb.policies.UCB1(2), "planned": lambda e,
                          n: pb.policies.Uniform(2, budget=n)}, bandit,
                         10, budgets=[10, 50])
    assert_type(budgets, pb.simulation.Comparison)
    mean, low, high = pair["factory"].curve("regret")
    assert_type(mean, NDArray[np.float64])


def searches(x: Floats, y: Floats) -> BanditSearchCV:
    search = BanditSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, budget=4, policy="halving").fit(x, y)
    assert_type(search, BanditSearchCV)
    assert_type(search.best_params_, dict[str, Any])
    assert_type(search.best_score_, float)
    assert_type(search.n_fits_, int)
    search.predict(x)
    return search


def clusters(x: Floats) -> KMedoids:
    result = pb.cluster.kmedoids(x, 3, metric="manhattan", rng=1)
    assert_type(result, pb.cluster.KMedoidsResult)
    assert_type(result.inertia, float)
    assert_type(result.labels, NDArray[np.int32])
    found = KMedoids(3, random_state=0).fit(x)
    assert_type(found, KMedoids)
    assert_type(found.inertia_, float)
    return found


def estimators() -> float:
    made = pb.combine_estimators([lambda rng: rng.random(), lambda rng: 0.5], 100, rng=1)
    assert_type(made, pb.montecarlo.Estimate)
    assert_type(made.allocator, pb.montecarlo.EstimatorAllocator)
    return made.estimate


def studies() -> Iterator[Event]:
    with pb.Study.create(":memory:", pb.policies.Uniform(2, budget=4),
                         arms=["tea", "coffee"]) as study:
        assert_type(study, pb.Study)
        batch = study.ask()
        assert_type(batch, Batch | None)
        if batch is not None:
            told = study.tell(batch.id, [0.1, 0.4], positions=[0, 1], missing="wait")
            assert_type(study.amend(batch.id, [0.2], positions=[0], reason="typo"), AmendResult)
            assert_type(study.amendments(), list[Amendment])
            assert_type(told, TellResult)
        assert_type(study.recommend(), Recommendation)
        assert_type(study.status(), Status)
        return study.log()


def web_tests() -> Ints:
    race = pb.CountRace(3, delta=0.1, ties="any")
    race.tell_counts([10, 9, 11], [1, 0, 2.5])
    race.tell_counts([10, 9, 11], [1, 0, 2.5], squares=[1, 0, 2.25])
    assert_type(race.capital, Floats)
    assert_type(race.add_arm(), int)
    with WebTest.create(":memory:", race, arms=["a", "b", "c", "d"]) as study:
        assert_type(study.tell_counts({"a": (9, 1), "d": (8, 2)}, key="monday"), TellResult)
        done = study.amend_counts("monday", {"a": (8, 1)}, reason="robots")
        assert_type(done, AmendResult)
        assert_type(study.amendments(), list[CountAmendment])
        assert_type(study.status().split, SplitCheck | None)
        study.retire("b", "broken")
        return study.split(5000)


def plates() -> list[str]:
    layout = Layout.parse("8x12")
    assert_type(layout.wells, tuple[str, ...])
    return Plates(layout, controls=(0, 11)).names(3, 200)
