"""Bayesian logistic regression: effective samples per second, full data against racing.

Run as ``python bench/mcmc/bench_chains.py``; prints one table. All rows of the table use the same
random walk, 2.38 / sqrt(d) times the Cholesky factor of the inverse Hessian at the mode, without
adaptation. ESS is ArviZ's bulk ESS, the smallest of the d parameters. Times are processor times,
best of a few rounds. Full data, and racing without a control, are timed on a few steps; their ESS
per step is that of one full-data chain as long as the others.
"""

import argparse
import time
import warnings

import numpy as np
from scipy import special

import pybandit as pb
import pybandit.numba
from pybandit import mcmc

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import arviz
    import numba


def problem(n, d, seed=1):
    """Return features with an intercept, labels, the posterior mode and its covariance."""
    rng = np.random.default_rng(seed)
    x = np.column_stack([np.ones(n), rng.normal(size=(n, d - 1))])
    y = (rng.random(n) < special.expit(x @ rng.normal(scale=0.5, size=d))) * 1.0
    mode = np.zeros(d)
    for _ in range(30):
        p = special.expit(x @ mode)
        precision = (x.T * (p * (1 - p))) @ x + np.eye(d)
        mode = mode + np.linalg.solve(precision, x.T @ (y - p) - mode)
    return x, y, mode, np.linalg.inv(precision)


def log_prior(theta):
    return -0.5 * float(theta @ theta)


def numpy_likelihood(x, y):
    return lambda theta: float((y * (s := x @ theta) - np.logaddexp(0.0, s)).sum())


def numba_likelihood(x, y):
    @numba.njit
    def total(theta):
        result = 0.0
        for n in range(x.shape[0]):
            s = 0.0
            for i in range(x.shape[1]):
                s += x[n, i] * theta[i]
            result += y[n] * s - max(s, 0.0) - np.log1p(np.exp(-abs(s)))
        return result

    return total


def full_data_walk(likelihood, start, factor, n_steps, rng):
    """Run the textbook loop: one likelihood of all data per step."""
    draws, theta = np.empty((n_steps, start.size)), start
    density = likelihood(theta) + log_prior(theta)
    for t in range(n_steps):
        proposed = theta + factor @ rng.standard_normal(start.size)
        new = likelihood(proposed) + log_prior(proposed)
        if new - density > -rng.standard_exponential():
            theta, density = proposed, new
        draws[t] = theta
    return draws


@pybandit.numba.factor
def log_ratios(factors, states, out, x, y, points):
    # dot products first, so that the rows are loaded from memory in parallel
    dots = np.empty((factors.size, 2))
    for f in range(factors.size):
        n = factors[f]
        before = after = 0.0
        for i in range(x.shape[1]):
            before += x[n, i] * points[0, i]
            after += x[n, i] * points[1, i]
        dots[f, 0], dots[f, 1], out[f, 0] = before, after, y[n]
    for f in range(factors.size):
        before, after = dots[f]
        out[f, 0] = (out[f, 0] * (after - before) - max(after, 0.0) + max(before, 0.0)
                     - np.log1p(np.exp(-abs(after))) + np.log1p(np.exp(-abs(before))))


def python_log_likelihood(x, y):
    def log_likelihood(indices, points):
        s = x[indices] @ points.T
        return y[indices, None] * s - np.logaddexp(0.0, s)

    return log_likelihood


def racing_walk(x, y, mode, factor, n_steps, rng, compiled, controlled):
    control = None
    if controlled:
        p = special.expit(x @ mode)
        control = mcmc.GLMControl(x, y - p, -p * (1 - p), mode)
    options = dict(log_prior=log_prior, proposal=mcmc.RandomWalk(factor), control=control,
                   adapt=False)
    if compiled:
        sampler = mcmc.RacingMetropolis(
            n_parameters=mode.size,
            factors=lambda points: pb.Factors(log_ratios.bind(x, y, points), len(x), 1),
            **options)
    else:
        sampler = mcmc.RacingMetropolis(python_log_likelihood(x, y), *x.shape, **options)
    sampler.sample(5, n_warmup=0, n_chains=1, initial=mode, rng=rng)  # compiles

    def run():
        tree = sampler.sample(n_steps, n_warmup=0, n_chains=1, initial=mode, rng=rng)
        return (tree["posterior"]["x"].to_numpy()[0],
                float(tree["sample_stats"]["fraction"].mean()))

    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-n", type=int, default=100_000)
    parser.add_argument("-d", type=int, default=10)
    parser.add_argument("--steps", type=int, default=20_000,
                        help="length of the chains that ESS is computed from")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="500 steps, 2,000 rows, one round")
    options = parser.parse_args()
    if options.quick:
        options.n, options.steps, options.rounds = 2_000, 500, 1
    x, y, mode, covariance = problem(options.n, options.d)
    factor = 2.38 / np.sqrt(options.d) * np.linalg.cholesky(covariance)
    few = max(100, options.steps // 50)

    def full(likelihood, n_steps):
        return lambda: (full_data_walk(likelihood, mode, factor, n_steps,
                                       np.random.default_rng(1)), 1.0)

    compiled_likelihood = numba_likelihood(x, y)
    compiled_likelihood(mode)
    exact, _ = full(compiled_likelihood, options.steps)()
    print(f"N = {options.n:,}, d = {options.d}")
    print(f"{'':<44}{'read':>8}{'us/step':>10}{'ESS/step':>10}{'ESS/s':>10}{'ratio':>8}")
    rows = {"full data, NumPy": (full(numpy_likelihood(x, y), few), few),
            "full data, numba": (full(compiled_likelihood, few), few)}
    for controlled in (True, False):
        for compiled in (True, False):
            name = (f"racing, {'numba' if compiled else 'NumPy'} function, "
                    f"{'control variate' if controlled else 'no control'}")
            n_steps = options.steps if controlled else few
            rows[name] = (racing_walk(x, y, mode, factor, n_steps, 1, compiled, controlled),
                          n_steps)
    baseline = None
    for name, (run, n_steps) in rows.items():
        best = np.inf
        for _ in range(options.rounds):
            start = time.process_time()
            draws, fraction = run()
            best = min(best, (time.process_time() - start) / n_steps)
        # too short to estimate ESS per step: use that of the exact chain
        per_step = smallest_ess(draws if n_steps == options.steps else exact) / options.steps
        baseline = baseline or per_step / best
        print(f"{name:<44}{fraction:>8.4f}{best * 1e6:>10.1f}{per_step:>10.4f}"
              f"{per_step / best:>10.1f}{per_step / best / baseline:>8.1f}", flush=True)


def smallest_ess(draws):
    """Return ArviZ's bulk ESS of the parameter that mixes worst."""
    return min(float(arviz.ess(column[None])) for column in draws.T)


if __name__ == "__main__":
    main()
