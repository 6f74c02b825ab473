"""A kernel with init and step as in BlackJAX, whose test reads few rows, by an XLA handler.

    make && python run.py

The step is compiled C++ (racing.cc), registered with JAX as a foreign function: inside jit and
lax.scan no Python is called. It runs on the CPU, in float64, and has no derivatives. For the same
key, its random bits differ from those of jax.random. A kernel is one chain: vmap runs its chains
one after another.
"""

import ctypes
import pathlib
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import pybandit as pb

jax.config.update("jax_enable_x64", True)
library = ctypes.CDLL(pathlib.Path(__file__).with_name("libracing.so"))
jax.ffi.register_ffi_target("racing_step", jax.ffi.pycapsule(library.racing_step),
                            platform="cpu")
INT, INTS = ctypes.c_int64, ctypes.POINTER(ctypes.c_int64)
library.log_ratios.argtypes = [INTS, INT, INTS, INT, ctypes.POINTER(ctypes.c_double),
                               ctypes.c_void_p]  # pybandit/racing/factors.h


class State(NamedTuple):
    """The state of a chain."""

    position: jax.Array


class Info(NamedTuple):
    """Information about a step."""

    is_accepted: jax.Array
    n_evaluations: jax.Array


class Chain(ctypes.Structure):
    """The struct `chain` of racing.cc."""

    _fields_ = [("d", ctypes.c_int64),
                *((name, ctypes.c_void_p) for name in (
                    "x", "y", "points", "factor", "gradient", "hessian", "center")),
                ("prior_precision", ctypes.c_double), ("test", ctypes.c_void_p),
                ("busy", ctypes.c_int)]


class Kernel:
    """A random walk on a logistic regression: `init` and `step`, which JAX can trace.

    Parameters
    ----------
    x, y : ndarray of float64, shapes (N, d) and (N,)
    factor : ndarray of float64, shape (d, d)
        Lower triangular; steps are factor @ N(0, 1).
    prior_precision : float
    mode : ndarray of float64, shape (d,)
    """

    def __init__(self, x, y, factor, prior_precision, mode, **options):
        p = 1 / (1 + np.exp(-x @ mode))
        control = pb.mcmc.GLMControl(x, y - p, -p * (1 - p), mode)
        points = np.stack([mode, mode])
        kept = [x, y, points, np.ascontiguousarray(factor), control.gradient, control.hessian,
                control.center]
        self.chain = Chain(mode.size, *(array.ctypes.data for array in kept), prior_precision)
        factors = pb.Factors(
            library.log_ratios, len(y), 1, user_data=ctypes.c_void_p(ctypes.addressof(self.chain)),
            control=pb.racing.ControlVariate(control.changes(points), [0.0]))
        self.test = pb.racing.AcceptanceTest(factors, **options)
        self.chain.test, self.kept = self.test.address, kept  # keep them alive

    def init(self, position):
        return State(jnp.asarray(position, dtype=jnp.float64))

    def step(self, rng_key, state):
        shape = jax.ShapeDtypeStruct(state.position.shape, jnp.float64)
        call = jax.ffi.ffi_call("racing_step", (shape, jax.ShapeDtypeStruct((2,), jnp.int64)),
                                vmap_method="sequential")
        if jnp.issubdtype(rng_key.dtype, jax.dtypes.prng_key):
            rng_key = jax.random.key_data(rng_key)
        position, outcome = call(rng_key, state.position,
                                 chain=np.int64(ctypes.addressof(self.chain)))
        return State(position), Info(outcome[0] != 0, outcome[1])


def sample(kernel, state, key, n):
    """Return a function that takes n steps in one computation."""
    def one(state, key):
        state, info = kernel.step(key, state)
        return state, (state.position, info)

    return jax.lax.scan(one, state, jax.random.split(key, n))[1]


if __name__ == "__main__":
    N, D, STEPS = 50_000, 3, 20_000
    rng = np.random.default_rng(20)
    x = rng.normal(size=(N, D))
    y = (rng.random(N) < 1 / (1 + np.exp(-x @ [0.5, -0.25, 0.0]))).astype(float)
    exact = pb.mcmc.ExactMinibatch(x, y)
    kernel = Kernel(x, y, 2.38 / np.sqrt(D) * np.linalg.cholesky(exact.covariance), 1.0,
                    exact.mode, delta=0.01)
    run = jax.jit(lambda state, key: sample(kernel, state, key, STEPS))
    state = kernel.init(exact.mode)
    jax.block_until_ready(run(state, jax.random.key(0)))
    start = time.perf_counter()
    draws, info = jax.block_until_ready(run(state, jax.random.key(1)))
    each = (time.perf_counter() - start) / STEPS * 1e6

    tree = exact.sample(STEPS, n_warmup=500, n_chains=1, rng=1)
    posterior = tree["posterior"]["x"].to_numpy()[0]
    off = np.abs(np.mean(draws, axis=0) - posterior.mean(axis=0)) / posterior.std(axis=0)
    ratios = np.std(draws, axis=0) / posterior.std(axis=0)
    read = float(np.mean(info.n_evaluations))
    print(f"{each:.1f} us per step, {np.mean(info.is_accepted):.2f} accepted, {read:.0f} of {N} "
          f"rows read; means within {off.max():.2f} deviations of the posterior's, deviations "
          f"{ratios.min():.2f} to {ratios.max():.2f} of them")
    assert read < N / 20 and off.max() < 0.15 and np.abs(ratios - 1).max() < 0.1
