"""How often does each guarantee fail, on data on which it fails most easily?

    python examples/evaluation/guarantees.py [--runs 4000] [--quick] [--out guarantees.png]

The data are near ties, where the best is better by one item; equal arms, of which none may be
named; values that are nearly always 0; and samples whose best arm is often not the best of the
population. A line per guarantee has the promised error, the number of wrong runs, and their share
with a 95 % interval. The last lines have no guarantee, or an approximate one, for comparison.
The plot has the shares and the promised errors.
"""

import argparse
import math
import time

import numpy as np
from scipy.stats import beta

import pybandit as pb

LEAST = 0.003  # start of the axis of the plot


# Arrays in memory are otherwise read in full when that is faster.
ALL_LOOKS = pb.racing.Looks(max_fraction=1.0)


def coins(rng, n_items, wins):
    """Return columns with these numbers of ones, each in its own random order."""
    return np.array([rng.permutation(np.arange(n_items) < n) for n in wins], dtype=float).T.copy()


# -- one run per call: True if the guarantee fails ---------------------------------------------


def race_betting(rng):
    return pb.race(coins(rng, 1000, [499, 500]), looks=ALL_LOOKS, rng=rng,
                   bound=pb.racing.BettingBound(delta=0.1, value_range=(0.0, 1.0))).best == 0


def best_of(rng):
    scores = coins(rng, 200, [100, 100, 101])
    return pb.best_of(scores, value_range=(0, 1), delta=0.1, rng=rng).best != 2


def best_of_stopped(rng):
    result = pb.best_of(coins(rng, 200, [100, 100, 101]), value_range=(0, 1), delta=0.1,
                        max_pulls=300, rng=rng)
    return 2 not in result.survivors


def best_of_budget(rng):
    result = pb.best_of(coins(rng, 200, [100, 100, 101]), value_range=(0, 1), delta=0.1,
                        budget=500, rng=rng)
    return result.decided and result.best != 2


def best_of_sample(rng):
    """Race on 300 items of a population in which arm 1 is better by .01; in these it often is not.
    """
    scores = rng.random((300, 2)) < [0.5, 0.51]
    result = pb.best_of(scores, delta=0.1, items=pb.Items(population_size=math.inf), rng=rng)
    return 1 not in result.survivors


def threshold(rng):
    race = pb.BettingThreshold(4, 500, threshold=300.5 / 500, delta=0.1, value_range=(0, 1),
                               rng=rng)
    rewards = coins(rng, 500, [300, 300, 301, 301])
    while not race.done:
        arms, items = race.ask()
        race.tell(arms, items, rewards[items, arms])
    return race.above.tolist() != [2, 3]


def count_race(rng):
    race = pb.CountRace(2, delta=0.1)
    for _ in range(200):
        race.tell_counts([50, 50], rng.binomial(50, 0.1, 2))
        if race.done:
            return True
    return False


def confidence_sequence(rng):
    values = rng.random(2000) < 0.02
    lower, upper = pb.confidence_sequence(values * 1.0, delta=0.05, value_range=(0, 1))
    return bool((lower > 0.02).any() or (upper < 0.02).any())


def interval(rng):
    """Check an interval 40 times; the proposal misses a tenth of the mass: values 0 or 1 / .9."""
    allocator = pb.montecarlo.EstimatorAllocator(1, budget=400, value_range=(0, 1 / 0.9),
                                                 batch_size=10,
                                                 rng=rng)
    while not allocator.done:
        arms = allocator.ask()
        allocator.tell(arms, (rng.random(arms.size) < 0.9) / 0.9)
        low, high = allocator.interval(delta=0.05)
        if not low <= 1.0 <= high:
            return True
    return False


def student(rng):
    differences = rng.normal(size=5000)
    return pb.race(np.stack([differences - differences.mean() + 1e-9, np.zeros(5000)], axis=1),
                   delta=0.05, looks=ALL_LOOKS, rng=rng).best == 1


def student_rare(rng):
    """Race on noise with one large factor in a hundred: the first look often reads none."""
    differences = np.where(np.arange(5000) < 50, 100.0, -1.0) + 0.1 * rng.normal(size=5000)
    differences += 1e-9 - differences.mean()
    return pb.race(np.stack([differences, np.zeros(5000)], axis=1), delta=0.05, looks=ALL_LOOKS,
                   rng=rng).best == 1


# -- policies, all runs at once --------------------------------------------------------------


def named(make, n_arms=2, max_pulls=3000):
    """Return a function that counts the runs on equal arms in which a policy names a best arm."""
    def wrong(n_runs, seed):
        arms = pb.environments.BernoulliBandit(np.full(n_arms, 0.5))
        result = pb.simulate(make, arms, n_runs, rng=seed, max_pulls=max_pulls)
        return int(result.stopped.sum())
    return wrong


def top_two(rule):
    return lambda environment: pb.policies.TopTwo(environment.n_arms, stopping=rule)


def batch_racing(n_runs, seed):
    arms = pb.environments.BernoulliBandit([0.52, 0.5, 0.5])
    result = pb.simulate(lambda e: pb.policies.BatchRacing(3, 1, delta=0.1, batch_size=300), arms,
                         n_runs, rng=seed,
                         max_pulls=30_000)
    return int((result.stopped & (result.errors > 0)).sum())


def each(run):
    def wrong(n_runs, seed):
        return sum(bool(run(rng)) for rng in np.random.default_rng(seed).spawn(n_runs))
    return wrong


PROMISES = {
    # name: promised error, function that counts errors, runs as a fraction of --runs
    "race(BettingBound), one item of 1,000": (0.1, each(race_betting), 1),
    "best_of, one item of 200": (0.1, each(best_of), 0.5),
    "best_of, stopped early: not among those left": (0.1, each(best_of_stopped), 0.5),
    "best_of(budget=), where decided": (0.1, each(best_of_budget), 0.5),
    "best_of(population_size=math.inf)": (0.1, each(best_of_sample), 0.5),
    "BettingThreshold, half an item off": (0.1, each(threshold), 0.5),
    "CountRace, two equal pages": (0.1, each(count_race), 0.25),
    "confidence_sequence, 2,000 looks": (0.05, each(confidence_sequence), 0.5),
    "interval of estimators, 40 looks": (0.05, each(interval), 0.25),
    # each of the two arms may be named with probability .1, so one of them with .2
    "TopTwo, GLR proven, two equal arms": (
        0.2, named(top_two(pb.stopping.GLR(delta=0.1, law="bernoulli"))), 1),
    "TopTwo, Betting, two equal arms": (0.2, named(top_two(pb.stopping.Betting(delta=0.1))), 1),
    "LUCB, two equal arms": (0.2, named(lambda e: pb.policies.LUCB(2, delta=0.1, noise_std=0.5)),
                             1),
    "BatchRacing, .52 against .5": (0.1, batch_racing, 0.5),
    "about: race, student, normal differences": (0.05, each(student), 1),
    "nothing proved: GLR heuristic, equal arms": (
        0.1, named(top_two(pb.stopping.GLR(delta=0.1, law="bernoulli", guarantee="heuristic"))), 1),
    "not promised: student, rare large factors": (0.05, each(student_rare), 0.5),
}


def draw(rows, path):
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7.5, 5), layout="constrained")
    for i, (_, promised, share, low, high) in enumerate(rows[::-1]):
        axes.plot([max(low, LEAST), max(high, LEAST)], [i, i], color="C0", linewidth=3)
        axes.plot(max(share, LEAST), i, "o", color="C0")
        axes.plot(promised, i, "|", color="C3", markersize=14, markeredgewidth=2)
    axes.set(yticks=range(len(rows)), yticklabels=[row[0] for row in rows[::-1]], xscale="log",
             xlim=(LEAST, 1), xlabel="share of wrong runs (dot, 95 %) and what is promised (bar)")
    figure.savefig(path, dpi=120)


def main(argv=None):
    options = argparse.ArgumentParser(description="Measured errors of the guarantees.")
    options.add_argument("--runs", type=int, default=4000)
    options.add_argument("--quick", action="store_true", help="20 runs")
    options.add_argument("--out", metavar="PNG")
    arguments = options.parse_args(argv)
    runs, rows, start = 20 if arguments.quick else arguments.runs, [], time.process_time()
    print(f"{'':<46}{'promised':>9}{'wrong':>7}{'runs':>7}  share")
    for name, (promised, count, part) in PROMISES.items():
        n = max(5, round(part * runs))
        wrong = count(n, 1)
        low = beta.ppf(0.025, wrong, n - wrong + 1) if wrong else 0.0
        high = beta.ppf(0.975, wrong + 1, n - wrong) if wrong < n else 1.0
        rows.append((name, promised, wrong / n, low, high))
        print(f"{name:<46}{promised:>9}{wrong:>7}{n:>7}  {wrong / n:.3f} ({low:.3f} to {high:.3f})",
              flush=True)
    print(f"\n{time.process_time() - start:.0f} s of processor time")
    if arguments.out:
        draw(rows, arguments.out)


if __name__ == "__main__":
    main()
