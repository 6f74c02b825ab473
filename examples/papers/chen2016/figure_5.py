"""Figure 5 of Chen & Ghahramani 2016: Figure 1 with marginal variances, ten states.

    python examples/papers/chen2016/figure_5.py [--quick] [--runs N] [--lil N] [--save PNG]

Each state has the half-width of its own mean, at delta / D, where Figure 1 has one for the
difference from the leader. Setting and data: synthetic.py. A tenth of the draws of the
races of Figure 1 are repeated here to compare the reads. In brackets: values of an
independent implementation, 60,000 draws a cell.
"""

from setting import DELTAS, N_FACTORS
from synthetic import (
    EBS,
    NORMAL,
    claim_errors,
    claim_reads,
    claim_reference,
    draw,
    ratio,
    reads,
    start,
)
from synthetic import run as run_races


def main(argv=None):
    figure, rows = start(__doc__, 10, "marginal", arguments=argv)
    deltas = sorted({row["delta"] for row in rows}, key=DELTAS.index)
    print("\nFor comparison, as in Figure 1:")
    paired = run_races(10, "pairwise", max(figure.runs // 10, min(figure.runs, 50)), 1, deltas,
                       N_FACTORS, figure.seed)
    for name in NORMAL, EBS:
        marginal, pairwise = reads(rows, name), reads(paired, name)
        ratios = [ratio(marginal[key], pairwise[key]) for key in marginal]
        errors = [sum(row["wrong"] for row in table if row["algorithm"] == name)
                  / sum(row["n"] for row in table if row["algorithm"] == name)
                  for table in (rows, paired)]
        figure.claim(f"{name} is more conservative than with pairwise variances", "no number",
                     f"reads {min(ratios):.2f} to {max(ratios):.2f} times as much, errs "
                     f"{errors[0]:.5f} and {errors[1]:.5f}",
                     sum(ratios) > len(ratios) and errors[0] <= errors[1])
    claim_reads(figure, rows)
    claim_errors(figure, rows)
    claim_reference(figure, rows)
    figure.end(lambda: draw(rows))


if __name__ == "__main__":
    main()
