"""Jobs that each round repeats: every run of a job must give the same result."""

import tempfile
from pathlib import Path

import numpy as np
from sklearn.linear_model import Ridge

import golden_draws
import pybandit as pb
from interrupted_calls import BANDITS, POINTS
from pybandit.lab.report import page_text
from pybandit.model_selection import BanditSearchCV
from pybandit.studies import Study

from betting.races import MAKERS
from policies.every_class import EVERY
from studies.cases import measured

# objects that live through all rounds
SAMPLER = pb.RacingSampler(golden_draws.FACTORS, rng=1)
TEST = pb.racing.AcceptanceTest(golden_draws.FACTORS[:, 0], rng=1)
# the exponential forms store no values
SEQUENCE = pb.betting.ConfidenceSequence(population_size=10**9, method="empirical-bernstein")


def simulated():
    found = pb.simulate(lambda e: pb.policies.SequentialHalving(e.n_arms, budget=200),
                        BANDITS["GaussianBandit"],
                        1000, rng=1, n_threads=2)
    costly = pb.simulate(lambda e: pb.policies.UCB1(e.n_arms), BANDITS["BernoulliBandit"], 200,
                         max_pulls=300, rng=1)
    return found.cumulative_regrets.sum() + costly.cumulative_regrets.sum()


def kept():
    """Draw from objects that live through all rounds.

    Their draws differ between rounds, so the result has only what does not depend on them.
    """
    states, _ = SAMPLER.draw(1000)
    SEQUENCE.tell(np.full(20_000, 0.25))
    return [states.size, TEST.test().accepted in (True, False), SEQUENCE.mean]


def drawn():
    slow = ("RacingGibbs", "shuffle", "plan_counts")
    return [golden_draws.numbers(draw()) for name, draw in golden_draws.DRAWS.items()
            if name not in slow]


def chains():
    chain = pb.mcmc.RacingMetropolis(
        lambda i, x: -0.5 * (golden_draws.ROWS[i, :1] - x[:, 0]) ** 2, 400, 1)
    both = [chain.step([0.1], n_steps=30, rng=1).value,
            golden_draws.exact().step(np.zeros(2), n_steps=300, rng=1).value]
    result = golden_draws.gibbs().sample(2, n_warmup=5, n_chains=2, n_threads=2, rng=1)
    return [*both, golden_draws.numbers(result)]


def policies():
    return [golden_draws.played(make(), "costs" in name or name == "allocator thompson")
            for name, make in EVERY.items() if not name.startswith("refits")]


def states():
    """Save states and restore them, valid and damaged; a rejected state must leak nothing."""
    refused = 0
    for make in list(EVERY.values())[::3]:
        policy = make()
        state = policy.get_state()
        type(policy).from_state(state).ask()
        for broken in ({**state, "n_pulls": -1}, {**state, "more": 1}, {}):
            try:
                type(policy).from_state(broken)
            except ValueError:
                refused += 1
    return refused


def refused():
    """Raise errors about arguments and in user functions."""
    def fails(rows, states):
        raise KeyError("of the user")

    policy, seen = pb.policies.UCB1(3), []
    for call in 10 * (lambda: policy.tell(policy.ask(), [np.nan]), lambda: pb.policies.UCB1(-1),
                 lambda: pb.race(pb.Factors(fails, 300, 2), rng=1),
                 lambda: pb.race(np.full((300, 2), np.nan)),
                 lambda: pb.best_of(lambda arm, item: fails(0, 0), 3, 50, value_range=(0, 1),
                                    progress=False)):
        try:
            call()
        except Exception as error:
            seen.append(type(error).__name__)
    return seen


def races():
    return [golden_draws.raced(make(), name == "told") for name, make in MAKERS.items()]


def searched():
    search = BanditSearchCV(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, cv=3, random_state=1)
    return search.fit(POINTS[:60], POINTS[:60, 0] * 2.0).best_params_["alpha"]


def studied():
    """Create a study, run it up to its report, and delete it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "study.db")
        with Study.create(path, pb.policies.BatchSAR(7, 2, batch_size=5, max_batches=12,
                                                     max_repeats=2)) as study:
            while batch := study.ask():
                study.tell(batch.id, measured(batch.id, batch.arms))
        with Study.open(path) as study:
            study.verify()
            return [study.recommend().best_arms, len(page_text(study)) > 1000, study.policy.n_pulls]


# the unit of the costs of all jobs, so that the speed of the machine cancels
def reference():
    total, values = 0, np.arange(2000.0)
    for i in range(200_000):
        total += i % 7
    for _ in range(4000):
        values = np.sqrt(values * values + 1e-9)
    return [total, values.sum()]


JOBS = {job.__name__: job for job in (simulated, kept, drawn, chains, policies, states, refused,
                                      races, searched, studied)}

LEAKS = []


def leaking():
    """Leak memory, a descriptor and time, to test the verdict."""
    LEAKS.append((np.ones(100_000), tempfile.TemporaryFile()))
    for _ in range(50 * len(LEAKS)):
        np.arange(20_000.0).sum()
