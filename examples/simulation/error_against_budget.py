"""Plot the error of ten policies against the budget, for 64 Gaussian arms.

    python examples/simulation/error_against_budget.py [n_runs] [picture]

Policies without a budget run once and give a recommendation at each budget; the others run once
per budget. Bands are 95 % intervals.
"""

import sys

import numpy as np

import pybandit as pb

K, BUDGETS = 64, [512, 768, 1024, 1536, 2048, 3072, 4096]
ARMS = pb.environments.GaussianBandit(np.linspace(1.0, 0.0, K), 0.5)
POLICIES = {"UCB1": pb.policies.UCB1(K), "EBTC": pb.policies.EBTC(K),
            "T3C": pb.policies.TopTwo(K, noise_std=0.5),
            "EB-TC": pb.policies.TopTwo(K, leader="empirical", noise_std=0.5),
            "TTUCB": pb.policies.TopTwo(K, leader="ucb", noise_std=0.5)}
for kind in (pb.policies.Uniform, pb.policies.SequentialHalving, pb.policies.SuccessiveRejects,
             pb.policies.VBR, pb.policies.ContinuousRejects):
    POLICIES[kind.__name__] = lambda environment, budget, kind=kind: kind(K, budget=budget)


def main(n_runs=1000, picture="error_against_budget.png"):
    curves = pb.compare(POLICIES, ARMS, int(n_runs), rng=1, budgets=BUDGETS)
    curves.plot().figure.savefig(picture)
    print(curves.to_frame("checkpoints").pivot_table("error", "policy", "checkpoint").to_string())


if __name__ == "__main__":
    main(*sys.argv[1:])
