"""How often do `best_of` and successive rejects miss the best model with a budget of scores?

    python examples/evaluation/budget_rules.py [--tables NPZ] [--orders N] [--cap] [--quick]

Each table holds scores, items by models. The rules spend the same budget, a share of the cells,
on the same random orders of items and models:

- rejects: successive rejects on shared items. All surviving models are read on the same next
  items; the worst one is eliminated at the end of each phase. It has no guarantee.
- budget: ``best_of(scores, budget=B)``.
- cap, with --cap: ``best_of(scores, max_pulls=B)``, the race with a guarantee, stopped early.

An answer is wrong if its mean is more than 1e-12 below the best. `estimate` is the mean of
``result.error_estimate``, `certified` the share of certified answers, and the last column the
share of all orders that were certified and wrong. NPZ: arrays of scores in [0, 1] by name, of
shape (items, models); without it, simulated tables of zeros and ones.
"""

import math
import time

import numpy as np
from score_tables import parser, tables_of

import pybandit as pb

SHARES = (0.01, 0.02, 0.03, 0.05, 0.10, 0.15, 0.20)


def depths(n_items, n_models, budget):
    """Return the items read by the end of phase k, a / (K + 1 - k); a is the largest affordable."""
    left = np.arange(n_models, 1, -1)
    low, high = 0.0, 2.0 * n_items * n_models
    for _ in range(60):
        middle = (low + high) / 2
        cost = (np.diff(np.minimum(n_items, np.ceil(middle / left)), prepend=0) * left).sum()
        low, high = (middle, high) if cost <= budget else (low, middle)
    return np.minimum(n_items, np.ceil(low / left)).astype(int)


def rejects(scores, budget, rng):
    """Return the winner of successive rejects on shared items; ties are broken at random."""
    n_items, n_models = scores.shape
    order, lot = rng.permutation(n_items), rng.permutation(n_models)
    alive, sums, read = np.arange(n_models), np.zeros(n_models), 0
    for depth in depths(n_items, n_models, budget):
        sums[alive] += scores[order[read:depth][:, None], alive].sum(axis=0)
        alive = np.delete(alive, np.lexsort((-lot[alive], sums[alive]))[0])
        read = depth
    return int(alive[0])


def measure(scores, share, n_orders, seed, cap):
    """Return the error rates of the rules, and three numbers about the budget.

    These are the mean error estimate, and the shares of orders with a certified answer, and with
    one that is certified and wrong.
    """
    n_items, n_models = scores.shape
    budget, errors, said = int(share * scores.size), np.zeros(3), np.zeros(3)
    for order in range(n_orders):
        columns = np.random.default_rng((seed, order)).permutation(n_models)
        table = np.ascontiguousarray(scores[:, columns])
        wrong = table.mean(axis=0) < table.mean(axis=0).max() - 1e-12
        drawn = np.random.SeedSequence((seed, order, 1))  # the same order of the items for all
        given = dict(value_range=(0, 1), rng=drawn, progress=False)
        result = pb.best_of(table, budget=budget, **given)
        errors[0] += wrong[rejects(table, budget, np.random.default_rng(drawn))]
        errors[1] += wrong[result.best]
        errors[2] += cap and wrong[pb.best_of(table, max_pulls=budget, **given).best]
        said += (result.error_estimate, result.decided, result.decided and wrong[result.best])
    return errors / n_orders, said / n_orders


def half_width(share, n):
    """Return the half-width of a 95 % interval."""
    return 1.96 * math.sqrt(max(share * (1 - share), 1 / n) / n)


def run(tables, n_orders, seed, cap):
    """Print a line per table and share, and the mean errors of the rules; return the means."""
    print(f"{'table':<14}{'share':>6}{'rejects':>10}{'budget':>9}{'cap' if cap else '':>7}{'+-':>7}"
          f"{'estimate':>10}{'certified':>11}{'of these wrong':>16}")
    every = []
    for name, scores in tables.items():
        for share in SHARES:
            if share * len(scores) < 1:
                continue  # fewer cells than models
            errors, (estimate, certified, false) = measure(scores, share, n_orders, seed, cap)
            every.append(errors)
            capped = f"{errors[2]:.2f}" if cap else ""
            print(f"{name:<14}{share:>6.0%}{errors[0]:>10.3f}{errors[1]:>9.3f}{capped:>7}"
                  f"{half_width(errors[1], n_orders):>7.3f}{estimate:>10.3f}{certified:>11.2f}"
                  f"{false:>16.3f}", flush=True)
    means = np.mean(every, axis=0)
    print(f"{'mean':<20}{means[0]:>10.3f}{means[1]:>9.3f}" + (f"{means[2]:>7.2f}" if cap else ""))
    return means


def main(argv=None):
    options = parser("Rules for a budget of scores.", orders=200,
                     quick="one small table, 5 orders")
    options.add_argument("--cap", action="store_true", help="also run the race with a guarantee")
    arguments = options.parse_args(argv)
    start = time.perf_counter()
    tables = tables_of(arguments, n_items=200, n_models=12)
    run(tables, 5 if arguments.quick else arguments.orders, arguments.seed, arguments.cap)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
