"""Figure 6 of Chen & Ghahramani 2016: Figure 1 with two states.

    python examples/papers/chen2016/figure_6.py [--quick] [--runs N] [--lil N] [--save PNG]

Setting and data: synthetic.py.
"""

from synthetic import claim_errors, claim_reads, draw, start


def main(argv=None):
    figure, rows = start(__doc__, 2, runs=(10_000, 200), arguments=argv)
    claim_reads(figure, rows)
    claim_errors(figure, rows)
    figure.end(lambda: draw(rows))


if __name__ == "__main__":
    main()
