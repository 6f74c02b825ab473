"""Digests of results for one seed, of functions that use BLAS or LAPACK and of others.

``OPENBLAS_CORETYPE=Sandybridge python tests/blas_bits.py`` prints them as JSON.
"""

import hashlib
import json

import numpy as np

import pybandit as pb
from pybandit import mcmc

RNG = np.random.default_rng(5)
N, D = 3000, 6
X = RNG.normal(size=(N, D))
Y = (X[:, 0] - 0.5 * X[:, 1] + RNG.logistic(size=N) > 0) * 1.0
MODE = np.array([1.0, -0.5, 0.1, 0.0, -0.2, 0.3])
S = (X * MODE).sum(axis=1)
P = 1 / (1 + np.exp(-S))
MATRIX = RNG.normal(size=(N, 8)) + np.linspace(0, 0.2, 8)


def log_likelihood(n, points):
    # einsum without optimize is not a matrix product of BLAS: it uses NumPy's own loop
    s = np.einsum("ni,ji->nj", X[n], points)
    return Y[n, None] * s - np.logaddexp(0, s)


def bandit():
    return pb.environments.GaussianBandit(np.linspace(0, 1, 8))


def played(policy):
    result = pb.simulate(policy, bandit(), 20, rng=1)
    return np.concatenate([result.pulls, result.errors])


def walk(**options):
    return mcmc.RacingMetropolis(log_likelihood, N, D, **{
        "proposal": mcmc.RandomWalk(0.03), **options}).step(MODE, n_steps=200, rng=1).value


def control():
    return mcmc.GLMControl(X, Y - P, -P * (1 - P), MODE)


def gibbs():
    table = np.linspace(-0.1, 0.1, 3)
    return np.array([pb.RacingSampler(MATRIX, rng=seed).draw()[0] for seed in range(20)] + [
        pb.RacingSampler(pb.Factors(lambda n, i: -0.5 * (X[n, :1] - table[i]) ** 2, N, 3),
                         rng=seed).draw()[0] for seed in range(20)])


def arms(**options):
    policy = pb.policies.BayesGap(40, budget=200, noise_std=0.5, **options)
    rng, asked = np.random.default_rng(1), []
    while not policy.done:
        chosen = policy.ask()
        asked.append(chosen)
        policy.tell(chosen, 0.1 * chosen + rng.normal(size=chosen.size))
    return np.concatenate(asked)




# results that do not depend on the kernels of BLAS
ALONE = {
    "best_of": lambda: pb.best_of(MATRIX, value_range=20.0, rng=1).pulls,
    "simulate": lambda: played(lambda _: pb.policies.SequentialHalving(8, budget=400)),
    "RacingSampler": gibbs,
    "AcceptanceTest": lambda: np.array([pb.racing.accept(MATRIX[:, 0], 1.0, rng=i).n_evaluations
                                        for i in range(20)]),
    "RacingMetropolis": walk,
    "slice_sample": lambda: pb.racing.slice_sample(log_likelihood, MODE, n_factors=N, rng=1).x,
}
# results whose last bits may depend on the kernel, and with them random draws
THROUGH_BLAS = {
    "GLMControl": lambda: np.append(control().hessian.ravel(), control().gradient),
    "RacingMetropolis: control": lambda: walk(control=control()),
    "Preconditioned": lambda: walk(proposal=mcmc.Preconditioned.from_control(control())),
    "laplace": lambda: mcmc.laplace(log_likelihood, N, D).covariance,
    "ExactMinibatch: mode": lambda: mcmc.ExactMinibatch(X, Y).mode,
    "ExactMinibatch: draws": lambda: mcmc.ExactMinibatch(X, Y).step(MODE, n_steps=500,
                                                                    rng=1).value,
    "BayesGap": lambda: arms(features=X[:40]),
}


def main():
    print(json.dumps({name: hashlib.sha256(np.ascontiguousarray(make()).tobytes()).hexdigest()[:16]
                      for name, make in (ALONE | THROUGH_BLAS).items()}))


if __name__ == "__main__":
    main()
