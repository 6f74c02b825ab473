"""Compare the chain of metropolis.pyx with a normal approximation, accurate with 50,000 rows."""

import metropolis
import numpy as np

import pybandit as pb

N, D, STEPS = 50_000, 3, 20_000
rng = np.random.default_rng(20)
x = rng.normal(size=(N, D))
y = (rng.random(N) < 1 / (1 + np.exp(-x @ [0.5, -0.25, 0.0]))).astype(float)
mode = np.zeros(D)
for _ in range(8):
    p = 1 / (1 + np.exp(-x @ mode))
    covariance = np.linalg.inv((x * (p * (1 - p))[:, None]).T @ x)
    mode = mode + covariance @ (x.T @ (y - p))

control = pb.mcmc.GLMControl(x, y - p, -p * (1 - p), mode)
points = np.stack([mode, mode])
data = metropolis.Data(x, y, points)
factors = pb.Factors(metropolis.__pyx_capi__["log_ratios"], N, 1, user_data=data.address,
                     control=pb.racing.ControlVariate(control.changes(points), [0.0]))
test = pb.racing.AcceptanceTest(factors, delta=0.01)
draws = np.empty((STEPS, D))
read = metropolis.walk(test, control, points,
                       2.38 / np.sqrt(D) * np.linalg.cholesky(covariance), rng, draws)

deviations = np.sqrt(np.diagonal(covariance))
off = np.abs(draws.mean(axis=0) - mode) / deviations
ratios = draws.std(axis=0) / deviations
print(f"read {read:.0f} of {N} rows per step; means within {off.max():.2f} deviations of the mode, "
      f"deviations {ratios.min():.2f} to {ratios.max():.2f} of the approximation's")
assert read < N / 20 and off.max() < 0.15 and np.abs(ratios - 1).max() < 0.1
