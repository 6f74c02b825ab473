"""Short runs of every room with known results, for `pybandit doctor`.

The results are integers, so that they do not depend on how numbers are printed. They are those of
x86-64 with glibc. Another C library may round a logarithm differently, which can change a draw.
"""

import zlib

import numpy as np

from pybandit.betting import BettingRace, CountRace
from pybandit.cluster import kmedoids, medoid
from pybandit.evaluation import best_of
from pybandit.lab import Layout, Plates, Screen
from pybandit.mcmc import ExactMinibatch
from pybandit.montecarlo import combine_estimators
from pybandit.policies import (
    LUCB,
    UCB1,
    BatchRacing,
    BayesGap,
    SequentialHalving,
    ThompsonSampling,
    Uniform,
)
from pybandit.racing import Looks, RacingSampler
from pybandit.simulation import simulate
from pybandit.simulation.environments import GaussianBandit
from pybandit.studies import Study
from pybandit.tables import Blocks
from pybandit.webtests import WebTest

# Numbers without a generator, whose sums are exact.
FACTORS = ((np.arange(4000)[:, None] * 37 + np.arange(3) * 11) % 64 + np.arange(3)) / 256.0
TABLE = ((np.arange(600)[:, None] * 29 + np.arange(4) * 7) % 64 + np.arange(4) * 8) / 96.0
MEANS = np.array([0.2, 0.4, 0.6, 0.5])


def betting():
    race = BettingRace(4, 600, value_range=(0, 1), rng=1)
    items = []
    while not race.done:
        arms, asked = race.ask()
        race.tell(arms, asked, TABLE[asked, arms])
        items += asked.tolist()
    return [*items, *race.recommend()]


def cluster():
    return [medoid(FACTORS, rng=1).index, *kmedoids(FACTORS, 3, rng=1).indices]


def racing():
    looks = Looks(max_fraction=1.0)  # by default such a small table is read in full
    return RacingSampler(FACTORS / 16, looks=looks, rng=1).draw(500)[0]


def policies():
    found = []
    for policy in (SequentialHalving(4, budget=200), ThompsonSampling(4, rng=1),
                   BatchRacing(4, 1, batch_size=8), LUCB(4),
                   BayesGap(4, budget=40, noise_std=0.5, kernel=np.eye(4))):
        while not policy.done and policy.n_pulls < 400:
            arms = policy.ask()
            policy.tell(arms, MEANS[arms])
            found += arms.tolist()
    return found


def simulation():
    found = simulate(UCB1(4), GaussianBandit(MEANS), 50, max_pulls=200, rng=1)
    return np.rint(10 * found.cumulative_regrets)  # differences of means are multiples of 0.1


def montecarlo():
    estimators = [lambda rng: rng.random(), lambda rng: rng.normal(0.5, 0.1)]
    return combine_estimators(estimators, 300, rng=1, progress=False).pulls


def mcmc():
    sampler = ExactMinibatch(FACTORS[:, :1] - 0.5, FACTORS[:, 1] > 0.45)
    step = sampler.step(sampler.mode, n_steps=300, rng=1)
    return [step.n_accepted, step.n_evaluations]


def evaluation():
    return best_of(TABLE, value_range=(0, 1), rng=1).items


def tables():
    blocks = Blocks(lambda block, columns: TABLE[100 * block:100 * block + 100, columns],
                              [100] * 6, 4, shuffled=True)
    return best_of(blocks, value_range=(0, 1), rng=1).items


def studies():
    policy = Uniform(4, budget=40)
    with Study.create(":memory:", policy) as study:
        while (batch := study.ask()) is not None:
            study.tell(batch.id, MEANS[batch.arms])
        return [*study.recommend().best_arms, study.status().n_pulls, bool(study.verify())]


def lab():
    with Screen.create(":memory:", Uniform(4, budget=8),
                       plates=Plates(Layout.parse("2x4"))) as screen:
        return list(screen.plate_texts(screen.ask())["0"].encode())


def webtests():
    with WebTest.create(":memory:", CountRace(2), shares=[2, 1]) as test:
        test.tell_counts({"0": (2500, 100), "1": (1250, 80)}, key="Monday")
        return [*test.split(1000), *test.recommend().best_arms]


# checksums of the results, by room
EXPECTED = {
    "betting": 0x07516e4b,
    "cluster": 0x85d53a69,
    "evaluation": 0x85a61393,
    "lab": 0xd8d7f81e,
    "mcmc": 0x39855b46,
    "montecarlo": 0x2de24eae,
    "policies": 0x7e1a6c99,
    "racing": 0x015b89b6,
    "simulation": 0xf1d257c3,
    "studies": 0xa6c986ff,
    "tables": 0x71cfe755,
    "webtests": 0x748083ae,
}


def run():
    """Yield each room, and "equal" or its defect."""
    for room, expected in EXPECTED.items():
        try:
            found = checksum(globals()[room]())
        except Exception as error:
            yield room, f"{type(error).__name__}: {error}"
        else:
            yield room, "equal" if found == expected else f"differs: {found:08x}"


def checksum(integers):
    """Return the CRC-32 of integers, written as text."""
    return zlib.crc32(" ".join(str(int(one)) for one in np.ravel(integers)).encode())
