"""A PyMC step that draws a discrete variable of many factors by racing.

y_n ~ Normal(means[z], sigma). The step draws z on a grid; PyMC's slice sampler draws sigma.
"""

import numpy as np
import pymc as pm
from pymc.step_methods.arraystep import BlockedStep

import pybandit as pb


class RacingStep(BlockedStep):
    """Gibbs updates of one discrete variable.

    Parameters
    ----------
    variable : TensorVariable
        A variable of the model with states 0 to D - 1.
    log_factors : callable
        ``log_factors(point, n, i)`` returns log f_n(i) of observations n and states i, with
        shape (len(n), len(i)), given the values of all variables in `point`.
    n_factors, n_states : int
    log_prior : array_like, shape (D,), optional
    rng : None, int, SeedSequence or Generator
    **options
        Options of `pybandit.RacingSampler`.
    """

    name = "racing"
    stats_dtypes_shapes = {"fraction_read": (np.float64, [])}

    def __init__(self, variable, log_factors, n_factors, n_states, log_prior=None, *, model=None,
                 rng=None, **options):
        value = pm.modelcontext(model).rvs_to_values[variable]
        self.vars = [value]
        self.point = {}
        # the function gets the current values of the other variables
        factors = pb.Factors(lambda n, i: log_factors(self.point, n, i), n_factors, n_states)
        self.sampler = pb.RacingSampler(factors, log_prior, rng=rng, **options)

    def step(self, point):
        self.point = point
        state, info = self.sampler.draw()
        name = self.vars[0].name
        return ({**point, name: np.asarray(state, dtype=point[name].dtype)},
                [{"fraction_read": info.fraction}])


N, D = 5000, 9
MEANS = 0.016 * np.arange(D)
y = np.random.default_rng(1).normal(MEANS[4], 0.8, N)


def log_factors(point, n, i):
    deviation = np.exp(point["sigma_log__"])
    return -0.5 * ((y[n, None] - MEANS[i]) / deviation) ** 2


def sample(draws, tune):
    with pm.Model():
        z = pm.Categorical("z", p=np.full(D, 1 / D))
        sigma = pm.HalfNormal("sigma", 2.0)
        pm.Normal("y", pm.math.constant(MEANS)[z], sigma, observed=y)
        steps = [RacingStep(z, log_factors, N, D, delta=0.01, rng=2), pm.Slice([sigma])]
        return pm.sample(draws, tune=tune, step=steps, chains=1, cores=1, random_seed=3,
                         progressbar=False, compute_convergence_checks=False)


def exact():
    """Return P(z) and E(sigma), with z enumerated and sigma on a fine grid."""
    sigma = np.linspace(0.75, 0.85, 2001)[:, None]
    squares = ((y[:, None] - MEANS) ** 2).sum(axis=0)
    log_p = -N * np.log(sigma) - squares / (2 * sigma**2) - sigma**2 / 8
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    return p.sum(axis=0), (p * sigma).sum()


if __name__ == "__main__":
    trace = sample(draws=1500, tune=200)
    states = trace.posterior["z"].values.ravel()
    drawn = np.bincount(states, minlength=D) / states.size
    p, mean = exact()
    print("state   exact   drawn")
    for state in range(D):
        print(f"{state:5d}  {p[state]:.4f}  {drawn[state]:.4f}")
    sigma = float(trace.posterior["sigma"].mean())
    read = float(trace.sample_stats["fraction_read"].mean())
    print(f"sigma: exact mean {mean:.4f}, drawn {sigma:.4f}; read {read:.1%} of the factors")
    assert np.abs(drawn - p).max() < 0.06
    assert abs(sigma - mean) < 0.001
