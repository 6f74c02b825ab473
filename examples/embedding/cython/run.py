"""Compare the visits of the Gibbs sampler with the posterior, enumerated on two grids."""

import gibbs
import numpy as np

N, SWEEPS = 20_000, 4000
rng = np.random.default_rng(20)
x = rng.normal(0.3, 1.0, N)
intercepts = 0.2 + 0.02 * np.arange(-6, 7)
slopes = -0.5 + 0.015 * np.arange(-6, 7)
y = 0.2 - 0.5 * x + rng.normal(size=N)

residual = y - intercepts[:, None, None] - slopes[:, None] * x
log_p = -0.5 * (residual**2).sum(axis=2)
exact = np.exp(log_p - log_p.max())
exact /= exact.sum()

visits, fraction = gibbs.sample(x, y, intercepts, slopes, SWEEPS, rng)
drawn = visits / SWEEPS
print("intercept  slope   exact   drawn")
for i, j in zip(*np.nonzero(exact > 0.02), strict=True):
    print(f"{intercepts[i]:9.3f} {slopes[j]:6.3f}  {exact[i, j]:.4f}  {drawn[i, j]:.4f}")
distance = 0.5 * np.abs(drawn - exact).sum()
print(f"read {fraction:.1%} of the factors; total variation from the posterior {distance:.3f}")
assert distance < 0.05
