"""Figure 2 of Hoffman et al. 2014: the fastest of the traffic sensors, Sec. 6.1.

    python examples/papers/hoffman2014/figure_2.py [--quick] [--runs N] [--data FILE] [--lowest]
        [--budgets T ...] [--save PNG]

The probability that a policy misses the sensor of the highest speed after T = 400 readings
of 357 sensors. The prior covariance is that of the first two thirds of the times, eta = 20,
and the noise variance is 5 % of the mean variance. Each later time gives the true means of
one run. The speeds of I-880 are not public; `--data` reads others. Without it the sensors
are the 61 pixels of scikit-learn's digits, with the same T / K.

"BayesGap" follows the paper: Eq. 8 recommends, and T - K is in beta^2 (T if T <= K).
"BayesGap, default" are the library's defaults, T and the best posterior mean among pulled
arms. UCBE knows the true gaps; UGap estimates them as BayesGap does. Uniform is ours.

The paper plots bars without numbers, so only signs are compared. They differ on speeds of Los
Angeles (207 sensors, seven days): EI, UGap and UCBE err less than BayesGap at T = 400, and PI,
UCBE and EI at the T / K of the paper. Without the data of the paper the reason is unknown.
Thompson sampling does poorly, as in the paper.
"""

import numpy as np
from setting import (
    CORRELATED,
    N_READINGS,
    N_SENSORS,
    SENSOR_FORMAT,
    T_SENSORS,
    Figure,
    Sensors,
    readings,
)

import pybandit as pb
from pybandit._shared import drawing

DEFAULT = "BayesGap, default"
INDEPENDENT = "UCBE", "UGap"
POLICIES = (*CORRELATED, *INDEPENDENT, DEFAULT, "Uniform")
RIVALS = (*(name for name in CORRELATED if name != "BayesGap"), *INDEPENDENT)


def measure(sensors, name, budget, n_runs, seed, **options):
    """Return the result of a policy, or None if the budget is too small for it."""
    if name == DEFAULT:
        prior = sensors.prior
        policy = lambda environment: pb.policies.BayesGap(  # noqa: E731
            sensors.n_arms, budget=budget, **prior)
    else:
        policy = sensors.policy(name, budget, **options)
    return policy and pb.simulate(policy, sensors.environments(), n_runs, rng=seed, n_threads=1,
                                  progress=False)


def run(sensors, budgets, n_runs, seed):
    """Print the table; return (policy, budget) -> result."""
    found = {(name, budget): measure(sensors, name, budget, n_runs, seed)
             for name in POLICIES for budget in budgets}
    for title, value in (("probability of error", "error_probability"),
                         ("mean simple regret", "mean_regret")):
        print(f"\n{title:<22}" + "".join(f"{f'T = {budget}':>10}" for budget in budgets))
        for name in POLICIES:
            cells = [found[name, budget] for budget in budgets]
            print(f"{name:<22}" + "".join(
                f"{'' if cell is None else format(getattr(cell, value), '.3f'):>10}"
                for cell in cells).rstrip())
    return {key: result for key, result in found.items() if result is not None}


def compare(figure, found, budget):
    """Compare the paper's statements on Figure 2 with the errors at one budget."""
    errors = {name: found[name, budget].error_probability for name in POLICIES}
    at = f"at T = {budget}"
    best = min(RIVALS, key=errors.get)
    figure.claim(f"BayesGap errs less than all alternatives {at}", "considerable improvement",
                 f"{errors['BayesGap']:.3f} ({errors[DEFAULT]:.3f} by default), the least of the "
                 f"others {errors[best]:.3f} ({best})", errors["BayesGap"] < errors[best])
    correlated = {name: errors[name] for name in CORRELATED}
    worst, rival = max(correlated, key=correlated.get), min(INDEPENDENT, key=errors.get)
    figure.claim(f"Policies that model the correlation err less than UCBE and UGap {at}",
                 "all of them", f"{sum(e < errors[rival] for e in correlated.values())} of 6; at "
                 f"most {errors[worst]:.3f} ({worst}), {errors[rival]:.3f} ({rival})",
                 errors[worst] < errors[rival])
    figure.claim(f"Thompson sampling does poorly {at} (Sec. 6.2)", "poor",
                 f"rank {sorted(correlated, key=correlated.get).index('Thompson') + 1} of the 6 "
                 f"that model the correlation, {errors['Thompson']:.3f}",
                 errors["Thompson"] > np.median(list(correlated.values())))


def draw(found, budgets):
    """Plot the errors as bars, one panel per budget, with 95 % intervals."""
    figure, axes = drawing.new_figure(3.8 * len(budgets), 3.6, 1, len(budgets), sharey=True)
    for axis, budget in zip(axes[0], budgets, strict=True):
        names = [name for name in POLICIES if (name, budget) in found]
        errors = np.array([found[name, budget].error_probability for name in names])
        halves = [1.96 * (e * (1 - e) / found[names[0], budget].n_runs)**0.5 for e in errors]
        axis.bar(range(len(names)), errors, yerr=halves, capsize=3, color=drawing.COLOURS[0])
        axis.set_xticks(range(len(names)), names, rotation=60, ha="right")
        drawing.tidy(axis, f"T = {budget}")
    axes[0, 0].set_ylabel("probability of error", fontsize=9)
    return figure


def add(parser):
    parser.add_argument("--lowest", action="store_true", help="look for the lowest reading")
    parser.add_argument("--budgets", nargs="+", type=int, metavar="T",
                        help="default: the paper's T / K and, with --data, 400")


def main(argv=None):
    figure = Figure(__doc__, runs=(N_READINGS, 60), data=SENSOR_FORMAT, add=add, arguments=argv)
    table = readings(figure.data)
    sensors = Sensors(table, figure.options.lowest)
    ratio = round(T_SENSORS / N_SENSORS * sensors.n_arms)
    budgets = figure.options.budgets or [ratio, *([] if figure.data is None else [T_SENSORS])]
    figure.runs = n_runs = min(figure.runs, len(sensors.later))
    print(f"{sensors.n_arms} sensors, {len(table)} times, the "
          f"{'lowest' if figure.options.lowest else 'highest'} wanted, {n_runs} runs, "
          f"noise {sensors.noise_std:.2f}")
    found = run(sensors, budgets, n_runs, figure.seed)
    for budget in budgets:
        if budget >= sensors.n_arms:
            compare(figure, found, budget)
    tolerated = [measure(sensors, "BayesGap", budgets[-1], n_runs, figure.seed,
                         epsilon=epsilon * sensors.noise_std) for epsilon in (0.0, 0.1, 1.0)]
    errors = [result.error_probability for result in tolerated]
    figure.claim("Varying epsilon has little effect on BayesGap", "little",
                 " ".join(f"{error:.3f}" for error in errors)
                 + f" at T = {budgets[-1]}, epsilon 0, .1 and 1 times the noise",
                 max(errors) - min(errors) < 0.05)
    figure.end(lambda: draw(found, budgets))


if __name__ == "__main__":
    main()
