"""Figure 3 of Neufeld et al. 2014: the evidence of a model by annealed importance sampling.

    python examples/papers/neufeld2014/figure_3.py [--quick] [--runs N] [--data FILE] [--raw]
        [--known] [--save PNG]

Bayesian logistic regression on the first 5, 10 and 50 rows of the Pima Indians diabetes table
(`--data`); estimators of its evidence with 400, 2,000 and 8,000 annealing steps. t times the
mean squared error over min_k cost_k variance_k, which is 1 for the best estimator alone. The
cost is the number of likelihood evaluations; the paper's is processor time. Features are
standardised, or with `--raw` in their own units: the paper does not say which it has, and the
problems differ. Without `--data` the table is an invented one with the columns' published
means and deviations. `--known` has other problems: two features, whose evidence is known by
quadrature, then a run of the samplers on processor time, and 150 rows of breast cancer.

Each estimator is run between 20 and 5,000 times. The policies draw from these recorded values,
scaled to the same mean, with independent Gamma costs of the observed mean, because hundreds of
runs of the samplers themselves would take hours. Ours are the last two policies, predictable
weights, and the estimator that the paper leaves out: the mean of 1,000 draws from the prior.

Differs: cost times variance hardly depends on the number of steps, so which arm is best at
which size is noise.
"""

import csv
import math

import numpy as np
from setting import FOUR, LOG_Z, N_ANNEALS, N_ROWS, OURS, TABLE, Figure, make

import pybandit as pb
from pybandit._shared import datasets, drawing
from pybandit.environments import CostlyBandit, EmpiricalBandit
from pybandit.errors import MissingPackageError

FORMAT = ("CSV file of the Pima Indians diabetes table: 8 numbers and the class, 0 or 1, per "
          "row, with or without a header")
HARD_ANNEALS = (30, 100, 400, 2000)
# mean and deviation of pregnancies, glucose, blood pressure, skin, insulin, mass index,
# pedigree and age
COLUMNS = ((3.8, 3.4), (121, 32), (69, 19), (20.5, 16), (80, 115), (32, 7.9), (0.47, 0.33),
           (33, 11.8))
# number of draws from the prior whose mean is one run of this estimator
DRAWS = 1000
POLICIES = ("uniform", *FOUR, *OURS)
WEIGHTS = ("mean", "inverse-variance", "predictable")


def read(path):
    """Return the features and labels of a Pima table; raise ValueError at a bad row."""
    rows = []
    with open(path, newline="", encoding="utf-8") as file:
        for line, cells in enumerate(csv.reader(file), 1):
            try:
                row = [float(cell) for cell in cells]
            except ValueError:
                if line == 1:
                    continue  # the header
                row = None
            if row is None or len(row) != len(COLUMNS) + 1 or row[-1] not in (0, 1):
                if not cells:
                    continue
                raise ValueError(f"{path}, line {line} must be 8 numbers and the class, 0 or 1; "
                                 f"got {','.join(cells)!r}")
            rows.append(row)
    if len(rows) < max(N_ROWS):
        raise ValueError(f"{path} must have at least {max(N_ROWS)} rows; got {len(rows)}")
    table = np.array(rows)
    return table[:, :-1], table[:, -1]


def invented(n=768, seed=2014):
    """Return an invented table of 768 rows, as the Pima table has, a third of them positive."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, len(COLUMNS)))
    means, deviations = np.array(COLUMNS).T
    margins = -0.9 + z @ [0.4, 1.1, -0.25, 0.0, -0.1, 0.7, 0.3, 0.2]
    labels = rng.random(n) < 1 / (1 + np.exp(-margins))
    return np.maximum(means + deviations * z, 0.0), labels.astype(float)


def pima(table, n_rows, n_anneals, raw=False):
    """Return the evidence of the first rows, standardised by the whole table unless raw."""
    features, labels = table
    if not raw:
        features = (features - features.mean(axis=0)) / features.std(axis=0)
    return pb.environments.LogisticEvidence(features[:n_rows], labels=labels[:n_rows],
                                            n_anneals=n_anneals)


def tiny(n_rows, n_anneals):
    """Return a problem with two features and a known evidence."""
    table = np.loadtxt(TABLE, delimiter=",", skiprows=1)[:n_rows]
    return pb.environments.LogisticEvidence(table[:, :2], labels=table[:, 2], n_anneals=n_anneals,
                                            log_evidence=LOG_Z[n_rows])


def hard(n_anneals, n_rows=150, n_features=10):
    """Return breast cancer data with a wide prior, for which few annealing steps are not enough."""
    features, labels = datasets.breast_cancer()
    rows = np.random.default_rng(1).permutation(labels.size)[:n_rows]
    return pb.environments.LogisticEvidence(features[rows, :n_features], labels=labels[rows],
                                            n_anneals=n_anneals, prior_variance=1.0)


def record(evidence, steps, seed):
    """Return values and costs of each arm; as many runs as `steps` pay for, 20 to 5,000."""
    values, costs = [], []
    for arm, n in enumerate(evidence.n_anneals):
        per_run = DRAWS if n == 1 else 1
        # an annealing step costs as much as about ten draws
        size = int(np.clip(steps // max(n, per_run // 10), 20, 5000))
        drawn = evidence.pull_with_costs(np.full(size * per_run, arm), seed + arm)
        value, cost = (column.reshape(size, per_run) for column in drawn)
        values.append(value.mean(axis=1))
        costs.append(cost.sum(axis=1))
    return values, costs


def replay(means, values, costs):
    """Return an environment that draws from recorded values; all arms have the same mean."""
    mean = means[0]
    if np.isnan(mean):
        weights = [v.size / max(v.var(), 1e-300) for v in values]
        mean = np.average([v.mean() for v in values], weights=weights)
    spread = max(c.var() / c.mean() ** 2 for c in costs)
    return CostlyBandit(EmpiricalBandit([v * (mean / v.mean()) for v in values]),
                        [c.mean() for c in costs], cost_shape=1 / spread)


def products(values, costs):
    """Return cost times relative variance of each arm, and its standard error."""
    found = []
    for v, c in zip(values, costs, strict=True):
        squares = (v / v.mean() - 1) ** 2
        found.append((c.mean() * squares.mean(),
                      c.mean() * squares.std() / math.sqrt(squares.size)))
    return np.array(found).T


def names(evidence):
    return ["prior" if n == 1 else str(n) for n in evidence.n_anneals]


def measure(policy, weights, environment, budget, n_runs, seed):
    """Return the normalised error, half of its 95 % interval, and the shares of the cost."""
    best, truth = (environment.costs * environment.variances).min(), environment.means[0]

    def normalised(policy, environment):
        return budget / best * (policy.estimate - truth) ** 2

    result = pb.simulate(lambda e: make(policy, e.n_arms, costs="told", budget=budget,
                                        weights=weights),
                         environment, n_runs, rng=seed, metrics=[normalised], progress=False)
    errors, paid = result.metrics["normalised"], result.arm_pulls * environment.costs
    return errors.mean(), 1.96 * errors.std(ddof=1) / math.sqrt(n_runs), paid / paid.sum()


def run(title, evidence, rounds, recorded, n_runs, seed):
    """Print one problem; return policy -> errors and half-widths by weights, (weights, 2).

    Budgets are multiples of one run of every estimator; the results are those of the last.
    """
    environment, found = replay(evidence.means, *recorded), {}
    alone = environment.costs * environment.variances
    print(f"\n{title}")
    for row in zip(names(evidence), environment.costs, np.sqrt(environment.variances),
                   alone / alone.min(), strict=True):
        print("{:>17}  cost {:>9,.0f}  sd {:<8.3g} alone {:.2f}".format(*row))
    for n in rounds:
        budget = n * environment.costs.sum()
        print(f"{f't = {budget:.2g}':>17}  " + "".join(f"{w:<18}" for w in WEIGHTS)
              + "cost by estimator, %")
        for policy in POLICIES:
            cells = [measure(policy, w, environment, budget, n_runs, seed) for w in WEIGHTS]
            text = "".join(f"{f'{value:.3g} ± {half:.2g}':<18}" for value, half, _ in cells)
            shares = " ".join(f"{100 * share:.0f}" for share in cells[0][2])
            print(f"{policy:>17}  {text}{shares}", flush=True)
            found[policy] = np.array([cell[:2] for cell in cells])
    return found


def run_samplers(n_anneals, seconds, seed):
    """Run the samplers themselves for some seconds of processor time."""
    evidence = tiny(50, n_anneals)
    functions = [lambda rng, arm=arm: evidence.pull([arm], rng)[0] for arm in range(3)]
    result = pb.combine_estimators(functions, seconds, costs="measured", weights="predictable",
                                   rng=seed, progress=False)
    low, high = result.interval()
    print(f"\nprocessor time, {seconds:g} s, 50 rows: log Z = "
          f"{evidence.log_scale + math.log(result.estimate):.5f}, true {LOG_Z[50]:.5f}; "
          f"Z / truth in [{low / evidence.means[0]:.4f}, {high / evidence.means[0]:.4f}] at all "
          f"times, 95 %; runs {result.pulls.tolist()}, ms each "
          f"{np.round(1000 * result.mean_costs, 2).tolist()}")


def claims(figure, found, alone):
    """Compare the statements of Sec. 6.3; `found` and `alone` are by number of rows."""
    bandits = FOUR
    ratios = {n: [rows[p][0, 0] / rows[p][1, 0] for p in bandits] for n, rows in found.items()}
    every = np.array(list(ratios.values()))
    figure.claim("Weights of inverse variance improve the estimate strikingly", "all sizes",
                 "error of the mean over that of the weights, by size: " + "; ".join(
                     f"{min(r):.2g} to {max(r):.2g}" for r in ratios.values()),
                 (every > 1).all())
    level = {n: [i for i in range(len(means))
                 if means[i] - means.min() <= 2 * math.hypot(errors[i], errors[means.argmin()])]
             for n, (means, errors) in alone.items()}
    always = set.intersection(*map(set, level.values()))
    figure.claim("No one arm is optimal at all three sizes", "a different best arm",
                 "cost times variance over the least: " + "; ".join(
                     f"T = {n}: " + ", ".join(f"{m:.2f}" for m in means / means.min())
                     for n, (means, _) in alone.items())
                 + f"; {len(always)} arms best or level at all", not always)
    thompson = np.mean([rows["Thompson"][1] for rows in found.values()], axis=0)
    static = np.mean([means / means.min() for means, _ in alone.values()], axis=0).min()
    figure.claim("Thompson sampling outperforms any static strategy over the sizes",
                 "below every arm alone", f"{thompson[0]:.2f} ± {thompson[1]:.2f} with weights, "
                 f"{static:.2f} for the best arm alone",
                 thompson[0] + thompson[1] < static)


def draw(found):
    """Plot normalised errors by policy, one panel per size; dots: mean, rings: weights."""
    figure, (axes,) = drawing.new_figure(3.4 * len(found), 3.6, 1, len(found))
    for axis, (title, rows) in zip(axes, found.items(), strict=True):
        cells = np.array([rows[policy] for policy in POLICIES])
        for i, (label, fill) in enumerate((("mean", None), ("inverse-variance", "none"))):
            axis.errorbar(range(len(POLICIES)), cells[:, i, 0], cells[:, i, 1], fmt="o", ms=4,
                          lw=1, color=drawing.COLOURS[i], mfc=fill, label=label)
        axis.axhline(1.0, lw=0.8, color="grey")
        axis.set_yscale("log")
        axis.set_xticks(range(len(POLICIES)), POLICIES, rotation=40, ha="right", fontsize=8)
        axis.set_title(f"T = {title}", fontsize=10, loc="left")
        drawing.tidy(axis)
    axes[0].set_ylabel("t times the mean squared error", fontsize=9)
    axes[0].legend(fontsize=8, frameon=False)
    return figure


def add(parser):
    parser.add_argument("--raw", action="store_true", help="features in their own units")
    parser.add_argument("--known", action="store_true",
                        help="tables with a known evidence, and breast cancer, instead")


def main(argv=None):
    figure = Figure(__doc__, runs=(400, 20), data=FORMAT, add=add, arguments=argv)
    options, n_runs, seed = figure.options, figure.runs, figure.seed
    divisor, rounds, steps = (10, (40,), 6000) if figure.quick else (1, (100, 500), 400_000)
    few, found, alone = tuple(n // divisor for n in N_ANNEALS), {}, {}
    table = read(figure.data) if figure.data else invented()
    kind = "tiny" if options.known else "Pima" if figure.data else "invented"
    for n_rows in N_ROWS:
        evidence = (tiny(n_rows, (1, *few)) if options.known
                    else pima(table, n_rows, (1, *few), options.raw))
        # these runs are cheap
        recorded = record(evidence, (6 if options.known else 3) * steps, seed)
        without = tuple(column[1:] for column in recorded)
        title = f"{kind}{', raw' * options.raw}, T = {n_rows}"
        arms = tiny(n_rows, few) if options.known else pima(table, n_rows, few, options.raw)
        found[n_rows] = run(title, arms, rounds, without, n_runs, seed)
        alone[n_rows] = products(*without)
        run(f"{title}, with the mean of {DRAWS:,} prior draws", evidence, rounds, recorded, n_runs,
            seed)
        means, _ = products(*recorded)
        print(f"the prior is {means[1:].min() / means[0]:.2g} times better than the best of the "
              f"paper's arms; sd of the arms over their mean: "
              + ", ".join(f"{v.std() / v.mean():.2g}" for v in recorded[0]))
    if options.known:
        try:
            evidence = hard(tuple(n // divisor for n in HARD_ANNEALS))
            run("breast cancer, 150 rows, 10 features, prior variance 1", evidence, rounds,
                record(evidence, steps, seed), n_runs, seed)
        except MissingPackageError as error:
            print(f"\nbreast cancer left out: {error}")
        run_samplers(few, 0.2 if figure.quick else 2.0, seed)
    claims(figure, found, alone)
    figure.end(lambda: draw(found))


if __name__ == "__main__":
    main()
