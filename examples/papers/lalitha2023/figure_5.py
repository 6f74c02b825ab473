"""Figure 5 of Lalitha et al. 2023: the best of 64 movies by continuous ratings (Sec. 5.2).

    python examples/papers/lalitha2023/figure_5.py [--quick] [--runs N] [--data FILE] [--all]
        [--save PNG]

Each arm of a run is the movie closest in mean and variance to an arm of Figure 1; a pull
is its rating by a random user in the completed matrix (movies.py). Without --data the
ratings are synthetic, in the shape of MovieLens 1M. The best movie is the one of the
largest mean in the matrix. On synthetic ratings SHVar and SHAdaVar are not the best: GapE
is ahead of them (see figure_2.py for its complexity H), and so is VBR, a reconstruction,
at large budgets.
"""

from movies import FORMAT, compare
from setting import N_RUNS, Figure, add_all


def main(argv=None):
    figure = Figure(__doc__, runs=(N_RUNS, 100), data=FORMAT, add=add_all, arguments=argv)
    compare(figure, 64, vbr_recovers=True)


if __name__ == "__main__":
    main()
