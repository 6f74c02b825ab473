"""Policies that choose before every pull, and those that race like them, on a table of rewards."""

import numpy as np

import pybandit as pb
from pybandit.stopping import GLR, Betting

N = 6
# what the state of these holds is tested by itself, where they are
BY_THEMSELVES = {
    "vbr": lambda: pb.policies.VBR(N, 90),
    "EBTC plain": lambda: pb.policies.EBTC(N, budget=90),
    "known": lambda: pb.policies.EBTC(N, noise_std=np.sqrt(np.arange(1.0, N + 1)), budget=90),
    "aware": lambda: pb.policies.EBTC(N, noise_std="estimated", budget=90),
    "CR-C": lambda: pb.policies.ContinuousRejects(N, 90),
    "CR-A": lambda: pb.policies.ContinuousRejects(N, 90, criterion="A"),
}
MAKERS = BY_THEMSELVES | {
    "T3C": lambda: pb.policies.TopTwo(N, budget=90, rng=1),
    "EB-TCI": lambda: pb.policies.TopTwo(N, GLR(0.1, "bernoulli"), leader="empirical",
                                         challenger="cost-improved", budget=80, rng=1),
    "TTS": lambda: pb.policies.TopTwo(N, law="bernoulli", challenger="thompson", budget=70, rng=1),
    "TTUCB": lambda: pb.policies.TopTwo(N, GLR(0.1), leader="ucb", beta="ids", budget=90, rng=1),
    "T3C unknown": lambda: pb.policies.TopTwo(N, GLR(0.1, "gaussian-unknown"), budget=80, rng=1),
    "TTUCB unknown": lambda: pb.policies.TopTwo(N, law="gaussian-unknown", leader="ucb",
                                                challenger="thompson", beta="ids", budget=70,
                                                rng=1),
    "track D": lambda: pb.policies.TrackAndStop(N, GLR(0.1), budget=90),
    "track C": lambda: pb.policies.TrackAndStop(N, law="bernoulli", tracking="C", budget=90),
    "EBTC": lambda: pb.policies.EBTC(N, stopping=GLR(0.1, noise_std=0.5), budget=90),
    "LUCB": lambda: pb.policies.LUCB(N, 0.1, 2, budget=90),
    "KLLUCB": lambda: pb.policies.KLLUCB(N, 0.1, budget=90),
    "elimination": lambda: pb.policies.SuccessiveElimination(N, GLR(0.3, noise_std=0.3), budget=90),
    "elimination unknown": lambda: pb.policies.SuccessiveElimination(N,
                                                                     GLR(0.3, "gaussian-unknown"),
                                                                     budget=90),
    "bets": lambda: pb.policies.TopTwo(N, Betting(0.1), leader="empirical", budget=90, rng=1),
    "elimination bets": lambda: pb.policies.SuccessiveElimination(N, Betting(0.3), 2, budget=90),
    "elimination of three": lambda: pb.policies.SuccessiveElimination(N, GLR(0.5, noise_std=0.2), 3,
                                                                      budget=90),
    "lil": lambda: pb.policies.LilUCB(N, 0.1, noise_std=0.3, budget=90),
    "lil heuristic": lambda: pb.policies.LilUCB(N, 0.1, noise_std=0.3, constants="heuristic",
                                                budget=90),
    "UGapEc": lambda: pb.policies.UGapEc(N, 0.1, 2, noise_std=0.1, epsilon=0.1, budget=90),
    "APT": lambda: pb.policies.APT(N, 90, threshold=0.5),
    "OCBA": lambda: pb.policies.OCBA(N, 90, n_initial=3),
    "HDoC": lambda: pb.policies.GoodArms(N, 0.1, threshold=0.5, law="bernoulli", budget=90),
    "LUCB-G": lambda: pb.policies.GoodArms(N, 0.1, threshold=0.5, noise_std=0.3, sampling="lucb-g",
                                           epsilon=0.05, budget=90),
    "good unknown": lambda: pb.policies.GoodArms(N, 0.1, threshold=0.5, law="gaussian-unknown",
                                                 sampling="apt", budget=90),
}
# sums are exact in any order
TABLE = np.random.default_rng(5).integers(0, 2**20, (N, 37)) / 2**20
