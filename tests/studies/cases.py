"""Policies of every class and repeatable measurements, for tests of studies."""

import functools

import numpy as np

import pybandit as pb
from pybandit.studies import _snapshot

N = 7
KERNEL = np.exp(-np.subtract.outer(np.arange(N), np.arange(N)) ** 2 / 8.0)
VARIANCES = np.arange(1.0, N + 1)
NOISE_STD = np.sqrt(VARIANCES)

POLICIES = {
    "uniform": lambda: pb.policies.Uniform(N, budget=40),
    "round robin": lambda: pb.policies.RoundRobin(N, 2, batch_size=5, max_batches=9),
    "batch halving": lambda: pb.policies.BatchHalving(N, 2, batch_size=5, max_batches=9, rng=3),
    "batch racing": lambda: pb.policies.BatchRacing(N, 2, delta=0.1, batch_size=5, noise_std=0.05),
    "batch sar": lambda: pb.policies.BatchSAR(N, 2, batch_size=5, max_batches=12, max_repeats=2),
    "batch screening": lambda: pb.policies.BatchScreening(N, 2, batch_size=5, max_batches=12,
                                                          max_repeats=2),
    "batch screening prior": lambda: pb.policies.BatchScreening(N, 2, batch_size=5, max_batches=12,
                                                                prior_means=VARIANCES,
                                                                noise_std=0.1),
    "halving": lambda: pb.policies.SequentialHalving(N, budget=80),
    "halving reuse": lambda: pb.policies.SequentialHalving(N, budget=80, reuse=True),
    "shvar": lambda: pb.policies.SHVar(N, budget=80, noise_std=NOISE_STD),
    "shvar reuse": lambda: pb.policies.SHVar(N, budget=80, noise_std=NOISE_STD, reuse=True,
                                             spend_all=True),
    "shadavar": lambda: pb.policies.SHAdaVar(N, budget=150, delta=0.5),
    "shadavar reuse": lambda: pb.policies.SHAdaVar(N, budget=150, delta=0.5, reuse=True),
    "successive rejects": lambda: pb.policies.SuccessiveRejects(N, budget=60),
    "vbr": lambda: pb.policies.VBR(N, budget=60),
    "continuous rejects": lambda: pb.policies.ContinuousRejects(N, budget=60),
    "continuous rejects A": lambda: pb.policies.ContinuousRejects(N, budget=60, criterion="A"),
    "gap": lambda: pb.policies.GapE(N, budget=40, value_range=1.0),
    "gap known": lambda: pb.policies.GapE(N, budget=40, value_range=1.0, complexity=9.0),
    "gapv": lambda: pb.policies.GapEV(N, budget=50, value_range=1.0),
    "ucbe": lambda: pb.policies.UCBE(N, budget=40, complexity=9.0),
    "ugap": lambda: pb.policies.UGapEb(N, budget=40, noise_std=0.3),
    "ucb1": lambda: pb.policies.UCB1(N),
    "ucbv": lambda: pb.policies.UCBV(N),
    "klucb": lambda: pb.policies.KLUCB(N),
    "thompson": lambda: pb.policies.ThompsonSampling(N, rng=5),
    "thompson batches": lambda: pb.policies.ThompsonSampling(N, rng=5, batch_size=9),
    "thompson gaussian": lambda: pb.policies.ThompsonSampling(N, rng=5, law="gaussian"),
    "ebtc": lambda: pb.policies.EBTC(N, max_pulls=40),
    "ebtc aware": lambda: pb.policies.EBTC(N, noise_std="estimated"),
    "ebtc sure": lambda: pb.policies.EBTC(N, stopping=pb.stopping.GLR(delta=0.1, noise_std=0.05)),
    "top two": lambda: pb.policies.TopTwo(N, stopping=pb.stopping.GLR(delta=0.1, law="bernoulli"),
                                          max_pulls=60, rng=1),
    "top two ids": lambda: pb.policies.TopTwo(N, beta="ids", leader="ucb", noise_std=0.05, rng=1),
    "top two draws": lambda: pb.policies.TopTwo(N,
                                                stopping=pb.stopping.GLR(delta=0.1, law="poisson"),
                                                challenger="thompson", rng=1),
    "top two bets": lambda: pb.policies.TopTwo(N, stopping=pb.stopping.Betting(delta=0.1),
                                               leader="empirical",
                                               max_pulls=60, rng=1),
    "track": lambda: pb.policies.TrackAndStop(N,
                                              stopping=pb.stopping.GLR(delta=0.1, noise_std=0.05)),
    "track sums": lambda: pb.policies.TrackAndStop(N, law="bernoulli", tracking="C", max_pulls=50),
    "lucb": lambda: pb.policies.LUCB(N, delta=0.1, k=2, noise_std=0.05),
    "kl lucb": lambda: pb.policies.KLLUCB(N, delta=0.1, k=3, epsilon=0.2, max_pulls=70),
    "top two unknown": lambda: pb.policies.TopTwo(N, law="gaussian-unknown", max_pulls=60, rng=1),
    "ugap sure": lambda: pb.policies.UGapEc(N, delta=0.1, k=2, noise_std=0.05),
    "elimination": lambda: pb.policies.SuccessiveElimination(
        N,
        stopping=pb.stopping.GLR(delta=0.1, noise_std=0.05)),
    "elimination of two": lambda: pb.policies.SuccessiveElimination(
        N, stopping=pb.stopping.GLR(delta=0.1, noise_std=0.05), k=2),
    "lil ucb": lambda: pb.policies.LilUCB(N, delta=0.1, noise_std=0.05, guarantee="heuristic"),
    "apt": lambda: pb.policies.APT(N, max_pulls=60, threshold=0.45),
    "good arms": lambda: pb.policies.GoodArms(N, delta=0.1, threshold=0.45, law="bernoulli"),
    "good arms unknown": lambda: pb.policies.GoodArms(N, delta=0.1, threshold=0.45,
                                                      law="gaussian-unknown",
                                                      sampling="apt", epsilon=0.01),
    "bayes gap": lambda: pb.policies.BayesGap(len(KERNEL), budget=30, kernel=KERNEL, noise_std=0.3),
    "bayes gap weights": lambda: pb.policies.BayesGap(len(KERNEL[:, :3]), budget=30,
                                                      features=KERNEL[:, :3], noise_std=None),
    "gp ucb": lambda: pb.policies.GPUCB(len(KERNEL), budget=30, kernel=KERNEL, noise_std=0.3),
    "bayes ucb": lambda: pb.policies.BayesUCB(len(KERNEL), budget=30, kernel=KERNEL, noise_std=0.3),
    "ei": lambda: pb.policies.ExpectedImprovement(len(KERNEL), budget=30, kernel=KERNEL,
                                                  noise_std=0.3),
    "pi": lambda: pb.policies.ProbabilityOfImprovement(len(KERNEL), budget=30, kernel=KERNEL,
                                                       noise_std=0.3),
    "gaussian thompson": lambda: pb.policies.GaussianThompson(len(KERNEL), budget=30, kernel=KERNEL,
                                                              noise_std=0.3,
                                                              rng=2),
}


def measured(number, arms, seed=0):
    """Return rewards in [0, 1] that depend only on the arms and the number of the batch."""
    return (0.1 + 0.1 * np.asarray(arms) + noise(number, len(arms), seed)).clip(0.0, 1.0)


USUAL = {name: getattr(_snapshot, name) for name in ("SMALL", "SHARE", "PATIENCE")}


def store_states(share=None):
    """Store small states as usual, or once the log has grown by 1 / share of the size of a state.

    With share 0, states are stored at the start and after amendments only.
    """
    chosen = USUAL if share is None else dict(SMALL=0, SHARE=share, PATIENCE=np.inf)
    for name, value in chosen.items():
        setattr(_snapshot, name, value)


@functools.lru_cache(10_000)
def noise(number, size, seed):
    return np.random.default_rng([seed, number]).normal(0.0, 0.05, size)


def make(path, n_batches=4):
    """Create a study with complete, closed and open batches, and waiting late results."""
    study = pb.Study.create(path, pb.policies.BatchSAR(30, 3, batch_size=8, max_batches=30,
                                                       max_repeats=2))
    for _ in range(n_batches):
        batch = study.ask()
        study.tell(batch.id, measured(batch.id, batch.arms)[:6], positions=np.arange(6))
        study.close_batch(batch.id)
    batch = study.ask()
    study.tell(0, measured(0, np.zeros(8, int))[6:], positions=[6, 7])
    study.tell(batch.id, measured(batch.id, batch.arms)[:2], positions=[0, 1])
    return study
