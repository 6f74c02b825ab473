"""Print error rates of races on difficult populations, as a Markdown table.

    python tests/racing/nasty.py [--quick] [--case NAME ...]

The totals of two states differ by one quantum, so every early decision for the worse state
is an error, and the larger total gives hardly any advantage. Differences are tried with both
signs; the table shows the larger error rate.
"""

import argparse

import numpy as np

import pybandit as pb

N = 5_000
# Values are multiples of this, so that totals are exact even with an offset of 1e12.
QUANTUM = 2.0**-10
# Factor that makes totals so large that Gumbel noise, at most 37, has no effect.
HUGE = 2.0**50
# Arrays are otherwise read in full when that is faster.
ALL_LOOKS = pb.racing.Looks(max_fraction=1.0)


def normal(rng, n):
    return rng.normal(size=n)


def two_scale(rng, n):
    """Return log ratios of two scales of a normal likelihood."""
    return rng.normal(size=n) ** 2


def t4(rng, n):
    """Return log ratios like `two_scale`, for data with a Student t4 distribution."""
    return np.minimum(rng.standard_t(4, size=n) ** 2, 1e4)


def exponential(rng, n):
    return rng.exponential(size=n)


def log_normal(rng, n):
    return rng.lognormal(size=n)


def near_tie(rng, n):
    """Return differences of two coins: -1, 0 or 1."""
    return rng.integers(0, 2, n) - rng.integers(0, 2, n)


def rare(rng, n):
    """Return 1 % large factors; all others are equal."""
    values = np.full(n, -1.0)
    values[rng.permutation(n)[: n // 100]] = 99.0
    return values


def rare_noise(rng, n):
    """Return 1 % large factors and noise in the others, which hides that large ones exist."""
    return rare(rng, n) + 0.5 * rng.normal(size=n)


def t2(rng, n):
    return np.clip(rng.standard_t(2, size=n), -1e4, 1e4)


def t3(rng, n):
    return np.clip(rng.standard_t(3, size=n), -1e4, 1e4)


def outliers(rng, n):
    """Return normal values, except 1 % at plus or minus ten standard deviations."""
    values = rng.normal(size=n)
    values[: n // 100] = rng.choice([-10.0, 10.0], n // 100)
    return values


# name: (differences, constant added to the rewards of both states)
CASES = {
    "normal": (normal, 0.0),
    "normal, offset 1e12": (normal, 1e12),
    "near tie of coins": (near_tie, 0.0),
    "two scales of a normal": (two_scale, 0.0),
    "exponential": (exponential, 0.0),
    "log-normal": (log_normal, 0.0),
    "two scales, t4 data": (t4, 0.0),
    "1 % rare, others alike": (rare, 0.0),
    "1 % rare, others noise": (rare_noise, 0.0),
    "Student's t3": (t3, 0.0),
    "Student's t2": (t2, 0.0),
    "1 % at ten deviations": (outliers, 0.0),
}


def differences(case, sign, rng, n=N):
    """Return rewards of state 1 minus state 0, whose total is one quantum below 0."""
    quanta = np.rint(sign * CASES[case][0](rng, n) / QUANTUM).astype(np.int64)
    excess = int(quanta.sum()) + 1
    quanta -= excess // n
    quanta[: excess % n] -= 1
    return rng.permutation(quanta) * QUANTUM


def rewards_of(case, d):
    rewards = np.zeros((d.size, 2)) + CASES[case][1]
    rewards[:, 1] += d
    return rewards


def race(case, d, bound, n_runs, rng):
    rewards = rewards_of(case, d)
    return sum(pb.race(rewards, bound=bound, looks=ALL_LOOKS, rng=rng).best for _ in range(n_runs))


def sampler(case, d, bound, n_runs, rng):
    draws = pb.RacingSampler(rewards_of(case, d) * HUGE, bound=bound,
                             looks=ALL_LOOKS, rng=rng)
    return int(draws.draw(n_runs)[0].sum())


def accept(case, d, bound, n_runs, rng):
    """Return the number of wrong acceptances, with `d` as log ratios; the offset is not used."""
    test = pb.racing.AcceptanceTest(d, bound=bound, looks=ALL_LOOKS, rng=rng)
    return sum(test.test(0.0).accepted for _ in range(n_runs))


def gibbs(case, d, bound, n_runs, rng):
    rewards = rewards_of(case, d) * HUGE
    tree = pb.mcmc.RacingGibbs(lambda variable, values: rewards, 1, bound=bound,
                               looks=ALL_LOOKS).sample(
        n_runs, n_warmup=0, n_chains=1, rng=rng)
    return int(tree["posterior"]["x"].sum())


def populations(case, d, bound, n_runs, rng):
    """Return the number of wrong wins of an arm with factors over an arm without factors."""
    arms = [np.zeros(0), d + CASES[case][1]]
    log_prior = [CASES[case][1] * d.size, 0.0]
    return sum(pb.racing.race_populations(arms, log_prior, bound=bound, rng=rng).best
               for _ in range(n_runs))


# name: (function that counts errors in n_runs, number of factors, share of the requested runs)
SAMPLERS = {"race": (race, N, 0.25), "RacingSampler": (sampler, N, 1.0),
            "accept": (accept, N, 1.0), "Gibbs": (gibbs, N, 0.25),
            "populations": (populations, N, 0.25)}


def bound_of(name, delta, skewness=True):
    if name == "accept":
        return pb.racing.StudentBound(delta=delta, convention="two-sided", skewness=skewness)
    return pb.racing.StudentBound(delta=delta, skewness=skewness)


def errors(case, name, delta, n_runs, seed, sign, skewness=True):
    """Return the number of wrong answers in n_runs, over ten populations."""
    function, size, _ = SAMPLERS[name]
    rng = np.random.default_rng([seed, list(CASES).index(case), list(SAMPLERS).index(name)])
    bound = bound_of(name, delta, skewness)
    return sum(function(case, differences(case, sign, rng, size), bound, n_runs // 10, rng)
               for _ in range(10))


def worst(case, name, delta, n_runs, seed, skewness=True):
    n_runs = int(n_runs * SAMPLERS[name][2])
    return max(errors(case, name, delta, n_runs, seed, sign, skewness)
               for sign in (1, -1)) / n_runs


def table(runs, cases, seed=16):
    """Yield the lines of a Markdown table; `runs` maps each delta to its number of runs."""
    yield "| differences | delta | " + " | ".join(SAMPLERS) + " | RacingSampler, `skewness=False` |"
    yield "| --- " + "| ---: " * (len(SAMPLERS) + 2) + "|"
    for case in cases:
        for delta, n_runs in runs.items():
            shares = [worst(case, name, delta, n_runs, seed) for name in SAMPLERS]
            shares.append(worst(case, "RacingSampler", delta, n_runs, seed, skewness=False))
            digits = " | ".join(f"{share:.4f}".lstrip("0") for share in shares)
            yield f"| {case} | {delta} | {digits} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="an eighth of the runs")
    parser.add_argument("--case", nargs="+", choices=CASES, default=list(CASES))
    given = parser.parse_args()
    runs = {0.05: 500, 0.001: 2000} if given.quick else {0.05: 4000, 0.001: 16_000}
    for line in table(runs, given.case):
        print(line, flush=True)


if __name__ == "__main__":
    main()
