"""Arms, policies and tables of the two examples on budgets (Lalitha et al. 2023, Sec. 5)."""

import functools

import numpy as np

import pybandit as pb
from pybandit._shared import drawing

SETTINGS = ("A", "B")


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


def gaps(means):
    """Return the gap of each arm to the best mean; for the best arm, to the second best."""
    gap = means.max() - means
    return np.where(gap > 0, gap, gap[gap > 0].min(initial=np.inf))


def width(environment, n):
    """Return b of GapE, an upper bound that rewards are unlikely to exceed."""
    return (environment.means + np.sqrt(environment.variances * np.log(n))).max()


def gape(environment, n):
    """Return GapE with the paper's scale of H, 4 log2(K) / 144."""
    n_arms, b = environment.n_arms, width(environment, n)
    complexity = (b**2 / gaps(environment.means) ** 2).sum() * np.log2(n_arms) / 36
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
}


def measure(make, environment, n, n_runs, seed):
    """Return the share of runs with an error, and half of its 95 % interval."""
    result = pb.simulate(lambda e: make(e, n), environment, n_runs, rng=seed, progress=False)
    low, high = result.error_interval
    return result.error_probability, (high - low) / 2


def run_table(title, axis, cells, n_runs, seed, reference=None):
    """Print errors of all policies in `cells`, axis value -> (environment, n); return rows."""
    print(f"\n{title}, {n_runs:,} runs")
    print(f"{axis:>25}   " + "".join(f"{x:<14,}" for x in cells))
    rows = []
    for name, make in POLICIES.items():
        known = [(reference or {}).get(name, {}).get(x) for x in cells]
        found = [measure(make, *cell, n_runs, seed) for cell in cells.values()]
        rows.append({"label": name, "x": list(cells), "y": [error for error, _ in found],
                     "half": [half for _, half in found], "reference": known})
        print(f"{name:>25}   " + "".join(
            f"{text(error) + ('' if of is None else f' [{text(of)}]'):<14}"
            for (error, _), of in zip(found, known, strict=True)), flush=True)
    return rows


def text(error):
    return f"{error:.4f}"[error < 1:]


def save(panels, axis, path):
    """Save a plot of some tables, with references as rings."""
    drawing.save(drawing.measured_figure(panels, axis, "probability of error"), path)
    print(f"plot: {path}")
