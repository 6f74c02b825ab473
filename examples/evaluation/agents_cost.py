"""What does it cost to find the best agent if each run costs money?

    python examples/evaluation/agents_cost.py [--scores CSV --costs CSV] [--orders N] [--quick]

Two files of the same form, with a line per item, a column per model, and labels in the first
column: scores in [0, 1], and the cost of each run. Without them, the agents are simulated. For
each method, over random orders of the items and the models, it prints:

- the mean and the largest cost spent
- the share of orders with a wrong answer, whose mean is below the best
- the share of orders with a certified answer: all, unless the cost is limited

`oracle` is a bettor that knows the best agent, and the best constant bet against each other one.
No race by bets on differences spends less, because a race has to learn both.
"""

import csv
import time

import numpy as np
from oracle_bettor import oracle_reads
from score_tables import coins, parser

import pybandit as pb


def read(path):
    """Return the numbers of a CSV file with a header and labels."""
    with open(path, newline="") as file:
        lines = list(csv.reader(file))[1:]
    return np.array([[float(cell) for cell in line[1:]] for line in lines])


def invented(n_items, n_models):
    """Return simulated scores, and costs that differ by model and by item."""
    rng = np.random.default_rng(0)
    prices = rng.lognormal(0.0, 1.0, n_models)
    return coins(0, n_items, n_models), prices * rng.lognormal(-1.0, 0.6, (n_items, n_models))


def ways(costs):
    """Return options of `best_of` by name."""
    total = costs.sum()
    return {
        "costs not given": {},
        "costs": dict(costs=costs),
        **{f"max_cost {share:.0%}": dict(costs=pb.Costs(costs, max_cost=share * total))
           for share in (0.1, 0.2)},
        **{f"budget {share:.0%}": dict(costs=pb.Costs(costs, budget=share * total))
           for share in (0.05, 0.1, 0.2, 0.3)},
    }


def oracle_cost(scores, costs, delta):
    """Return the cost that the oracle spends, with items in the order of the rows."""
    reads = oracle_reads(scores, delta)
    best = int(scores.mean(axis=0).argmax())
    reads = np.insert(reads, best, reads.max())
    return sum(costs[:n, model].sum() for model, n in enumerate(reads.tolist()))


def measure(scores, costs, n_orders, seed, delta):
    """Return arrays of costs, wrong answers and certified answers, by name."""
    found = {}
    for order in range(n_orders):
        rng = np.random.default_rng((seed, order))
        items, models = rng.permutation(len(scores)), rng.permutation(scores.shape[1])
        table, prices = scores[items][:, models], costs[items][:, models]
        found.setdefault("oracle", []).append((oracle_cost(table, prices, delta), 0, 1))
        for name, options in ways(prices).items():
            result = pb.best_of(table, value_range=(0, 1), delta=delta, progress=False,
                                rng=np.random.default_rng((seed, order, 1)), **options)
            spent = sum(prices[result.items[:n], model].sum()
                        for model, n in enumerate(result.pulls))
            means = table.mean(axis=0)
            wrong = means[result.best] < means.max() - 1e-12
            found.setdefault(name, []).append((spent, wrong, result.decided))
    return {name: np.array(rows, dtype=float) for name, rows in found.items()}


def main(argv=None):
    options = parser("Cost of finding the best agent.", orders=100,
                     quick="few simulated agents, 2 orders", tables=False)
    options.add_argument("--scores", metavar="CSV")
    options.add_argument("--costs", metavar="CSV")
    options.add_argument("--delta", type=float, default=0.05)
    arguments = options.parse_args(argv)
    start = time.perf_counter()
    if arguments.scores:
        scores, costs = read(arguments.scores), read(arguments.costs)
    else:
        scores, costs = invented(*((80, 5) if arguments.quick else (500, 25)))
    n_orders = 2 if arguments.quick else arguments.orders
    found = measure(scores, costs, n_orders, arguments.seed, arguments.delta)
    print(f"{scores.shape[1]} models, {len(scores)} items, the whole table {costs.sum():,.0f}, "
          f"delta {arguments.delta:g}, {n_orders} orders\n")
    print(f"{'':<20}{'spent':>10}{'s.e.':>8}{'most':>10}{'wrong':>8}{'certified':>11}")
    for name, rows in found.items():
        spent, wrong, certified = rows.T
        print(f"{name:<20}{spent.mean():>10,.1f}{spent.std() / n_orders**0.5:>8.1f}"
              f"{spent.max():>10,.1f}{wrong.mean():>8.3f}{certified.mean():>11.3f}")
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
