"""Figure 7 of Chen & Ghahramani 2016: Figure 1 with a hundred states.

    python examples/papers/chen2016/figure_7.py [--quick] [--runs N] [--lil N] [--save PNG]

Setting and data: synthetic.py; 100,000 rewards of a hundred states take 80 MB. With
--quick there are 10,000 of each, with sigma enlarged so that a like share decides.
"""

from synthetic import (
    LIL,
    above_delta,
    cell_of,
    claim_errors,
    claim_reads,
    draw,
    draws_of_lil,
    start,
)


def main(argv=None):
    figure, rows = start(__doc__, 100, small=10_000, arguments=argv)
    claim_reads(figure, rows)
    claim_errors(figure, rows)
    high = above_delta([row for row in rows if row["algorithm"] == LIL])
    cells = "; ".join(f"{row['wrong'] / row['n']:.4f} at {cell_of(row)}" for row in high)
    figure.claim("lil'UCB with heuristic constants exceeds delta for uniform rewards", "some cell",
                 f"{cells or 'no cell'} {draws_of_lil(rows)}",
                 any(row["distribution"] == "uniform" for row in high))
    figure.end(lambda: draw(rows))


if __name__ == "__main__":
    main()
