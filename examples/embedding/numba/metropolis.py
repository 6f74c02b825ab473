"""Metropolis-Hastings in numba whose test reads few rows, without Python in its loop.

A logistic regression with a normal prior; its second-order expansion around the mode is the
control variate. The test is an AcceptanceTest, called by the compiled functions of pybandit. An
exact chain (pb.mcmc.ExactMinibatch) gives the posterior to compare with.
"""

import ctypes

import numba
import numpy as np
from numba.extending import get_cython_function_address

import pybandit as pb
import pybandit.numba

VOID, DOUBLE, INT = ctypes.c_void_p, ctypes.c_double, ctypes.c_int64


def compiled(name, *signature):
    """Return a function of pybandit.embedding that numba can call."""
    return ctypes.CFUNCTYPE(*signature)(get_cython_function_address("pybandit.embedding", name))


# pb_accept_decide(pb_accept *, log_threshold, pb_bitgen *, int64_t *accepted, int64_t *n_read)
decide = compiled("accept_decide", ctypes.c_int, VOID, DOUBLE, VOID, VOID, VOID)
# pb_control_quadratic_change(d, gradient, hessian, center, points)
total_change = compiled("control_quadratic_change", DOUBLE, INT, VOID, VOID, VOID, VOID)

N, D, STEPS = 50_000, 3, 20_000


@pybandit.numba.factor
def log_ratios(factors, states, out, x, y, points):
    for f in range(factors.size):
        now, new = 0.0, 0.0
        for j in range(x.shape[1]):
            now += x[factors[f], j] * points[0, j]
            new += x[factors[f], j] * points[1, j]
        out[f, 0] = (y[factors[f]] * (new - now) - np.log1p(np.exp(new))
                     + np.log1p(np.exp(now)))


@numba.njit
def walk(test, bits, rng, gradient, hessian, center, points, factor, draws):
    """Return the number of rows read, and the status of the first failed test or 0."""
    outcome, n_read = np.zeros(2, dtype=np.int64), 0
    d = points.shape[1]
    for step in range(draws.shape[0]):
        for i in range(d):
            points[1, i] = points[0, i]
        for j in range(d):
            noise = rng.normal()
            for i in range(j, d):
                points[1, i] += factor[i, j] * noise
        prior = 0.5 * ((points[0] ** 2).sum() - (points[1] ** 2).sum())
        change = total_change(d, gradient.ctypes.data, hessian.ctypes.data, center.ctypes.data,
                              points.ctypes.data)
        status = decide(test, np.log1p(-rng.random()) - prior - change, bits,
                        outcome.ctypes.data, outcome[1:].ctypes.data)
        if status != 0:
            return n_read, status
        n_read += outcome[1]
        if outcome[0]:
            points[0] = points[1]
        draws[step] = points[0]
    return n_read, 0


rng = np.random.default_rng(20)
x = rng.normal(size=(N, D))
y = (rng.random(N) < 1 / (1 + np.exp(-x @ [0.5, -0.25, 0.0]))).astype(float)
exact = pb.mcmc.ExactMinibatch(x, y)
p = 1 / (1 + np.exp(-x @ exact.mode))
control = pb.mcmc.GLMControl(x, y - p, -p * (1 - p), exact.mode)
points = np.stack([exact.mode, exact.mode])
factors = pb.Factors(log_ratios.bind(x, y, points), N, 1,
                     control=pb.racing.ControlVariate(control.changes(points), [0.0]))
test = pb.racing.AcceptanceTest(factors, delta=0.01)

draws = np.empty((STEPS, D))
factor = 2.38 / np.sqrt(D) * np.linalg.cholesky(exact.covariance)
with rng.bit_generator.lock:
    n_read, status = walk(test.address, rng.bit_generator.ctypes.bit_generator.value, rng,
                          control.gradient, control.hessian, control.center, points, factor,
                          draws)
test.raise_status(status)

tree = exact.sample(STEPS, n_warmup=500, n_chains=1, rng=1)
posterior = tree["posterior"]["x"].to_numpy()[0]
off = np.abs(draws.mean(axis=0) - posterior.mean(axis=0)) / posterior.std(axis=0)
ratios = draws.std(axis=0) / posterior.std(axis=0)
print(f"read {n_read / STEPS:.0f} of {N} rows per step; means within {off.max():.2f} deviations of "
      f"the posterior's, deviations {ratios.min():.2f} to {ratios.max():.2f} of them")
assert n_read / STEPS < N / 20 and off.max() < 0.15 and np.abs(ratios - 1).max() < 0.1
