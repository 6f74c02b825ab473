"""Days until `CountRace` names a winner, and how often it is wrong, compared with the goals.

    python bench/betting/count_days.py            400 runs per row, less than half an hour
    python bench/betting/count_days.py --quick    20 runs per row, without the longest
    python bench/betting/count_days.py --webtest --runs 100 [--part PART]

With --webtest, every day is told to a `WebTest`, which also tests the split; it takes ten times as
long, and leaves out equal arms with ``ties="any"``. Parts are rates, values, adjusted and equal; by
default all of them.

Every visitor is assigned an arm at random. The columns are the median and the 90 % quantile of the
days, the wrong winners, and the largest value that the goal allows.
"""

import argparse
import math
import warnings

import numpy as np

import pybandit as pb
from pybandit.webtests import Cuped, Ratio, WebTest, plan_counts

DELTA, NEVER = 0.05, math.inf
# rates, visits per batch, goal for the median in batches
TWO_ARMS = {
    "30 v 33 %, 1,000 a day": ([0.3, 0.33], 1000, 12),
    "5 v 5.5 %, 5,000": ([0.05, 0.055], 5000, 16),
    "10 v 20 %, 100": ([0.1, 0.2], 100, 7),
    "4 v 5 %, 50,000": ([0.04, 0.05], 50_000, 2),
    "50.0 v 50.2 %, 1,000,000": ([0.5, 0.502], 1_000_000, 5),
    "4 v 4.04 %, 10,000,000": ([0.04, 0.0404], 10_000_000, 3),
    "30 v 30.3 %, 5,000": ([0.3, 0.303], 5000, 175),
    "30 v 33 %, 42 an hour (hours)": ([0.3, 0.33], 42, 208),
}
MORE_ARMS = {
    ".1, .1, .1015, 50,000": ([0.1, 0.1, 0.1015], 50_000, 60),
    "4, 4.1, 4.2, 4.4, 5 %, 5,000": ([0.04, 0.041, 0.042, 0.044, 0.05], 5000, 22),
    "the same, 30 % by weekday": ([0.04, 0.041, 0.042, 0.044, 0.05], 5000, 22),
    "4, 4.25, 4.5, 4.5, 5 %": ([0.04, 0.0425, 0.045, 0.045, 0.05], 5000, 34),
    "four of 4.5, 5 %": ([0.045] * 4 + [0.05], 5000, 48),
}
EQUAL = {  # winners among equal arms in 365 looks at delta = .1
    "2 x 4.5 %, 5,000": ([0.045] * 2, 5000),
    "2 x 30 %, 1,000": ([0.3] * 2, 1000),
    "2 x 50 %, 1,000,000": ([0.5] * 2, 1_000_000),
    "3 x 10 %, 50,000": ([0.1] * 3, 50_000),
    "5 x 4.5 %, 5,000": ([0.045] * 5, 5000),
}
FIRST = [50, 500, 5000, 50_000, 1_000_000]
LONG = 1000  # days; --quick leaves out rows with this limit


class Told:
    """A race whose batches are told to a web test in memory."""

    def __init__(self, *given, **options):
        self.test, self.n_batches, self.done = WebTest.create(
            ":memory:", pb.CountRace(*given, **options)), 0, False

    def split(self, n):
        return self.test.split(n)

    def tell_counts(self, trials, *columns):
        rows = zip(self.test.names, np.transpose([trials, *columns]).tolist(), strict=True)
        self.test.tell_counts({name: (int(n), *sums) for name, (n, *sums) in rows},
                              key=f"batch {self.n_batches}", repeated=True)
        self.n_batches += 1
        self.done = self.test.status().done
        if self.done:
            self.best = [self.test.recommend().best]
            self.test.close()

    def recommend(self):
        return self.best


def test(race, batch_of, most):
    """Report batches until a winner is named; return their number and the winner, if any."""
    while not race.done and race.n_batches < most:
        race.tell_counts(*batch_of(race))
    return (race.n_batches, int(race.recommend()[0])) if race.done else (NEVER, -1)


def conversions(rng, rates, visits, weekday=0.0, first=None):
    """Return a function of a race that returns trials and conversions of its next day."""
    def batch(race):
        day = race.n_batches
        n = first if first and not day else visits
        trials = rng.multinomial(n, race.split(n) / n)
        today = np.array(rates) * (1.0 + weekday * math.sin(2 * math.pi * day / 7))
        return trials, rng.binomial(trials, today)

    return batch


def gamma(rng, n, lift):
    """Return orders with mean 3 and standard deviation 2, at most 30."""
    return np.minimum(rng.gamma(2.25, 4 / 3, n) * (1 + lift), 30)


def sales(rng, n, lift):
    """Return sales: one visitor in ten buys, log-normal around 9.6, at most 60."""
    return np.minimum((rng.random(n) < 0.1) * rng.lognormal(math.log(8), 0.6, n) * (1 + lift), 60)


def grades(rng, n, lift):
    return np.minimum(rng.beta(8, 8, n) * (1 + lift), 1)


VALUES = {"gamma, 5 % more": (gamma, (0, 30), 0.05, 15),
          "sales, 15 % more": (sales, (0, 60), 0.15, 35),
          "graded, 2 % more": (grades, (0, 1), 0.02, 10)}


def values(rng, draw, lift, with_squares):
    """Return a function of a race that returns trials, sums and perhaps squares of 1,000 visits."""
    def batch(race):
        trials = rng.multinomial(1000, [0.5, 0.5])
        x = [draw(rng, n, one) for n, one in zip(trials.tolist(), (0.0, lift), strict=True)]
        squares = [[(one**2).sum() for one in x]] if with_squares else []
        return trials, [one.sum() for one in x], *squares

    return batch


def row(name, found, best, goal, against=""):
    """Print a row; return the days and the wrong winners."""
    days, winners = np.array(found).T
    days = np.sort(days)
    median, most = (days[math.ceil(q * days.size) - 1] for q in (0.5, 0.9))
    wrong = int(((winners >= 0) & (winners != best)).sum())
    print(f"{name:38}{against:>8}{median:>8.0f}{most:>8.0f}{wrong:>8}{goal:>8}"
          f"{'' if median <= goal else '  missed'}", flush=True)
    return float(median), wrong


def days_of(rates, visits, runs, seed, ties="none", new=pb.CountRace, **options):
    rng = np.random.default_rng(seed)
    most = 2000 if visits < 10_000 else 1000
    return [test(new(len(rates), delta=DELTA, ties=ties),
                 conversions(rng, rates, visits, **options), most) for _ in range(runs)]


def compare_rates(runs, quick, new):
    print(f"{'':38}{'z-test':>8}{'median':>8}{'90 %':>8}{'wrong':>8}{'goal':>8}")
    missed = []
    for name, (rates, visits, goal) in (TWO_ARMS | MORE_ARMS).items():
        if quick and goal > 100:
            continue
        plan = plan_counts(rates, visits, delta=DELTA, n_runs=1, max_batches=1)
        found = days_of(rates, visits, runs, 11, new=new,
                        weekday=0.3 * ("weekday" in name))
        median, _ = row(name, found, len(rates) - 1, goal, f"{plan.z_test:.1f}")
        missed += [name] * (median > goal)
    for first in FIRST:
        name = f"5 v 5.5 %, 5,000, first batch {first:,}"
        median, _ = row(name, days_of([0.05, 0.055], 5000, runs, 9, new=new,
                                      first=first), 1, 16)
        missed += [name] * (median > 16)
    return missed


def compare_values(runs, new):
    missed = []
    for name, (draw, limits, lift, goal) in VALUES.items():
        for with_squares in (False, True):
            rng = np.random.default_rng(7)
            found = [test(new(2, value_range=limits),
                          values(rng, draw, lift, with_squares), 60) for _ in range(runs)]
            words = f"{name}, {'with squares' if with_squares else 'sums alone'}"
            median, _ = row(words, found, 1, goal if with_squares else NEVER)
            missed += [words] * (with_squares and median > goal)
    return missed


def sums_of(y, z):
    """Return trials, and the sums of y, y², z, z² and yz."""
    return len(y), y.sum(), (y * y).sum(), z.sum(), (z * z).sum(), (y * z).sum()


def related(rng, correlation, lift):
    """Return a function of a race: days of 1,000 visits with rewards adjusted by a covariate."""
    fitted = []

    def batch(race):
        rows = {}
        for name, more in (("old", 0.0), ("new", lift)):
            u, v = rng.normal(size=(2, 500))
            noise = correlation * u + math.sqrt(1 - correlation**2) * v
            rows[name] = sums_of(np.clip(0.5 + more + 0.12 * noise, 0, 1),
                                 np.clip(0.5 + 0.12 * u, 0, 1))
        fitted.append(fitted[0] if fitted else Cuped.fit([rows]))
        return zip(*fitted[0].counts(rows).values(), strict=True)

    return batch


def clicks(rng, rates):
    """Return a function of a race: days of 1,000 visitors with 1 + Poisson(3) views each."""
    fitted = []

    def batch(race):
        rows = {}
        for name, rate in zip(("old", "new"), rates, strict=True):
            views = np.minimum(1 + rng.poisson(3, 500), 12)
            rows[name] = sums_of(rng.binomial(views, rate).astype(float), views.astype(float))
        fitted.append(fitted[0] if fitted else Ratio.fit([rows], value_range=(0, 12),
                                                         denominator_range=(0, 12)))
        return zip(*fitted[0].counts(rows).values(), strict=True)

    return batch


def compare_adjusted(runs, new):
    """Days by CUPED, whose goals are medians of the specification plus a third, and by ratios."""
    missed = []
    for correlation, goal in ((0.0, 15), (0.5, 14), (0.7, 11), (0.9, 6)):
        rng, name = np.random.default_rng(5), f"lift .008, CUPED, correlation {correlation:g}"
        found = [test(new(2, delta=DELTA), related(rng, correlation, 0.008), 120)
                 for _ in range(runs)]
        median, _ = row(name, found, 1, goal)
        missed += [name] * (median > goal)
    for rates in ((0.10, 0.11), (0.10, 0.12)):
        rng = np.random.default_rng(6)
        found = [test(new(2, delta=DELTA), clicks(rng, rates), 400) for _ in range(runs)]
        row(f"clicks per view, {rates[0]:g} v {rates[1]:g}", found, 1, NEVER)
    rng = np.random.default_rng(7)
    for name, batch_of in (("CUPED, correlation .9", lambda: related(rng, 0.9, 0.0)),
                           ("clicks per view", lambda: clicks(rng, (0.1, 0.1)))):
        found = [test(new(2, delta=0.1), batch_of(), 60) for _ in range(runs)]
        named, most = sum(winner >= 0 for _, winner in found), 0.1 * runs + 3 * math.sqrt(
            0.09 * runs)
        print(f"A/A, {name}, 60 looks, delta = .1: {named} of {runs}, at most {most:.0f}")
        missed += [name] * (named > most)
    return missed


def equal_arms(runs, quick, new):
    print(f"\n{'A/A, 365 looks, delta = .1':38}{'none':>8}{'any':>8}{'of':>8}{'goal':>8}")
    missed, most = [], math.floor(0.1 * runs + 3 * math.sqrt(0.09 * runs))
    for name, (rates, visits) in EQUAL.items():
        named = []
        for ties in ("none", "any")[:1 if new is Told else 2]:
            rng = np.random.default_rng(5)
            found = [test(new(len(rates), delta=0.1, ties=ties),
                          conversions(rng, rates, visits), 60 if quick else 365)
                     for _ in range(runs)]
            named.append(sum(winner >= 0 for _, winner in found))
        with_ties = named[1] if named[1:] else "-"
        print(f"{name:38}{named[0]:>8}{with_ties:>8}{runs:>8}{most:>8}", flush=True)
        missed += [name] * (named[0] > most)
    return missed


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Days of CountRace against the goals.")
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--webtest", action="store_true", help="tell every day to a WebTest")
    parser.add_argument("--part", default="all",
                        choices=["all", "rates", "values", "adjusted", "equal"])
    options = parser.parse_args(arguments)
    runs = 20 if options.quick else options.runs
    new, few = Told if options.webtest else pb.CountRace, 5 if options.quick else 15
    parts = {"rates": lambda: compare_rates(runs, options.quick, new),
             "values": lambda: compare_values(min(runs, few), new),
             "adjusted": lambda: compare_adjusted(min(runs, 4 * few), new),
             "equal": lambda: equal_arms(runs, options.quick, new)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of small counts that are equal by chance
        missed = [one for name, part in parts.items() if options.part in (name, "all")
                  for one in part()]
    print("\nall goals are met" if not missed else f"\nmissed: {'; '.join(missed)}")
    return missed


if __name__ == "__main__":
    main()
