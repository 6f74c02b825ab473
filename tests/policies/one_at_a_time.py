"""Policies that choose before every pull, and races like them, with a table of rewards."""

import numpy as np

import pybandit as pb
from pybandit.stopping import GLR, Betting

N = 6
# policies whose entries of the saved state are tested in the file of each policy
BY_THEMSELVES = {
    "vbr": lambda: pb.policies.VBR(N, budget=90),
    "EBTC plain": lambda: pb.policies.EBTC(N, max_pulls=90),
    "known": lambda: pb.policies.EBTC(N, noise_std=np.sqrt(np.arange(1.0, N + 1)), max_pulls=90),
    "aware": lambda: pb.policies.EBTC(N, noise_std="estimated", max_pulls=90),
    "CR-C": lambda: pb.policies.ContinuousRejects(N, budget=90),
    "CR-A": lambda: pb.policies.ContinuousRejects(N, budget=90, criterion="A"),
}
MAKERS = BY_THEMSELVES | {
    "T3C": lambda: pb.policies.TopTwo(N, max_pulls=90, rng=1),
    "EB-TCI": lambda: pb.policies.TopTwo(N, stopping=GLR(delta=0.1, law="bernoulli"),
                                         leader="empirical",
                                         challenger="cost-improved", max_pulls=80, rng=1),
    "TTS": lambda: pb.policies.TopTwo(N, law="bernoulli", challenger="thompson", max_pulls=70,
                                      rng=1),
    "TTUCB": lambda: pb.policies.TopTwo(N, stopping=GLR(delta=0.1), leader="ucb", beta="ids",
                                        max_pulls=90, rng=1),
    "T3C unknown": lambda: pb.policies.TopTwo(N, stopping=GLR(delta=0.1, law="gaussian-unknown"),
                                              max_pulls=80, rng=1),
    "TTUCB unknown": lambda: pb.policies.TopTwo(N, law="gaussian-unknown", leader="ucb",
                                                challenger="thompson", beta="ids", max_pulls=70,
                                                rng=1),
    "track D": lambda: pb.policies.TrackAndStop(N, stopping=GLR(delta=0.1), max_pulls=90),
    "track C": lambda: pb.policies.TrackAndStop(N, law="bernoulli", tracking="C", max_pulls=90),
    "EBTC": lambda: pb.policies.EBTC(N, stopping=GLR(delta=0.1, noise_std=0.5), max_pulls=90),
    "LUCB": lambda: pb.policies.LUCB(N, delta=0.1, k=2, max_pulls=90),
    "KLLUCB": lambda: pb.policies.KLLUCB(N, delta=0.1, max_pulls=90),
    "elimination": lambda: pb.policies.SuccessiveElimination(
        N, stopping=GLR(delta=0.3, noise_std=0.3), max_pulls=90),
    "elimination unknown": lambda: pb.policies.SuccessiveElimination(
        N, stopping=GLR(delta=0.3, law="gaussian-unknown"), max_pulls=90),
    "bets": lambda: pb.policies.TopTwo(N, stopping=Betting(delta=0.1), leader="empirical",
                                       max_pulls=90, rng=1),
    "elimination bets": lambda: pb.policies.SuccessiveElimination(N, stopping=Betting(delta=0.3),
                                                                  k=2, max_pulls=90),
    "elimination of three": lambda: pb.policies.SuccessiveElimination(
        N, stopping=GLR(delta=0.5, noise_std=0.2), k=3, max_pulls=90),
    "lil": lambda: pb.policies.LilUCB(N, delta=0.1, noise_std=0.3, max_pulls=90),
    "lil heuristic": lambda: pb.policies.LilUCB(N, delta=0.1, noise_std=0.3, guarantee="heuristic",
                                                max_pulls=90),
    "UGapEc": lambda: pb.policies.UGapEc(N, delta=0.1, k=2, noise_std=0.1, epsilon=0.1,
                                         max_pulls=90),
    "APT": lambda: pb.policies.APT(N, max_pulls=90, threshold=0.5),
    "OCBA": lambda: pb.policies.OCBA(N, budget=90, n_initial=3),
    "HDoC": lambda: pb.policies.GoodArms(N, delta=0.1, threshold=0.5, law="bernoulli",
                                         max_pulls=90),
    "LUCB-G": lambda: pb.policies.GoodArms(N, delta=0.1, threshold=0.5, noise_std=0.3,
                                           sampling="lucb-g", epsilon=0.05, max_pulls=90),
    "good unknown": lambda: pb.policies.GoodArms(N, delta=0.1, threshold=0.5,
                                                 law="gaussian-unknown",
                                                 sampling="apt", max_pulls=90),
}
# sums are exact in any order
TABLE = np.random.default_rng(5).integers(0, 2**20, (N, 37)) / 2**20
