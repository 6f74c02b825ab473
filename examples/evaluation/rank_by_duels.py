"""Judgements saved by ranking models from duels, on a table of scores turned into duels.

    python examples/evaluation/rank_by_duels.py [--quick] [--data FILE.npz] [--array NAME]
        [--models K]

A model beats another on an item if its score is higher; equal scores are a tie. Without --data,
the table has 25 invented models on 500 items, with --quick 8 on 100.
"""

import argparse

import numpy as np

import pybandit as pb
from pybandit.evaluation import rank_by_pairs


def invented(n=500, k=25):
    """Return scores 0 or 1 of models whose rates lie between .45 and .75."""
    rng = np.random.default_rng(1)
    return (rng.normal(size=(n, 1)) + rng.normal(size=(n, k)) < np.linspace(-0.2, 1, k)) * 1.0


def main():
    parser = argparse.ArgumentParser(description="Rank models from duels.")
    parser.add_argument("--quick", action="store_true", help="a small table")
    parser.add_argument("--data", help="file of arrays, items x models")
    parser.add_argument("--array", help="name of the array in the file")
    parser.add_argument("--models", type=int, default=25)
    given = parser.parse_args()
    if given.data:
        arrays = np.load(given.data)
        table = arrays[given.array or arrays.files[0]][:, :given.models].astype(float)
    else:
        table = invented(100, 8) if given.quick else invented(k=given.models)
    n, k = table.shape
    n_all, n_pairs = n * k * (k - 1) // 2, k * (k - 1) // 2

    def judge(a, b, items):
        return (table[items, a] > table[items, b]) + 0.5 * (table[items, a] == table[items, b])

    print(f"{k} models, {n:,} items, {n_all:,} judgements in a round robin")
    for top in 1, 5:
        result = pb.best_of_pairs(judge, k, n, k=min(top, k - 1), rng=1)
        print(f"best {top}: {1 - result.cost / n_all:.0%} of the judgements saved")
    for share in 0.2, 0.4, 1.0:
        ranking = rank_by_pairs(judge, k, n, max_judgements=int(share * n_all), rng=1)
        print(f"ranking: {1 - ranking.n_judgements / n_all:.0%} saved, "
              f"{int(ranking.is_better.sum())} of {n_pairs} pairs decided")


if __name__ == "__main__":
    main()
