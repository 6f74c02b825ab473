"""The evidence of a Bayesian model by annealed importance sampling (Neufeld et al. 2014, Fig. 3).

    python examples/montecarlo/evidence.py [--runs N] [--quick]

Estimators of one evidence with different numbers of annealing steps, whose costs differ
twentyfold or more; the cost is the number of likelihood evaluations. Prints t times the mean
squared error over min_k cost_k variance_k, which is 1 for the best estimator alone.

Each estimator is run between 20 and 5,000 times. The policies draw from these recorded values,
scaled to the same mean, with independent Gamma costs of the observed mean, because hundreds of
runs of the samplers themselves would take hours. The last line is a run of the samplers, on
processor time.
"""

import argparse
import math
import time
from pathlib import Path

import numpy as np
from estimator_policies import make

import pybandit as pb
from pybandit._shared import datasets
from pybandit.environments import CostlyBandit, EmpiricalBandit
from pybandit.errors import MissingPackageError

TABLE = Path(__file__).parents[2] / "tests" / "montecarlo" / "data" / "ais_tiny.csv"
# rows: log evidence, computed by quadrature
LOG_Z = {5: -3.54127125156440, 10: -6.82154703257868, 50: -33.85061785016038}
PAPER_ARMS, HARD_ARMS = (400, 2000, 8000), (30, 100, 400, 2000)
# number of draws from the prior whose mean is one run of this estimator
DRAWS = 1000
POLICIES = ("uniform", "UCB1", "UCB-V", "Thompson", "lcb-variance", "thompson-variance")
WEIGHTS = ("mean", "inverse-variance", "predictable")


def tiny(n_rows, n_anneals):
    """Return a problem with two features and a known evidence."""
    table = np.loadtxt(TABLE, delimiter=",", skiprows=1)[:n_rows]
    return pb.environments.LogisticEvidence(table[:, :2], labels=table[:, 2], n_anneals=n_anneals,
                                            log_evidence=LOG_Z[n_rows])


def hard(n_anneals, n_rows=150, n_features=10):
    """Return breast cancer data with a wide prior, for which few annealing steps are not enough."""
    features, labels = datasets.breast_cancer()
    rows = np.random.default_rng(1).permutation(labels.size)[:n_rows]
    return pb.environments.LogisticEvidence(features[rows, :n_features], labels=labels[rows],
                                            n_anneals=n_anneals,
                                            prior_variance=1.0)


def record(evidence, steps, seed):
    """Return values and costs of each arm; as many runs as `steps` pay for, 20 to 5,000."""
    values, costs = [], []
    for arm, n in enumerate(evidence.n_anneals):
        per_run = DRAWS if n == 1 else 1
        # an annealing step costs as much as about ten draws
        size = int(np.clip(steps // max(n, per_run // 10), 20, 5000))
        drawn = evidence.pull_with_costs(np.full(size * per_run, arm), seed + arm)
        value, cost = (column.reshape(size, per_run) for column in drawn)
        values.append(value.mean(axis=1))
        costs.append(cost.sum(axis=1))
    return values, costs


def replay(evidence, steps, seed):
    """Return an environment that draws from recorded values; all arms have the same mean."""
    values, costs = record(evidence, steps, seed)
    mean = evidence.means[0]
    if np.isnan(mean):
        weights = [v.size / v.var() for v in values]
        mean = np.average([v.mean() for v in values], weights=weights)
    mean_costs = np.array([c.mean() for c in costs])
    spread = max(c.var() / c.mean() ** 2 for c in costs)
    return CostlyBandit(EmpiricalBandit([v * (mean / v.mean()) for v in values]), mean_costs,
                        cost_shape=1 / spread)


def names(evidence):
    return ["prior" if n == 1 else str(n) for n in evidence.n_anneals]


def measure(policy, weights, environment, budget, n_runs, seed):
    """Return the normalised error, half of its 95 % interval, and the shares of the cost."""
    best, truth = (environment.costs * environment.variances).min(), environment.means[0]

    def normalised(policy, environment):
        return budget / best * (policy.estimate - truth) ** 2

    result = pb.simulate(lambda e: make(policy, e.n_arms, costs="told", budget=budget,
                                        weights=weights),
                         environment, n_runs, rng=seed, metrics=[normalised], progress=False)
    errors, paid = result.metrics["normalised"], result.arm_pulls * environment.costs
    return errors.mean(), 1.96 * errors.std(ddof=1) / math.sqrt(n_runs), paid / paid.sum()


def print_problem(title, evidence, rounds, steps, n_runs, seed):
    """Print one problem; budgets are multiples of one run of every estimator."""
    environment = replay(evidence, steps, seed)
    products = environment.costs * environment.variances
    print(f"\n{title}")
    for row in zip(names(evidence), environment.costs, np.sqrt(environment.variances),
                   products / products.min(), strict=True):
        print("{:>17}  cost {:>9,.0f}  sd {:<8.3g} alone {:.2f}".format(*row))
    for n in rounds:
        budget = n * environment.costs.sum()
        print(f"{f't = {budget:.2g}':>17}  " + "".join(f"{w:<18}" for w in WEIGHTS)
              + "cost by estimator, %")
        for policy in POLICIES:
            found = [measure(policy, w, environment, budget, n_runs, seed) for w in WEIGHTS]
            text = "".join(f"{f'{value:.3g} ± {half:.2g}':<18}" for value, half, _ in found)
            shares = " ".join(f"{100 * share:.0f}" for share in found[0][2])
            print(f"{policy:>17}  {text}{shares}", flush=True)


def print_real_run(n_anneals, seconds, seed):
    """Run the samplers themselves for some seconds of processor time."""
    evidence = tiny(50, n_anneals)
    functions = [lambda rng, arm=arm: evidence.pull([arm], rng)[0] for arm in range(3)]
    result = pb.combine_estimators(functions, seconds, costs="measured", weights="predictable",
                                   rng=seed, progress=False)
    low, high = result.interval()
    print(f"\nprocessor time, {seconds:g} s, 50 rows: log Z = "
          f"{evidence.log_scale + math.log(result.estimate):.5f}, true {LOG_Z[50]:.5f}; "
          f"Z / truth in [{low / evidence.means[0]:.4f}, {high / evidence.means[0]:.4f}] at all "
          f"times, 95 %; runs {result.pulls.tolist()}, ms each "
          f"{np.round(1000 * result.mean_costs, 2).tolist()}")


def main(argv=None):
    parser = argparse.ArgumentParser(description="Evidence by annealed importance sampling.")
    parser.add_argument("--runs", type=int, default=400, help="of a cell (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="4 runs, a hundredth of the steps")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args(argv)
    divisor, rounds, steps, seconds = 1, (100, 500), 400_000, 2.0
    n_runs, seed, start = arguments.runs, arguments.seed, time.perf_counter()
    if arguments.quick:
        divisor, rounds, steps, seconds, n_runs = 10, (40,), 2000, 0.2, 4
    few = tuple(n // divisor for n in PAPER_ARMS)
    print(f"{n_runs} runs a cell")
    for n_rows in LOG_Z:
        # these runs are cheap
        print_problem(f"tiny, T = {n_rows}", tiny(n_rows, few), rounds, 6 * steps, n_runs, seed)
        print_problem(f"tiny, T = {n_rows}, with the mean of {DRAWS:,} prior draws",
                      tiny(n_rows, (1, *few)), rounds, 6 * steps, n_runs, seed)
    try:
        print_problem("breast cancer, 150 rows, 10 features, prior variance 1",
                      hard(tuple(n // divisor for n in HARD_ARMS)), rounds, steps, n_runs, seed)
    except MissingPackageError as error:
        print(f"\nbreast cancer left out: {error}")
    print_real_run(few, seconds, seed)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
