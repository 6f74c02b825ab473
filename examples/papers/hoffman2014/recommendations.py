"""Eq. 8 of Hoffman et al. 2014 and two other recommendations of BayesGap, compared.

    python examples/papers/hoffman2014/recommendations.py [--quick] [--runs N] [--seed N]
        [--speeds CSV] [--wine CSV] [--splits N] [--cache NPZ]

Mean simple regret of three rules after the same pulls. "bound" is Eq. 8, the arm J of the
round with the least bound. "pulled", the default of the library, is the best posterior mean
among the arms that were pulled. "posterior-mean" is the best among all. "never pulled" is the
share of runs in which Eq. 8 recommends an arm without a pull, the half-widths are of 95 %
intervals. beta^2 has T in place of T - K.

The cases: pixels of scikit-learn's digits and, with `--speeds`, traffic sensors, the highest
and the lowest wanted, as in Figure 2; 100 points of functions drawn from the prior with
length scales 1 and .5, noise .3; and with `--wine` the regressors of Figure 3.
"""

import argparse
from functools import partial
from pathlib import Path

import numpy as np
import regressors
from setting import SENSOR_FORMAT, Sensors, readings

import pybandit as pb

RULES = "bound", "pulled", "posterior-mean"


def chosen(policy):
    """Return the arms that the three rules recommend, from a policy of the rule "bound"."""
    means = np.asarray(policy.posterior_means)
    return (policy.recommend()[0], np.where(policy.pulls > 0, means, -np.inf).argmax(),
            means.argmax())


def regrets(case, budget, n_runs, seed):
    """Return the regret of each rule and whether "bound" chose without a pull, per run."""
    prior, draw = case
    found = np.empty((n_runs, len(RULES) + 1))
    for i, row in enumerate(found):
        rng = np.random.default_rng((seed, budget, i))
        means, noise = draw(rng)
        policy = pb.policies.BayesGap(len(means), budget=budget, recommendation="bound", **prior)
        while not policy.done:
            arms = policy.ask()
            policy.tell(arms, rng.normal(means[arms], noise))
        arms = chosen(policy)
        row[:-1] = [means.max() - means[arm] for arm in arms]
        row[-1] = policy.pulls[arms[0]] == 0
    return found


def regrets_of_models(arms, budget, n_runs, seed):
    """Return the same for the regressors of Figure 3."""
    kernel, errors = regressors.kernel_of(arms), arms.errors
    found = np.empty((n_runs, len(RULES) + 1))
    for i, row in enumerate(found):
        for j, rule in enumerate(RULES):  # the pulls are those of the first rule
            fitted, arm = regressors.paper_search("BayesGap", budget, arms, kernel,
                                                  np.random.default_rng((seed, budget, i)),
                                                  recommendation=rule)
            row[j] = errors[arm] - errors.min()
            if rule == "bound":
                row[-1] = arm not in fitted
    return found


def sensors(table, lowest):
    """Return the case of Figure 2: the prior, and a draw of means and noise."""
    known = Sensors(table, lowest)
    return known.prior, lambda rng: (known.later[rng.integers(len(known.later))], known.noise_std)


def functions(length):
    """Return the case of functions drawn from the prior."""
    x = np.linspace(0.0, 10.0, 100)
    kernel = np.exp(-((x[:, None] - x) ** 2) / length**2)
    values, vectors = np.linalg.eigh(kernel)
    X = vectors * np.sqrt(np.maximum(values, 0.0))
    return (dict(kernel=kernel, noise_std=0.3),
            lambda rng: (X @ rng.normal(size=len(x)), 0.3))


def cases(options):
    """Yield the name of a case, its budgets, and a function of budget, runs and seed."""
    tables = {"digits": (readings(), (25, 100))}
    if options.speeds:
        tables["traffic"] = readings(options.speeds), (50, 400)
    for name, (table, budgets) in tables.items():
        for which in "highest", "lowest":
            case = sensors(table, which == "lowest")
            yield f"{name}, {which}", budgets, partial(regrets, case)
    for length in 1.0, 0.5:
        yield f"prior, length {length:g}", (25, 100), partial(regrets, functions(length))
    if options.wine:
        options.data = options.wine
        yield "wine", (10, 40), partial(regrets_of_models, regressors.arms_of(options))


def main(argv=None):
    parser = argparse.ArgumentParser(description="Three recommendations of BayesGap.")
    parser.add_argument("--quick", action="store_true", help="20 runs, digits and prior only")
    parser.add_argument("--runs", type=int, help="default 100, with --quick 20")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--speeds", type=Path, metavar="CSV", help=SENSOR_FORMAT)
    parser.add_argument("--wine", type=Path, metavar="CSV", help=regressors.FORMAT)
    regressors.add(parser)
    options = parser.parse_args(argv)
    options.options = options  # as in Figure
    n_runs = options.runs or (20 if options.quick else 100)
    print(f"mean simple regret, {n_runs} runs\n{'':18}{'T':>4}"
          + "".join(f"{rule:>18}" for rule in RULES) + f"{'never pulled':>14}")
    for name, budgets, measure in cases(options):
        for budget in budgets:
            found = measure(budget, n_runs, options.seed)
            halves = 1.96 * found.std(axis=0, ddof=1) / np.sqrt(n_runs)
            cells = [f"{mean:.3f} ± {half:.3f}"
                     for mean, half in zip(found.mean(axis=0), halves, strict=True)]
            print(f"{name:18}{budget:>4}" + "".join(f"{cell:>18}" for cell in cells[:-1])
                  + f"{found[:, -1].mean():>14.2f}", flush=True)


if __name__ == "__main__":
    main()
