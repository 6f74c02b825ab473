"""Policies of every class, and a measurement that a study can repeat: for the tests of studies."""

import functools

import numpy as np

import pybandit as pb

N = 7
KERNEL = np.exp(-np.subtract.outer(np.arange(N), np.arange(N)) ** 2 / 8.0)
VARIANCES = np.arange(1.0, N + 1)

POLICIES = {
    "uniform": lambda: pb.Uniform(N, 40),
    "round robin": lambda: pb.RoundRobin(N, 2, 5, 9),
    "batch halving": lambda: pb.BatchHalving(N, 2, 5, 9, rng=3),
    "batch racing": lambda: pb.BatchRacing(N, 2, 0.1, 5, sigma=0.05),
    "batch sar": lambda: pb.BatchSAR(N, 2, 5, 12, 2),
    "batch screening": lambda: pb.BatchScreening(N, 2, 5, 12, 2),
    "batch screening prior": lambda: pb.BatchScreening(N, 2, 5, 12, prior_means=VARIANCES,
                                                       noise_std=0.1),
    "halving": lambda: pb.SequentialHalving(N, 80),
    "halving reuse": lambda: pb.SequentialHalving(N, 80, reuse=True),
    "shvar": lambda: pb.SHVar(N, 80, VARIANCES),
    "shvar reuse": lambda: pb.SHVar(N, 80, VARIANCES, reuse=True, spend_all=True),
    "shadavar": lambda: pb.SHAdaVar(N, 150, 0.5),
    "shadavar reuse": lambda: pb.SHAdaVar(N, 150, 0.5, reuse=True),
    "successive rejects": lambda: pb.SuccessiveRejects(N, 60),
    "vbr": lambda: pb.VBR(N, 60),
    "continuous rejects": lambda: pb.ContinuousRejects(N, 60),
    "continuous rejects A": lambda: pb.ContinuousRejects(N, 60, "A"),
    "gap": lambda: pb.GapE(N, 40, 1.0),
    "gap known": lambda: pb.GapE(N, 40, 1.0, 9.0),
    "gapv": lambda: pb.GapEV(N, 50, 1.0),
    "ucbe": lambda: pb.UCBE(N, 40, 9.0),
    "ugap": lambda: pb.UGapEb(N, 40, sigma=0.3),
    "ucb1": lambda: pb.UCB1(N),
    "ucbv": lambda: pb.UCBV(N),
    "klucb": lambda: pb.KLUCB(N),
    "thompson": lambda: pb.ThompsonSampling(N, 5),
    "thompson batches": lambda: pb.ThompsonSampling(N, 5, batch_size=9),
    "thompson gaussian": lambda: pb.ThompsonSampling(N, 5, law="gaussian"),
    "ebtc": lambda: pb.EBTC(N, budget=40),
    "ebtc aware": lambda: pb.EBTC(N, variance_aware=True),
    "ebtc sure": lambda: pb.EBTC(N, stopping=pb.stopping.GLR(0.1, sigma=0.05)),
    "top two": lambda: pb.TopTwo(N, pb.stopping.GLR(0.1, "bernoulli"), budget=60, rng=1),
    "top two ids": lambda: pb.TopTwo(N, beta="ids", leader="ucb", sigma=0.05, rng=1),
    "top two draws": lambda: pb.TopTwo(N, pb.stopping.GLR(0.1, "poisson"),
                                       challenger="thompson", rng=1),
    "top two bets": lambda: pb.TopTwo(N, pb.stopping.Betting(0.1), leader="empirical",
                                      budget=60, rng=1),
    "track": lambda: pb.TrackAndStop(N, pb.stopping.GLR(0.1, sigma=0.05)),
    "track sums": lambda: pb.TrackAndStop(N, law="bernoulli", tracking="C", budget=50),
    "lucb": lambda: pb.LUCB(N, 0.1, 2, sigma=0.05),
    "kl lucb": lambda: pb.KLLUCB(N, 0.1, 3, epsilon=0.2, budget=70),
    "top two unknown": lambda: pb.TopTwo(N, law="gaussian-unknown", budget=60, rng=1),
    "ugap sure": lambda: pb.UGapEc(N, 0.1, 2, sigma=0.05),
    "elimination": lambda: pb.SuccessiveElimination(N, pb.stopping.GLR(0.1, sigma=0.05)),
    "elimination of two": lambda: pb.SuccessiveElimination(
        N, pb.stopping.GLR(0.1, sigma=0.05), 2),
    "lil ucb": lambda: pb.LilUCB(N, 0.1, sigma=0.05, constants="heuristic"),
    "apt": lambda: pb.APT(N, 60, threshold=0.45),
    "good arms": lambda: pb.GoodArms(N, 0.1, threshold=0.45, law="bernoulli"),
    "good arms unknown": lambda: pb.GoodArms(N, 0.1, threshold=0.45, law="gaussian-unknown",
                                             sampling="apt", epsilon=0.01),
    "bayes gap": lambda: pb.BayesGap(30, kernel=KERNEL, noise_std=0.3),
    "bayes gap weights": lambda: pb.BayesGap(30, features=KERNEL[:, :3], noise_std=None),
    "gp ucb": lambda: pb.GPUCB(30, kernel=KERNEL, noise_std=0.3),
    "bayes ucb": lambda: pb.BayesUCB(30, kernel=KERNEL, noise_std=0.3),
    "ei": lambda: pb.ExpectedImprovement(30, kernel=KERNEL, noise_std=0.3),
    "pi": lambda: pb.ProbabilityOfImprovement(30, kernel=KERNEL, noise_std=0.3),
    "gaussian thompson": lambda: pb.GaussianThompson(30, kernel=KERNEL, noise_std=0.3, rng=2),
}


def measured(number, arms, seed=0):
    """The rewards in [0, 1] of a batch of this number: the same whenever it is measured."""
    return (0.1 + 0.1 * np.asarray(arms) + noise(number, len(arms), seed)).clip(0.0, 1.0)


@functools.lru_cache(10_000)
def noise(number, size, seed):
    return np.random.default_rng([seed, number]).normal(0.0, 0.05, size)


def make(path, n_batches=4):
    """Some batches, a closed one, an open one and late results that wait."""
    study = pb.Study.create(path, pb.BatchSAR(30, 3, 8, 30, 2))
    for _ in range(n_batches):
        batch = study.ask()
        study.tell(batch.id, measured(batch.id, batch.arms)[:6], positions=np.arange(6))
        study.close_batch(batch.id)
    batch = study.ask()
    study.tell(0, measured(0, np.zeros(8, int))[6:], positions=[6, 7])
    study.tell(batch.id, measured(batch.id, batch.arms)[:2], positions=[0, 1])
    return study
