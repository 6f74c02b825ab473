"""Section 4 of Chen & Ghahramani 2016: rivals in the Metropolis-Hastings test.

    python examples/papers/chen2016/section_4.py [--quick] [--runs N] [--save PNG]

A test accepts a move if the mean of N log ratios is above a threshold psi. In Racing-Normal
and Racing-EBS the number of rows doubles from look to look; here
`AcceptanceTest` runs them. Their origins, in NumPy:

- Korattikara et al. 2014 read batches of m = 500 (their choice) or 50, and stop when the
  tail of Student's t statistic is below epsilon, here delta, at each look. In a fourth
  row, epsilon is so small that all looks together err with probability delta.
- Bardenet et al. 2014 double the number of rows from look to look and use the empirical
  Bernstein-Serfling bound. The look at T rows may err with probability
  delta (p - 1) / (p T^p), where p = 2.

The paper finds both originals less efficient and less robust, and prints no numbers. Here:
100,000 log ratios with mean 0 and deviation 1, normal or log-normal (log-variance 2), and
thresholds a gap away on either side; errors at the worst gap.

Each look of Korattikara's test spends all of epsilon, so its error at a small gap is far
above it, with normal ratios too. Racing-Normal is not robust either: with log-normal
ratios, 50 of them say little about the tail, and its error is above delta. The default
bound of this library corrects skewness ("student").
"""

import numpy as np
from scipy.special import ndtr, stdtr
from setting import FIRST_LOOK, GAPS, N_FACTORS, POWER, RATIOS, Figure
from setting import TEST_DELTA as DELTA

import pybandit as pb
from pybandit._shared import drawing

NORMAL, EBS, STUDENT = "Racing-Normal", "Racing-EBS", "student (default)"
KORATTIKARA, SMALL_BATCHES, BARDENET = "Korattikara, m = 500", "Korattikara, m = 50", "Bardenet"
CALIBRATED = "Korattikara, corrected"


def log_ratios(name, n, rng):
    """Return log ratios with mean exactly 0 and standard deviation exactly 1."""
    values = rng.normal(size=n) if name == "normal" else np.exp(rng.normal(0, 2**0.5, size=n))
    values -= values.mean()
    return values / values.std()


def first_decision(sums, squares, rows, psi, is_far):
    """Return the decision at the first look where the gap is significant, and its rows.

    `is_far(rows, n, gap, sd)` tells at which looks it is. The last look reads everything.
    """
    n, means = sums.size, sums[rows - 1] / rows
    sd = np.sqrt(np.maximum(squares[rows - 1] / rows - means**2, 0.0))
    far = is_far(rows[:-1], n, means[:-1] - psi, sd[:-1])
    look = far.argmax() if far.any() else rows.size - 1
    return means[look] > psi, rows[look]


def korattikara(epsilon):
    """Return the rule of Korattikara et al. 2014: Student's tail below epsilon."""
    def is_far(rows, n, gap, sd):
        error = sd / np.sqrt(rows - 1.0) * np.sqrt(1 - (rows - 1) / (n - 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            return stdtr(rows - 1.0, -np.abs(gap) / error) < epsilon
    return is_far


def bardenet(delta, spread, power=POWER):
    """Return the rule of Bardenet et al. 2014, as in Sec. 4, with the range of the ratios."""
    def is_far(rows, n, gap, sd):
        share = (power - 1) / (power * rows.astype(float)**power) * delta
        return np.abs(gap) > pb.bounds.empirical_bernstein_serfling(rows, n, sd, spread, share)
    return is_far


def batches(size, n):
    return np.append(np.arange(size, n, size), n)


def doubling(first, n):
    rows = first * 2 ** np.arange(64 - int(first).bit_length())
    return np.append(rows[rows < n], n)


def measure(values, gap, n_runs, rng):
    """Return the errors and mean reads of each test, thresholds on both sides of the mean."""
    n, spread = values.size, float(np.ptp(values))
    tests = {name: pb.racing.AcceptanceTest(values, bound=bound, delta=delta, rng=rng,
                                            looks=pb.racing.Looks(first=first, max_fraction=1.0))
             for name, bound, delta, first in (
                 (NORMAL, "normal", DELTA, FIRST_LOOK), (STUDENT, "student", DELTA, FIRST_LOOK),
                 (EBS, pb.racing.EBSBound(value_range=spread, delta=DELTA), None, 2))}
    large = batches(500, n)
    level = pb.bounds.boundary(DELTA, large[:-1] / n, convention="two-sided")
    rivals = {KORATTIKARA: (large, korattikara(DELTA)),
              CALIBRATED: (large, korattikara(ndtr(-level))),
              SMALL_BATCHES: (batches(50, n), korattikara(DELTA)),
              BARDENET: (doubling(2, n), bardenet(DELTA, spread))}
    wrong, read = dict.fromkeys([*tests, *rivals], 0), dict.fromkeys([*tests, *rivals], 0)
    for run in range(n_runs):
        psi = gap * (1 - 2 * (run % 2))
        order = rng.permutation(values)
        sums, squares = order.cumsum(), (order**2).cumsum()
        found = {name: first_decision(sums, squares, rows, psi, rule)
                 for name, (rows, rule) in rivals.items()}
        for name, test in tests.items():
            result = test.test(psi * n)
            found[name] = result.accepted, result.n_evaluations
        for name, (accepted, rows) in found.items():
            wrong[name] += int(accepted != (psi < 0))
            read[name] += int(rows)
    return {name: (wrong[name] / n_runs, read[name] / n_runs / n) for name in wrong}


def run(n, n_runs, seed):
    """Print the tables; return {ratios: {gap: {test: (error, share read)}}}."""
    rng, found = np.random.default_rng(seed), {}
    for name in RATIOS:
        values = log_ratios(name, n, rng)
        found[name] = {gap: measure(values, gap, n_runs, rng) for gap in GAPS}
        print(f"\n{name} log ratios, N = {n:,}, delta {DELTA:g}, {n_runs} tests a cell: "
              "error and share read by gap")
        print(f"{'':<22}" + "".join(f"{gap:>16g}" for gap in GAPS))
        for test in found[name][GAPS[0]]:
            print(f"{test:<22}" + "".join(f"{found[name][gap][test][0]:>9.3f}"
                                          f"{found[name][gap][test][1]:>7.3f}" for gap in GAPS))
    return found


def worst(found, ratios, test):
    """Return the largest error over the gaps."""
    return max(cells[test][0] for cells in found[ratios].values())


def saved(found, test, rival, ratios):
    """Return the reads of the rival over those of the test in each cell of these log ratios."""
    return np.array([cells[rival][1] / cells[test][1] for name in ratios
                     for cells in found[name].values()])


def draw(found):
    """Plot errors (left) and shares read (right) against the gap, a row per population."""
    figure, axes = drawing.new_figure(9.0, 6.0, 2, 2, sharex=True)
    for row, name in zip(axes, RATIOS, strict=True):
        tests = list(found[name][GAPS[0]])
        for test, style in zip(tests, drawing.line_styles(len(tests)), strict=True):
            for i, axis in enumerate(row):
                axis.plot(GAPS, [found[name][gap][test][i] for gap in GAPS], marker="o", ms=3,
                          label=test, **style)
        row[0].axhline(DELTA, color="k", ls=":", lw=1)
        row[1].set(yscale="log")
        for axis, label in zip(row, ("wrong tests", "share read"), strict=True):
            axis.set(xscale="log")
            drawing.label_axes(axis, "gap in standard deviations", label)
            drawing.tidy(axis, f"{name} log ratios")
    axes[0, 0].legend(fontsize=7, frameon=False)
    return figure


def main(argv=None):
    figure = Figure(__doc__, runs=(2000, 200), arguments=argv)
    found = run(N_FACTORS, figure.runs, figure.seed)
    # of the largest of the ten cells of a test, at the level 5 %
    noise = 2.6 * (DELTA * (1 - DELTA) / figure.runs)**0.5
    errors = {test: [worst(found, name, test) for name in RATIOS]
              for test in found["normal"][GAPS[0]]}
    figure.claim("Racing-Normal is more robust than the test of Korattikara et al", "no number",
                 "worst errors with normal and log-normal ratios {:.3f} and {:.3f}; "
                 "m = 500 {:.3f} and {:.3f}; m = 50 {:.3f} and {:.3f}".format(
                     *errors[NORMAL], *errors[KORATTIKARA], *errors[SMALL_BATCHES]),
                 all(a < b for rival in (KORATTIKARA, SMALL_BATCHES)
                     for a, b in zip(errors[NORMAL], errors[rival], strict=True)))
    figure.claim("Racing-Normal performs robustly whatever the distribution, first look 50",
                 "error at most .05", "{:.3f} and {:.3f}".format(*errors[NORMAL]),
                 max(errors[NORMAL]) < DELTA + noise)
    figure.claim("The test of Korattikara et al. fails with log-normal ratios, m = 500",
                 "fails", f"error {errors[KORATTIKARA][1]:.3f}",
                 errors[KORATTIKARA][1] > DELTA + noise)
    # with log-normal ratios Racing-Normal errs more than its corrected rival
    for test, rival, which in ((NORMAL, CALIBRATED, RATIOS[:1]), (EBS, BARDENET, RATIOS)):
        ratio = saved(found, test, rival, which)
        mean = np.exp(np.log(ratio).mean())
        figure.claim(f"{test} is more efficient than {rival.partition(',')[0]} et al, at "
                     f"the same error ({' and '.join(which)} ratios)",
                     "no number", f"the rival reads {ratio.min():.2f} to {ratio.max():.2f} times "
                     f"as much, {mean:.2f} times on (geometric) average", mean > 1)
    figure.end(lambda: draw(found))


if __name__ == "__main__":
    main()
