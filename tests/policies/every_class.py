"""One policy of every class that has a saved state, including refits and allocators."""

import numpy as np

import pybandit as pb

from studies.cases import KERNEL, POLICIES, N, measured


def refitting(make=pb.policies.BayesGap, budget=8, **options):
    x = np.linspace(0.0, 3.0, N)[:, None]
    return make(N, budget=budget, kernel=pb.kernels.rbf(1.0), features=x, noise_std=0.3,
                refit_every=5, **options)


EVERY = POLICIES | {
    "ocba": lambda: pb.policies.OCBA(N, budget=60, n_initial=4),
    "gaussian thompson unknown": lambda: pb.policies.GaussianThompson(
        len(KERNEL), budget=30, kernel=KERNEL, noise_std=None, rng=2),
    "refits": refitting,
    "refits thompson": lambda: refitting(pb.policies.GaussianThompson, rng=1),
    "allocator": lambda: pb.montecarlo.EstimatorAllocator(N, budget=200, rng=1),
    "allocator uniform": lambda: pb.montecarlo.EstimatorAllocator(N, policy="uniform", batch_size=3,
                                                                  rng=1),
    "allocator lcb": lambda: pb.montecarlo.EstimatorAllocator(N, policy="lcb-variance", pilot=2,
                                                              value_range=1.0,
                                                              weights="predictable", budget=90,
                                                              rng=1),
    "allocator ucb": lambda: pb.montecarlo.EstimatorAllocator(N, policy="ucb1", value_range=1.0,
                                                              budget=60, rng=1),
    "allocator ucb-v": lambda: pb.montecarlo.EstimatorAllocator(N, policy="ucb-v", pilot=3,
                                                                weights="predictable", rng=1),
    "allocator kl-ucb": lambda: pb.montecarlo.EstimatorAllocator(
        N, policy="kl-ucb", value_range=[[0.0, 1.0 + k] for k in range(N)], batch_size=2, budget=80,
        rng=1),
    "allocator costs": lambda: pb.montecarlo.EstimatorAllocator(N, costs="told", pilot=2,
                                                                budget=50.0, rng=1),
    "allocator thompson": lambda: pb.montecarlo.EstimatorAllocator(
        N, policy=pb.policies.ThompsonSampling(N, rng=5), costs="told", pilot=4,
        dependent_costs=True, rng=1),
}
# policies that do not fit a kernel with scikit-learn, which takes about 20 ms per fit
FAST = sorted(name for name in EVERY if not name.startswith("refits"))


def played(policy, n_batches, lost=0.0, seed=0):
    """Play `n_batches` batches; rewards depend on arm and batch, and a share `lost` is lost."""
    rng = np.random.default_rng(seed)
    while not policy.done and policy.n_batches < n_batches:
        arms = policy.ask()
        rewards = measured(policy.n_batches, arms, seed)
        tell(policy, arms, np.where(rng.random(arms.size) < lost, np.nan, rewards))
    return policy


def tell(policy, arms, rewards):
    """Report rewards, with costs if the policy takes costs."""
    costs = {}
    if getattr(policy, "costs", None) == "told":
        costs = {"costs": 0.5 + 0.1 * arms}
    policy.tell(arms, rewards, missing="drop", **costs)
