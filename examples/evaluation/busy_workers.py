"""How busy are W workers during a race, and how many extra calls does that take?

    python examples/evaluation/busy_workers.py [--tables NPZ] [--orders N] [--workers W] [--quick]

The duration of each call is log-normal (sigma 1). W workers evaluate the cells that `BettingRace`
requests, block after block, or ahead with ``ask(2 * W)``. This is a discrete-event simulation:
nothing really waits.

`busy` is the share of the workers' time spent on calls until the answer. `cells` is the number of
calls started, divided by that of a serial race, which reports block after block. `time` is the
duration, divided by the time that W workers need for the calls of the serial race if they are
always busy. Both rows have the same answer.
"""

import heapq

import numpy as np
from score_tables import parser, tables_of

import pybandit as pb

MODES = {"block": None, "ahead": 2}  # cells per request, in multiples of the number of workers


def serial(scores, seed):
    """Return the number of cells that a race reads if it is played block after block."""
    race = pb.BettingRace(scores.shape[1], len(scores), value_range=(0, 1), rng=seed)
    while not race.done:
        arms, items = race.ask()
        race.tell(arms, items, scores[items, arms])
    return race.n_pulls


def simulate(scores, seed, n_workers, ahead):
    """Return the duration, the total time of calls, and the number of calls of a race."""
    race = pb.BettingRace(scores.shape[1], len(scores), value_range=(0, 1), rng=seed)
    rng, clock, spent = np.random.default_rng(seed), 0.0, 0.0
    started, events, queue, n_since = set(), [], [], 0
    while not race.done:
        if not queue or 4 * n_since >= n_workers:
            arms, items = race.ask(ahead and ahead * n_workers)
            cells = zip(arms.tolist(), items.tolist(), strict=True)
            queue, n_since = [cell for cell in cells if cell not in started][::-1], 0
        while queue and len(events) < n_workers:
            started.add(queue[-1])
            heapq.heappush(events, (clock + rng.lognormal(), queue.pop()))
        before, (clock, (arm, item)) = clock, heapq.heappop(events)
        spent += (clock - before) * (len(events) + 1)
        n_since += 1
        race.tell([arm], [item], [scores[item, arm]])
    return clock, spent, len(started)


def main():
    options = parser("Workers while a race runs.", 10, "one small table, two orders")
    options.add_argument("--workers", type=int, default=64)
    arguments = options.parse_args()
    n_orders, n_workers = 2 if arguments.quick else arguments.orders, arguments.workers
    print(f"{n_workers} workers, {n_orders} orders")
    print(f"{'table':>12} {'asks':>6} {'busy':>6} {'cells':>6} {'time':>6}")
    mean_call = np.exp(0.5)
    for name, scores in tables_of(arguments, n_items=120, n_models=12).items():
        alone = [serial(scores, arguments.seed + order) for order in range(n_orders)]
        least = sum(alone) * mean_call / n_workers
        for mode, ahead in MODES.items():
            runs = np.array([simulate(scores, arguments.seed + order, n_workers, ahead)
                             for order in range(n_orders)])
            clock, spent, n_calls = runs.sum(axis=0)
            print(f"{name:>12} {mode:>6} {spent / clock / n_workers:6.3f} "
                  f"{n_calls / sum(alone):6.3f} {clock / least:6.3f}", flush=True)


if __name__ == "__main__":
    main()
