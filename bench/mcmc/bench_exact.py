"""Exact chains on minibatches compared with other samplers of a large logistic regression.

Run as ``python bench/mcmc/bench_exact.py -n 100000 -d 20``; prints one table. With
``-n 1000 -d 50`` all exact steps read all rows, as the walk on full data does with numba. ESS is
ArviZ's bulk ESS, the smallest of the d parameters. Times are processor times, best of a few
rounds, on one core. `sd` is the chain's standard deviation divided by that of the exact chain with
the most draws, for the parameter with the largest difference; its noise is one or two per cent.
"hand-written" is the factorised test as a numba loop for this model alone: the same algorithm,
with the same bound.
"""

import argparse
import importlib.util
import time
import warnings

import numpy as np
from bench_chains import (
    full_data_walk,
    log_prior,
    log_ratios,
    numba_likelihood,
    problem,
    smallest_ess,
)
from exact_loops import hand_written, stochastic_gradient

import pybandit as pb
from pybandit import mcmc


def exact(x, y, n_steps, n_warmup=0, **options):
    sampler = mcmc.ExactMinibatch(x, y, **options)

    def run():
        tree = sampler.sample(n_steps, n_warmup=n_warmup, n_chains=1, rng=1)
        return (tree["posterior"]["x"].to_numpy()[0],
                float(tree["sample_stats"]["n_evaluations"].mean()))

    return run, n_steps


def racing(x, y, mode, proposal, n_steps):
    p = 1 / (1 + np.exp(-x @ mode))
    sampler = mcmc.RacingMetropolis(
        n_parameters=mode.size,
        factors=lambda points: pb.Factors(log_ratios.bind(x, y, points), len(x), 1),
        log_prior=log_prior, control=mcmc.GLMControl(x, y - p, -p * (1 - p), mode),
        proposal=proposal, adapt=False)

    def run():
        tree = sampler.sample(n_steps, n_warmup=0, n_chains=1, initial=mode, rng=1)
        return (tree["posterior"]["x"].to_numpy()[0],
                float(tree["sample_stats"]["n_evaluations"].mean()))

    run()
    return run, n_steps


def full_data(x, y, mode, factor, n_steps):
    likelihood = numba_likelihood(x, y)
    likelihood(mode)

    def run():
        return (full_data_walk(likelihood, mode, factor, n_steps, np.random.default_rng(1)),
                float(len(x)))

    return run, n_steps


def nuts(x, y, mode, n_steps):
    """Run NumPyro's NUTS on full data; None if it is not installed. Time excludes warm-up."""
    if not importlib.util.find_spec("numpyro"):
        return None
    import jax
    import numpyro

    jax.config.update("jax_enable_x64", True)

    def potential(theta):
        s = features @ theta
        return 0.5 * theta @ theta - (labels @ s - jax.numpy.logaddexp(0.0, s).sum())

    features, labels = jax.numpy.asarray(x), jax.numpy.asarray(y)
    kernel = numpyro.infer.NUTS(potential_fn=potential, dense_mass=True)
    chain = numpyro.infer.MCMC(kernel, num_warmup=n_steps, num_samples=n_steps, progress_bar=False)
    chain.warmup(jax.random.PRNGKey(1), init_params=jax.numpy.asarray(mode),
                 extra_fields=("num_steps",))

    def run():
        chain.run(jax.random.PRNGKey(2), init_params=jax.numpy.asarray(mode),
                  extra_fields=("num_steps",))
        steps = np.asarray(chain.get_extra_fields()["num_steps"])
        return np.asarray(chain.get_samples()), float(len(x) * steps.mean())

    return run, n_steps


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-n", type=int, default=100_000)
    parser.add_argument("-d", type=int, default=20)
    parser.add_argument("--steps", type=int, default=200_000, help="steps of the exact chains")
    parser.add_argument("--nuts", type=int, default=200, help="draws of NUTS; 0: do not run it")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true",
                        help="2,000 steps, 2,000 rows, one round, no NUTS")
    options = parser.parse_args()
    if options.quick:
        options.n, options.steps, options.nuts, options.rounds = 2_000, 2_000, 0, 1
    n, d, many, few = options.n, options.d, options.steps, options.steps // 20
    x, y, mode, covariance = problem(n, d)
    factor = 2.38 / np.sqrt(d) * np.linalg.cholesky(covariance)
    walk, draws = mcmc.RandomWalk(factor), mcmc.Preconditioned(mode, covariance)
    start = time.process_time()
    mcmc.ExactMinibatch(x, y)
    print(f"N = {n:,}, d = {d}; set-up of an exact chain {time.process_time() - start:.2f} s")
    rows = {
        "exact, factorised, draws": exact(x, y, many, proposal="laplace", test="factorised"),
        "exact, auxiliary, draws": exact(x, y, many, proposal="laplace", test="auxiliary"),
        "exact, default": exact(x, y, many, n_warmup=1_000),  # warm-up is included in its time
        "exact, factorised, walk": exact(x, y, many, proposal="walk", test="factorised"),
        "exact, auxiliary, walk": exact(x, y, many, proposal="walk", test="auxiliary"),
        "hand-written, factorised, draws": hand_written(x, y, mode, covariance, True, many),
        "hand-written, factorised, walk": hand_written(x, y, mode, covariance, False, many),
        "racing, draws": racing(x, y, mode, draws, few),
        "racing, walk": racing(x, y, mode, walk, few),
        "full data, walk": full_data(x, y, mode, factor, max(50, 4_000_000 // n)),
        "NUTS, full data": options.nuts and nuts(x, y, mode, options.nuts),
        "SGLD, control variate": stochastic_gradient(x, y, mode, covariance, False, few),
        "SGHMC, control variate": stochastic_gradient(x, y, mode, covariance, True, few),
    }
    report({name: row for name, row in rows.items() if row}, options.rounds)


def timed(rows, rounds):
    """Return draws, rows read and the best time per step; samplers alternate to share the load."""
    best, found = dict.fromkeys(rows, np.inf), {}
    for i in range(rounds):
        for name, (run, n_steps) in rows.items():
            if i and n_steps < 1_000:
                continue
            start = time.process_time()
            found[name] = run()
            best[name] = min(best[name], (time.process_time() - start) / n_steps)
    return {name: (*found[name], best[name]) for name in rows}


def report(rows, rounds):
    print(f"{'':<34}{'rows/step':>12}{'us/step':>11}{'ESS/step':>10}{'ESS/s':>11}{'sd':>7}")
    deviations = walked = None
    for name, (draws, n_read, seconds) in timed(rows, rounds).items():
        per_step = smallest_ess(draws) / len(draws)
        if name == "exact, factorised, walk":
            walked = per_step
        if name == "full data, walk":  # too short to estimate; ESS per step of the same walk
            per_step = walked
        deviations = draws.std(axis=0) if deviations is None else deviations
        ratios = draws.std(axis=0) / deviations
        off = ratios[np.abs(np.log(ratios)).argmax()] if len(draws) >= 1_000 else np.nan
        print(f"{name:<34}{n_read:>12,.2f}{seconds * 1e6:>11,.2f}{per_step:>10.4f}"
              f"{per_step / seconds:>11,.1f}{off:>7.2f}", flush=True)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
