"""Adaptive policies with arms that do not answer: constructors, and models of lost pulls."""

import numpy as np

import pybandit as pb
from pybandit.stopping import GLR, Betting

MEANS = np.array([0.15, 0.9, 0.5, 0.7, 0.25])
K = MEANS.size
THRESHOLD = 0.6
HORIZON = 1500
NOISE = 0.1
KERNEL = np.eye(K) + 0.1
SURE = {
    "top two": lambda: pb.policies.TopTwo(K, stopping=GLR(delta=0.05, noise_std=NOISE), rng=1),
    "top two ids": lambda: pb.policies.TopTwo(K, stopping=GLR(delta=0.05, law="bernoulli"),
                                              leader="ucb", beta="ids", rng=1),
    "top two draws": lambda: pb.policies.TopTwo(K, stopping=GLR(delta=0.05, law="poisson"),
                                                challenger="thompson", rng=1),
    "top two unknown": lambda: pb.policies.TopTwo(K, stopping=GLR(delta=0.05,
                                                                  law="gaussian-unknown"), rng=1),
    "top two bets": lambda: pb.policies.TopTwo(K, stopping=Betting(delta=0.05), leader="empirical",
                                               rng=1),
    "track": lambda: pb.policies.TrackAndStop(K, stopping=GLR(delta=0.05, noise_std=NOISE)),
    "track sums": lambda: pb.policies.TrackAndStop(K, stopping=GLR(delta=0.05, law="bernoulli"),
                                                   tracking="C"),
    "ebtc": lambda: pb.policies.EBTC(K, stopping=GLR(delta=0.05, noise_std=NOISE)),
    "ebtc aware": lambda: pb.policies.EBTC(K, noise_std="estimated",
                                           stopping=GLR(delta=0.05, law="gaussian-unknown")),
    "lucb": lambda: pb.policies.LUCB(K, delta=0.05, k=1, noise_std=NOISE),
    "lucb two": lambda: pb.policies.LUCB(K, delta=0.05, k=2, noise_std=NOISE),
    "kl lucb": lambda: pb.policies.KLLUCB(K, delta=0.05, k=2),
    "ugap": lambda: pb.policies.UGapEc(K, delta=0.05, k=2, noise_std=NOISE),
    "elimination": lambda: pb.policies.SuccessiveElimination(K, stopping=GLR(delta=0.05,
                                                                             noise_std=NOISE)),
    "elimination two": lambda: pb.policies.SuccessiveElimination(
        K, stopping=GLR(delta=0.05, noise_std=NOISE), k=2),
    "elimination bets": lambda: pb.policies.SuccessiveElimination(K, stopping=Betting(delta=0.05),
                                                                  k=2),
    "lil": lambda: pb.policies.LilUCB(K, delta=0.05, noise_std=NOISE, guarantee="heuristic"),
    "good": lambda: pb.policies.GoodArms(K, delta=0.05, threshold=THRESHOLD, noise_std=NOISE),
    "good bernoulli": lambda: pb.policies.GoodArms(K, delta=0.05, threshold=THRESHOLD,
                                                   law="bernoulli", sampling="lucb-g"),
    "good unknown": lambda: pb.policies.GoodArms(K, delta=0.05, threshold=THRESHOLD,
                                                 law="gaussian-unknown", sampling="apt"),
    "racing": lambda: pb.policies.BatchRacing(K, 1, delta=0.05, noise_std=NOISE),
    "racing two": lambda: pb.policies.BatchRacing(K, 2, delta=0.05, batch_size=7, max_repeats=2,
                                                  noise_std=NOISE),
}
ENDLESS = {
    "apt": lambda: pb.policies.APT(K, max_pulls=HORIZON, threshold=THRESHOLD),
    "apt endless": lambda: pb.policies.APT(K, threshold=THRESHOLD),
    "ocba": lambda: pb.policies.OCBA(K, budget=HORIZON, n_initial=4),
    "ucb1": lambda: pb.policies.UCB1(K),
    "ucbv": lambda: pb.policies.UCBV(K),
    "klucb": lambda: pb.policies.KLUCB(K),
    "thompson": lambda: pb.policies.ThompsonSampling(K, rng=5),
    "thompson batches": lambda: pb.policies.ThompsonSampling(K, rng=5, batch_size=9),
    "thompson gaussian": lambda: pb.policies.ThompsonSampling(K, rng=5, law="gaussian",
                                                              noise_std=NOISE),
    "top two budget": lambda: pb.policies.TopTwo(K, max_pulls=HORIZON, noise_std=NOISE, rng=1),
    "ebtc endless": lambda: pb.policies.EBTC(K),
    "gap": lambda: pb.policies.GapE(K, budget=HORIZON, value_range=1.0),
    "gapv": lambda: pb.policies.GapEV(K, budget=HORIZON, value_range=1.0),
    "ucbe": lambda: pb.policies.UCBE(K, budget=HORIZON, complexity=60.0),
    "ugap b": lambda: pb.policies.UGapEb(K, budget=HORIZON, noise_std=NOISE),
    "bayes gap": lambda: pb.policies.BayesGap(len(KERNEL), budget=300, kernel=KERNEL,
                                              noise_std=NOISE),
    "bayes gap features": lambda: pb.policies.BayesGap(len(np.eye(K)[:, :3] + 0.3), budget=300,
                                                       features=np.eye(K)[:, :3] + 0.3,
                                                       noise_std=None),
    "gp ucb": lambda: pb.policies.GPUCB(len(KERNEL), budget=300, kernel=KERNEL, noise_std=NOISE),
    "gp ucb lazy": lambda: pb.policies.GPUCB(len(np.eye(K, K + 1)), budget=300,
                                             features=np.eye(K, K + 1), noise_std=NOISE),
    "bayes ucb": lambda: pb.policies.BayesUCB(len(KERNEL), budget=300, kernel=KERNEL,
                                              noise_std=NOISE),
    "gaussian thompson": lambda: pb.policies.GaussianThompson(len(KERNEL), budget=300,
                                                              kernel=KERNEL, noise_std=NOISE,
                                                              rng=1),
    "expected": lambda: pb.policies.ExpectedImprovement(len(KERNEL), budget=300, kernel=KERNEL,
                                                        noise_std=NOISE),
    "probable": lambda: pb.policies.ProbabilityOfImprovement(len(KERNEL), budget=300, kernel=KERNEL,
                                                             noise_std=NOISE, xi=0.1),
}
ADAPTIVE = SURE | ENDLESS


class Losses:
    """Decides which pulls are lost in a situation; call it once per pull, in order."""

    def __init__(self, situation, seed=3):
        self.situation, self.rng = situation, np.random.default_rng(seed)
        self.n_seen, self.n_asked = np.zeros(K, dtype=int), 0

    @property
    def silent(self):
        """Arms that stop answering for good, at once or after some rewards."""
        return {"best": [1], "never": [2], "five": [2], "two": [0, 3]}.get(self.situation, [])

    def is_lost(self, arm):
        self.n_asked += 1
        lost = {"half": arm == 2 and self.rng.random() < 0.5,
                "outage": 20 < self.n_asked <= 220,
                "five": arm == 2 and self.n_seen[2] >= 5}.get(self.situation, arm in self.silent)
        self.n_seen[arm] += not lost
        return lost


SITUATIONS = ["never", "five", "half", "outage", "two", "best"]


def rewards_of(arms, rng):
    """Return rewards in [0, 1], scattered around the means of the arms."""
    return MEANS[arms] + NOISE * rng.uniform(-1.0, 1.0, arms.size)


def play(policy, situation, stop=HORIZON, copied=lambda policy: policy, look=lambda *_: None):
    """Run to the end or to `stop` pulls; return the policy and how often each arm was asked."""
    losses, rng, asked = Losses(situation), np.random.default_rng(4), np.zeros(K, dtype=int)
    while not policy.done and policy.n_pulls < stop:
        policy = copied(policy)
        arms = policy.ask()
        asked += np.bincount(arms, minlength=K)
        rewards = rewards_of(arms, rng)
        rewards[[losses.is_lost(arm) for arm in arms]] = np.nan
        look(policy, arms, rewards)
        policy.tell(arms, rewards, missing="drop")
    return policy, asked


def right(policy, silent):
    """Return the right answer among the arms that answer."""
    live = np.setdiff1d(np.arange(K), silent)
    best = live[np.argsort(-MEANS[live])]
    if isinstance(policy, (pb.policies.GoodArms, pb.policies.APT)):
        return set(best[MEANS[best] > THRESHOLD].tolist())
    return set(best[:policy.k].tolist())
