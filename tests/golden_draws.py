"""First results of everything that draws random numbers, to compare later releases with.

    python tests/golden_draws.py     # writes golden_draws.json again

Integers are compared bit for bit, other numbers to ten digits, because the last digits depend on
the mathematical library. A change needs a line in the changelog.
"""

import dataclasses
import hashlib
import json
import re
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(HERE.parent)]

import pybandit as pb  # noqa: E402
from interrupted_calls import BANDITS, CAPLET, EVIDENCE  # noqa: E402
from pybandit.webtests import plan_counts  # noqa: E402

from betting.races import MAKERS  # noqa: E402
from policies.every_class import EVERY  # noqa: E402

GOLDEN = HERE / "golden_draws.json"
# Numbers without a generator, whose sums are exact.
FACTORS = ((np.arange(4000)[:, None] * 37 + np.arange(3) * 11) % 64 + np.arange(3)) / 256.0
TABLE = ((np.arange(600)[:, None] * 29 + np.arange(4) * 7) % 64 + np.arange(4) * 8) / 96.0
ROWS = np.stack([(np.arange(400) * step) % 17 / 8.0 - 1.0 for step in (1, 5)], axis=1)


def plain(result):
    """Return numbers for JSON; of long arrays, the first ones and a digest."""
    values = np.asarray(result)
    if values.dtype.kind == "f":
        texts = [f"{value:.10g}" for value in np.where(values == 0, 0.0, values).ravel()]
        numbers = [float(text) for text in texts]
    else:
        numbers = values.astype(int).ravel().tolist()
        texts = list(map(str, numbers))
    if len(numbers) <= 12:
        return numbers
    return [*numbers[:8], hashlib.sha256(" ".join(texts).encode()).hexdigest()[:16]]


def reward(arm, n):
    """Return the n-th reward of an arm, in [0, 1]."""
    return ((n * 37 + arm * 11) % 64 + 8 * arm) / 128.0


def played(policy, tells_costs):
    """Return the arms that a policy requests in up to 300 pulls, and its answer."""
    asked, counts = [], {}
    while not policy.done and len(asked) < 300:
        arms = np.asarray(policy.ask()).tolist()
        rewards = []
        for arm in arms:
            rewards.append(reward(arm, counts.setdefault(arm, 0)))
            counts[arm] += 1
        policy.tell(arms, rewards, *([1.0 + arm / 8 for arm in arms],) * tells_costs)
        asked += arms
    answer = policy.recommend() if hasattr(policy, "recommend") else policy.estimate
    return {"asked": plain(asked), "answer": plain(answer)}


def raced(race, tells_costs):
    """Return the scores that a race requests, as (arm, item), and its answer."""
    cells = []
    while not race.done and len(cells) < 2000:
        arms, items = race.ask()
        race.tell(arms, items, TABLE[items % 600, arms], *(1.0 + arms,) * tells_costs)
        cells += zip(arms.tolist(), items.tolist(), strict=True)
    return {"cells": plain(cells), "answer": plain(race.recommend())}


def numbers(result):
    """Return all numbers of a result."""
    if hasattr(result, "posterior"):
        return plain(next(iter(result.posterior.values())))
    if isinstance(result, pb.montecarlo.EstimatorAllocator):
        return [*plain(result.pulls), *plain([result.estimate])]
    if dataclasses.is_dataclass(result):
        result = [getattr(result, field.name) for field in dataclasses.fields(result)]
    if hasattr(result, "__match_args__"):
        result = [getattr(result, name) for name in result.__match_args__]
    if isinstance(result, (tuple, list)):
        return [numbers(part) for part in result]
    return plain(result)


def shuffled():
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/in.npy", np.arange(500.0)[:, None] + np.zeros(2))
        pb.tables.shuffle(f"{folder}/in.npy", f"{folder}/out.parquet", rng=3)
        blocks = pb.tables.Blocks.open(f"{folder}/out.parquet")
        order = blocks.values(np.arange(500), [0]).ravel().astype(int)
        del blocks  # Windows removes no open file
        return order


def gibbs():
    return pb.mcmc.RacingGibbs(lambda v, x: FACTORS * (1 + x.sum() / 8), 4)


def metropolis():
    return pb.mcmc.RacingMetropolis(
        lambda i, points: -0.5 * (ROWS[i, :1] - points[:, 0]) ** 2, 400, 1)


def exact():
    return pb.mcmc.ExactMinibatch(ROWS, (np.arange(400) % 3 == 0).astype(float))


DRAWS = {
    "race": lambda: pb.race(FACTORS, [0.3, 0.0, 0.0], rng=1),
    "accept": lambda: pb.racing.accept(FACTORS[:, 0], 0.3, rng=1),
    "lil_ucb": lambda: pb.racing.lil_ucb(FACTORS, value_range=0.25, rng=1),
    "race_populations": lambda: pb.racing.race_populations([FACTORS[:, 0], FACTORS[:, 1]], rng=1),
    "slice_sample": lambda: pb.racing.slice_sample(
        lambda i, v: -0.5 * (ROWS[i, :1] - v) ** 2, 0.3, n_factors=400, rng=1),
    "exact_sample": lambda: pb.racing.exact_sample(FACTORS, size=50, rng=1),
    "RacingSampler": lambda: pb.RacingSampler(FACTORS, rng=1).draw(50),
    "AcceptanceTest": lambda: pb.racing.AcceptanceTest(FACTORS[:, 0], rng=1).test(),
    "RacingGibbs": lambda: gibbs().sample(20, rng=1),
    "RacingMetropolis": lambda: metropolis().sample(20, rng=1),
    "ExactMinibatch": lambda: exact().sample(20, rng=1),
    "combine_estimators": lambda: pb.combine_estimators(
        [lambda rng: rng.random(), lambda rng: rng.normal(0.5, 0.1)], 200, rng=1,
        progress=False).allocator,
    "simulate": lambda: pb.simulate(
        lambda e: pb.policies.SequentialHalving(e.n_arms, budget=60),
                                    pb.environments.GaussianBandit([0, 1, 2]),
        20, rng=1).cumulative_regrets,
    "best_of": lambda: pb.best_of(TABLE, value_range=(0, 1), rng=1).items,
    "medoid": lambda: pb.cluster.medoid(TABLE, rng=1).index,
    "kmedoids": lambda: pb.cluster.kmedoids(TABLE, 3, rng=1).indices,
    "verdict": lambda: pb.verdict(TABLE[:, 0], TABLE[:, 1], rng=1).interval,
    "tied_set": lambda: pb.tied_set(TABLE, rng=1).e_values,
    "BudgetRace": lambda: pb.best_of(TABLE, value_range=(0, 1), budget=200, rng=1).items,
    "shuffle": shuffled,
    "plan_counts": lambda: plan_counts([0.04, 0.06], 3000, n_runs=10, max_batches=30,
                                     rng=1),
    **{name: lambda bandit=bandit: bandit.pull(np.arange(60) % 3, rng=1)
       for name, bandit in BANDITS.items() if name != "FunctionEnvironment"},
    "CIRCaplet": lambda: CAPLET.pull(np.zeros(20, dtype=int), rng=1),
    "LogisticEvidence": lambda: EVIDENCE.pull([0, 1] * 10, rng=1),
}


def golden():
    """Return all results by kind and name."""
    return {
        "policies": {name: played(make(), "costs" in name or name == "allocator thompson")
                     for name, make in EVERY.items() if not name.startswith("refits")},
        "races": {name: raced(make(), name == "told") for name, make in MAKERS.items()},
        "draws": {name: numbers(draw()) for name, draw in DRAWS.items()},
    }


if __name__ == "__main__":
    lists = re.compile(r"\[[^\[\]]*\]")
    text = lists.sub(lambda found: " ".join(found[0].split()), json.dumps(golden(), indent=1))
    GOLDEN.write_text(text + "\n", "utf-8")
