"""A Gibbs sampler in numba that draws with pybandit, without Python in its loop.

y_n ~ Normal(means[z], 1 / sqrt(precision)), z on a grid and precision ~ Gamma(2, 1). A sweep
draws z by racing, by the address of a compiled function of pybandit, and precision by NumPy's
generator, from the same bits. After integration over the precision, the posterior of z has a
closed form.
"""

import ctypes

import numba
import numpy as np
from numba.extending import get_cython_function_address

import pybandit as pb
import pybandit.numba

# pb_status pb_sampler_draw(pb_sampler *, pb_bitgen *, int64_t *state)
draw = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
    get_cython_function_address("pybandit.embedding", "sampler_draw"))

N, D, SWEEPS = 20_000, 15, 4000
SHAPE, RATE = 2.0, 1.0


@pybandit.numba.factor
def log_factor(factors, states, out, y, means, precision):
    for f in range(factors.size):
        for s in range(states.size):
            out[f, s] = -0.5 * precision[0] * (y[factors[f]] - means[states[s]]) ** 2


@numba.njit
def sample(sampler, bits, rng, n_sweeps, precision, squares):
    """Return the visits of each state, and the status of the first failed draw or 0."""
    state = np.zeros(1, dtype=np.int64)
    visits = np.zeros(squares.size, dtype=np.int64)
    for _ in range(n_sweeps):
        status = draw(sampler, bits, state.ctypes.data)
        if status != 0:
            return visits, status
        visits[state[0]] += 1
        precision[0] = rng.gamma(SHAPE + N / 2) / (RATE + squares[state[0]] / 2)
    return visits, 0


rng = np.random.default_rng(11)
means = 0.01 * np.arange(D)
y = rng.normal(means[D // 2], 1.0, N)
squares = ((y[:, None] - means) ** 2).sum(axis=0)
precision = np.ones(1)  # the factors read this memory

sampler = pb.RacingSampler(pb.Factors(log_factor.bind(y, means, precision), N, D), delta=0.001)
bits = rng.bit_generator.ctypes.bit_generator.value
with rng.bit_generator.lock:
    visits, status = sample(sampler.address, bits, rng, SWEEPS, precision, squares)
sampler.raise_status(status)

log_p = -(SHAPE + N / 2) * np.log(RATE + squares / 2)
exact = np.exp(log_p - log_p.max())
exact /= exact.sum()
print("state   exact   drawn")
for state in np.flatnonzero(exact > 0.001):
    print(f"{state:5d}  {exact[state]:.4f}  {visits[state] / SWEEPS:.4f}")
distance = 0.5 * np.abs(visits / SWEEPS - exact).sum()
print(f"total variation from the posterior {distance:.3f}")
assert distance < 0.05
