"""Arms, policies, sizes and tables of the experiments of Lalitha et al. 2023, Sec. 5.

The paper counts arms from 1 and gives even arms much noise: then the arm of the largest
mean before perturbation has little noise (setting A). Counted from 0 it has much noise
(setting B), which agrees better with the paper's description of its figures.
"""

import functools
import sys
from pathlib import Path

import numpy as np

import pybandit as pb
from pybandit._shared import drawing

sys.path.append(str(Path(__file__).parents[1]))
from figures import Figure, near  # noqa: E402, F401

SETTINGS = ("A", "B")
BUDGETS, SIZES = (1000, 2000, 5000, 10_000), (32, 40, 48, 56, 64)
K, N, N_RUNS = 64, 5000, 5000

# Section 5.2: rank of the completed ratings; sweeps and ridge per rating, which the paper does not
# print; users and movies of MovieLens 1M, and of 100k.
RANK, ROUNDS, RIDGE = 5, 10, 0.1
SHAPE, SHAPE_QUICK = (6040, 3952), (943, 1682)


def arms(n_arms, setting, rng):
    """Draw means and noise of a run; the first arm has little noise in setting A, much in B."""
    rank = np.arange(n_arms)
    means = 1.0 - np.sqrt(rank / n_arms)
    noisy = rank % 2 == SETTINGS[::-1].index(setting)
    variances = np.where(noisy, 0.9 * means**2 + 0.1, 0.1)
    means = means + rng.normal(0.0, 0.05, n_arms)
    return means, np.sqrt(variances * rng.uniform(0.5, 1.5, n_arms))


def once_a_run(draw):
    """Return environments by ``draw(rng)``, cached: run i gets the same one in every call."""
    cached = functools.cache(lambda key: draw(np.random.default_rng(key)))
    return lambda rng: cached(int(rng.integers(2**63)))


def closest(means, variances, wanted_means, wanted_variances):
    """Return for each wanted mean and variance the closest index that no earlier one took."""
    distances = ((wanted_means[:, None] - means) ** 2
                 + (wanted_variances[:, None] - variances) ** 2)
    chosen = []
    for row in distances:
        row[chosen] = np.inf
        chosen.append(int(row.argmin()))
    return chosen


def gaps(means):
    """Return the gap of each arm to the best mean; for the best arm, to the second best."""
    gap = means.max() - means
    return np.where(gap > 0, gap, gap[gap > 0].min(initial=np.inf))


def width(environment, n):
    """Return b of GapE, an upper bound that rewards are unlikely to exceed."""
    return (environment.means + np.sqrt(environment.variances * np.log(n))).max()


def gape(environment, n, power=2):
    """Return GapE with the paper's scale of H, 4 log2(K) / 144; H is the sum of (b / gap)^2.

    With ``power=0`` H has 1 in place of b^2: the units are then wrong.
    """
    n_arms, b = environment.n_arms, width(environment, n)
    complexity = (b**power / gaps(environment.means) ** 2).sum() * np.log2(n_arms) / 36
    return pb.policies.GapE(n_arms, budget=n, value_range=(0.0, b), complexity=complexity)


def gapev(environment, n):
    """Return GapEV with the paper's scale of H, 4 log2(K) / 512."""
    n_arms, b, gap = environment.n_arms, width(environment, n), gaps(environment.means)
    root = np.sqrt(environment.variances) + np.sqrt(environment.variances + 16 / 3 * b * gap)
    return pb.policies.GapEV(n_arms, budget=n, value_range=(0.0, b),
                             complexity=(root**2 / gap**2).sum() * np.log2(n_arms) / 128)


def ucbe(environment, n):
    return pb.policies.UCBE(environment.n_arms, budget=n,
                            complexity=(1.0 / gaps(environment.means) ** 2).sum())


def of_budget(cls, **options):
    """Return a function that makes this policy for n pulls."""
    return lambda environment, n: cls(environment.n_arms, budget=n, **options)


def shvar(environment, n, **options):
    return pb.policies.SHVar(environment.n_arms, budget=n, noise_std=environment.noise_std,
                             **options)


def ugapeb(environment, n):
    return pb.policies.UGapEb(environment.n_arms, budget=n, noise_std=environment.noise_std.max())


def ebtc(environment, n, **options):
    return pb.policies.EBTC(environment.n_arms, max_pulls=n, **options)


# Functions that make a policy for n pulls. SHVar receives the standard deviations, UGapEb the
# largest of them, and GapE, GapEV and UCBE the complexity of the problem.
POLICIES = {
    "Uniform": of_budget(pb.policies.Uniform),
    "SuccessiveRejects": of_budget(pb.policies.SuccessiveRejects),
    "SequentialHalving": of_budget(pb.policies.SequentialHalving),
    "SequentialHalving, reuse": of_budget(pb.policies.SequentialHalving, reuse=True),
    "SHVar": shvar,
    "SHVar, reuse": functools.partial(shvar, reuse=True),
    "SHAdaVar": of_budget(pb.policies.SHAdaVar),
    "SHAdaVar, reuse": of_budget(pb.policies.SHAdaVar, reuse=True),
    "GapE": gape,
    "GapEV": gapev,
    "UCBE": ucbe,
    "UGapEb": ugapeb,
    "VBR": of_budget(pb.policies.VBR),
    "EBTC": ebtc,
    "OCBA": of_budget(pb.policies.OCBA),
    "EBTC, estimated": functools.partial(ebtc, noise_std="estimated"),
    "ContinuousRejects": of_budget(pb.policies.ContinuousRejects),
    "GapE, H without b^2": functools.partial(gape, power=0),
}
# The policies of the paper's figures.
PRINTED = ("Uniform", "SequentialHalving", "GapE", "GapEV", "VBR", "SHVar", "SHAdaVar")


def measure(make, environment, n, n_runs, seed):
    """Return the share of runs with an error, and half of its 95 % interval."""
    result = pb.simulate(lambda e: make(e, n), environment, n_runs, rng=seed, progress=False)
    low, high = result.error_interval
    return result.error_probability, (high - low) / 2


def run_table(title, axis, cells, n_runs, seed, reference=None, names=tuple(POLICIES)):
    """Print errors of policies in `cells`, axis value -> (environment, n); return rows."""
    print(f"\n{title}, {n_runs:,} runs")
    print(f"{axis:>25}   " + "".join(f"{x:<14,}" for x in cells))
    rows = []
    for name in names:
        known = [(reference or {}).get(name, {}).get(x) for x in cells]
        found = [measure(POLICIES[name], *cell, n_runs, seed) for cell in cells.values()]
        rows.append({"label": name, "x": list(cells), "y": [error for error, _ in found],
                     "half": [half for _, half in found], "reference": known})
        print_row(rows[-1])
    return rows


def print_row(row):
    """Print the errors of a policy, and references in brackets."""
    print(f"{row['label']:>25}   " + "".join(
        f"{text(error) + ('' if of is None else f' [{text(of)}]'):<14}"
        for error, of in zip(row["y"], row["reference"], strict=True)), flush=True)


def text(error):
    return f"{error:.4f}"[error < 1:]


def errors_of(rows):
    """Return a dict policy -> array of errors along the axis."""
    return {row["label"]: np.array(row["y"]) for row in rows}


def counted(holds, what="budgets"):
    """Return the text "3 of 4 budgets"."""
    return f"{np.sum(holds)} of {np.size(holds)} {what}"


def draw(panels, axis):
    """Plot tables, with references as rings."""
    return drawing.measured_figure(panels, axis, "probability of error")


def add_all(parser):
    """Add the option `--all`."""
    parser.add_argument("--all", action="store_true",
                        help="also policies that are not in the paper's figures")


def names_for(figure):
    """Return the names of the policies to run."""
    return tuple(POLICIES) if figure.options.all else (*PRINTED, "GapE, H without b^2")
