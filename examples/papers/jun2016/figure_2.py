"""Figure 2 of Jun et al. 2016: half a million users of Twitter, Sec. 5.3.

    python examples/papers/jun2016/figure_2.py [--quick] [--runs N] [--data FILE] [--save PNG]

522,062 users, of whom the 100 that write most about a topic are wanted. A batch is a
day in which 60,000 users can be followed, one of them at most 12 times. A reward is the
share of 24 looks at which a user wrote, Binomial(24, mu) / 24. The means stand in for
the paper's data, of which is known: each user wrote at least once in 8,928 intervals,
all of them 707,776 times, and the means of the 100 best sum to .963.
mu_i = max(1, a i^-s) / 8928 has all three with s = .5097, a = 476.3.

Gain: sum of the means of the users found, at most .963. Seconds: a whole run on one
core, with rewards and the set-up of the policy. Rows with r = b lift the limit of 12,
which the paper does not do.
"""

import time

import numpy as np
from setting import N_FOLLOWED, N_LOOKS, N_USERS, Figure, bracket, power_law, user_means

import pybandit as pb
from pybandit._shared import drawing

FORMAT = "text file with the tweet probability of one user per line"
BATCHES = (30, 40, 100, 200, 400, 800)
POLICIES = {  # name -> policy of (n, k, b, B, r) and whether r = b
    "RoundRobin": (pb.policies.RoundRobin, False),
    "BatchSAR r=12": (pb.policies.BatchSAR, False),
    "BatchSAR r=b": (pb.policies.BatchSAR, True),
    "BatchHalving r=12": (pb.policies.BatchHalving, False),
    "BatchHalving r=b": (pb.policies.BatchHalving, True),
}
# Of an independent implementation, on another power law.
REFERENCE_GAIN = {"RoundRobin": {100: 0.67, 800: 0.92}, "BatchSAR r=12": {100: 0.46, 800: 0.50},
                  "BatchSAR r=b": {100: 0.717}}
REFERENCE_SECONDS = {"BatchSAR r=12": {100: 0.25, 200: 0.19, 400: 0.46, 800: 0.50},
                     "BatchSAR r=b": {100: 0.47, 200: 0.86, 400: 1.5, 800: 3.7}}


def measure(make, repeats, means, sizes, n_batches, n_runs, seed):
    """Return the mean gain, half of its 95 % interval, and seconds per run."""
    k, batch_size = sizes
    best, gains, seconds = np.sort(means)[-k:].sum(), [], []
    for i in range(n_runs):
        rng = np.random.default_rng((seed, i))
        environment = pb.environments.BinomialBandit(rng.permutation(means), trials=N_LOOKS)
        start = time.perf_counter()
        result = pb.simulate(lambda e: make(e.n_arms, k, batch_size=batch_size,
                                            max_batches=n_batches, max_repeats=repeats),
                             environment, 1, rng=rng, n_threads=1, progress=False)
        seconds.append(time.perf_counter() - start)
        gains.append(best - k * result.mean_regret)
    half = 1.96 * np.std(gains, ddof=1) / n_runs**0.5 if n_runs > 1 else 0.0
    return np.mean(gains), half, np.mean(seconds)


def run(means, sizes, repeats, batches, n_runs, seed):
    """Print the table; return its rows."""
    k, batch_size = sizes
    print(f"{means.size:,} users, k = {k}, b = {batch_size:,}, {n_runs} runs; largest possible "
          f"gain {np.sort(means)[-k:].sum():.3f}\n")
    print(f"{'':20}{'B':>5}{'gain':>17}{'[reference]':>13}{'seconds':>9}{'[reference]':>13}")
    rows = {}
    for name, (make, unlimited) in POLICIES.items():
        rows[name] = [measure(make, batch_size if unlimited else repeats, means, sizes, n, n_runs,
                              seed) for n in batches]
        for n, cell in zip(batches, rows[name], strict=True):
            print(line(name, n, *cell, means.size == N_USERS), flush=True)
    return rows


def line(name, n_batches, gain, half, seconds, full_size):
    """Return one row of the table."""
    known = REFERENCE_GAIN.get(name, {}).get(n_batches) if full_size else None
    known_seconds = REFERENCE_SECONDS.get(name, {}).get(n_batches) if full_size else None
    return (f"{name:20}{n_batches:>5}{gain:>9.3f} ± {half:.3f}{bracket(known):>13}"
            f"{seconds:>9.2f}{bracket(known_seconds):>13}").rstrip()


def draw(rows, batches):
    """Plot the gain against the number of batches."""
    lines = [{"label": name, "x": list(batches), "y": [cell[0] for cell in row],
              "half": [cell[1] for cell in row], "reference": [None] * len(batches)}
             for name, row in rows.items()]
    return drawing.measured_figure({"users found": lines}, "B, days", "gain")


def main(argv=None):
    figure = Figure(__doc__, runs=(10, 2), data=FORMAT, arguments=argv)
    if figure.quick:
        means, sizes, batches = power_law(0.5, 5_000), (20, 600), (30, 100)
    else:
        means, sizes, batches = user_means(), (100, N_FOLLOWED), BATCHES
    if figure.data is not None:
        means, sizes = np.loadtxt(figure.data), (100, N_FOLLOWED)
    rows = run(means, sizes, 12, batches, figure.runs, figure.seed)
    gains = {name: np.array([cell[0] for cell in row]) for name, row in rows.items()}
    figure.claim("Halving outperforms RoundRobin at every budget (r = 12)", "significantly",
                 " ".join(f"{gain:+.3f}" for gain in gains["BatchHalving r=12"]
                          - gains["RoundRobin"]) + f" at B = {batches}",
                 (gains["BatchHalving r=12"] > gains["RoundRobin"]).all())
    figure.claim("BatchSAR outperforms RoundRobin at every budget (r = 12)", "significantly",
                 " ".join(f"{gain:+.3f}" for gain in gains["BatchSAR r=12"]
                          - gains["RoundRobin"]) + f" at B = {batches}",
                 (gains["BatchSAR r=12"] > gains["RoundRobin"]).all())
    figure.claim("Halving is slightly better than BatchSAR (r = 12)", "slightly",
                 f"{np.mean(gains['BatchHalving r=12'] - gains['BatchSAR r=12']):+.3f} on average",
                 (gains["BatchHalving r=12"] > gains["BatchSAR r=12"]).all())
    figure.end(lambda: draw(rows, batches))


if __name__ == "__main__":
    main()
