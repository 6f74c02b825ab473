"""Days until the best of five pages is found, with 5,000 visits per day and rates of 4 to 5 %.

Every visitor sees a random one of the remaining pages, and counts are reported daily. Three
methods are compared:

- a z-test of fixed size, with all pages to its end and one look;
- `BettingRace`, which receives the visits of a day in a random order;
- `CountRace`, which bets on the counts.

    python examples/webtests/web_tests.py [--runs N] [--days N] [--out web_tests.png]
"""

import argparse
import math
import warnings

import numpy as np

import pybandit as pb
from pybandit.webtests import WebTest, plan_counts

VISITS, DELTA = 5000, 0.05
SETTINGS = {
    "4, 4.1, 4.2, 4.4, 5": [0.04, 0.041, 0.042, 0.044, 0.05],
    "4, 4.25, 4.5, 4.5, 5": [0.04, 0.0425, 0.045, 0.045, 0.05],
    "four of 4.5, 5": [0.045, 0.045, 0.045, 0.045, 0.05],
    "the first, +-30 % by weekday": [0.04, 0.041, 0.042, 0.044, 0.05],
    "A/A, five pages": [0.045] * 5,
    "A/A, two pages": [0.045] * 2,
}
MAKERS = {
    "BettingRace": lambda n: pb.BettingRace(n, None, value_range=(0, 1), delta=DELTA),
    "CountRace, any": lambda n: pb.CountRace(n, delta=DELTA, ties="any"),
    "CountRace": lambda n: pb.CountRace(n, delta=DELTA),
}


def run(make, rates, weekdays, most, seed):
    """Return the number of days, and the winner or -1."""
    rng, rates = np.random.default_rng(seed), np.array(rates)
    with WebTest.create(":memory:", make(rates.size)) as study:
        for day in range(1, most + 1):
            trials = rng.multinomial(VISITS, study.split(VISITS) / VISITS)
            today = rates * (1.0 + weekdays * math.sin(2 * math.pi * day / 7))
            came = rng.binomial(trials, today)
            counts = zip(study.names, zip(trials.tolist(), came.tolist(), strict=True), strict=True)
            study.tell_counts(dict(counts), key=f"day {day}", rng=rng, repeated=True)
            if study.status().done:
                return day, int(study.recommend().best_arms[0])
    return most, -1


def summary(made, rates):
    """Return median and 90 % quantile of the days, wrong winners, and runs without a winner."""
    days, winners = np.array(made).T
    best = np.flatnonzero(np.array(rates) == max(rates))
    wrong = (winners >= 0) & ((best.size > 1) | (winners != best[0]))
    ends = np.sort(np.where(winners < 0, np.inf, days))
    median, most = (ends[math.ceil(q * ends.size) - 1] for q in (0.5, 0.9))
    return median, most, int(wrong.sum()), int((winners < 0).sum())


def draw(figures, out):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4))
    names = [name for name in figures if not name.startswith("A/A")]
    for place, way in enumerate(MAKERS):
        days = [figures[name][way][0] for name in names]
        axes.bar(np.arange(len(names)) + 0.25 * place, np.nan_to_num(days, posinf=0.0), 0.22,
                 label=way)
    axes.set_xticks(np.arange(len(names)) + 0.25, names, fontsize=8)
    axes.set_ylabel("days to a winner, median")
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(out, dpi=120)
    plt.close(figure)


def main(arguments=None):
    # one study in a hundred may warn about its split by chance
    warnings.filterwarnings("ignore", "visits are not split by the shares")
    parser = argparse.ArgumentParser(description="Days until one page is named.")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--days", type=int, default=150)
    parser.add_argument("--out")
    parser.add_argument("--quick", action="store_true", help="2 runs of 9 days")
    options = parser.parse_args(arguments)
    if options.quick:
        options.runs, options.days = 2, 9
    figures = {}
    print(f"{'conversion, %':30}{'way':16}{'median':>8}{'90 %':>8}{'wrong':>8}{'no winner':>11}")
    for name, rates in SETTINGS.items():
        z_test = plan_counts(rates, VISITS, delta=DELTA, n_runs=1, max_batches=1).z_test
        print(f"{name:30}{'z-test':16}{math.ceil(z_test) if z_test < math.inf else '-':>8}")
        figures[name] = {}
        for way, make in MAKERS.items():
            made = [run(make, rates, 0.3 * ("weekday" in name), options.days, seed)
                    for seed in range(options.runs)]
            figures[name][way] = found = summary(made, rates)
            print(f"{'':30}{way:16}{found[0]:>8.0f}{found[1]:>8.0f}{found[2]:>8}{found[3]:>11}",
                  flush=True)
    if options.out:
        draw(figures, options.out)
    return figures


if __name__ == "__main__":
    main()
