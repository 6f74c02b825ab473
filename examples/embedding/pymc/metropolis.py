"""A PyMC step for a continuous block that reads few of the many rows of a likelihood.

beta ~ Normal(0, 1 / sqrt(tau)), tau ~ Gamma(3, 1), y_n ~ Bernoulli(logistic(x_n'beta)). The
step evaluates the likelihood, and the model has only the priors. The step of PyMC for tau, whose
conditional does not depend on the likelihood, therefore reads no rows.
"""

import numpy as np
import pymc as pm
from pymc.step_methods.arraystep import BlockedStep

import pybandit as pb


class RacingMetropolisStep(BlockedStep):
    """Metropolis-Hastings updates of one vector, with a race as the test.

    Parameters
    ----------
    variable : TensorVariable
        A vector of the model without a transform.
    log_likelihood, n_factors, n_parameters
        As in `pybandit.mcmc.RacingMetropolis`.
    log_prior : callable
        ``log_prior(point, value)``, the log prior of the variable given all others.
    rng : None, int, SeedSequence or Generator
    n_steps : int
        Number of steps of the sampler per update.
    **options
        Options of `pybandit.mcmc.RacingMetropolis`.
    """

    name = "racing_metropolis"
    stats_dtypes_shapes = {"accepted": (np.float64, []), "n_evaluations": (np.int64, [])}

    def __init__(self, variable, log_likelihood, n_factors, n_parameters, log_prior, *, model=None,
                 rng=None, n_steps=1, **options):
        self.vars = [pm.modelcontext(model).rvs_to_values[variable]]
        self.point, self.n_steps, self.rng = {}, n_steps, np.random.default_rng(rng)
        # the prior gets the current values of the other variables
        self.sampler = pb.mcmc.RacingMetropolis(
            log_likelihood, n_factors, n_parameters,
            log_prior=lambda value: log_prior(self.point, value), **options)

    def step(self, point):
        self.point, name = point, self.vars[0].name
        step = self.sampler.step(point[name], n_steps=self.n_steps, rng=self.rng)
        return ({**point, name: step.value}, [{"accepted": step.n_accepted / self.n_steps,
                                               "n_evaluations": step.n_evaluations}])


N, D = 20_000, 3
SHAPE, RATE = 3.0, 1.0
rng = np.random.default_rng(1)
x = rng.normal(size=(N, D))
y = (rng.random(N) < 1 / (1 + np.exp(-x @ [0.5, -0.25, 0.0]))).astype(float)


def log_likelihood(n, points):
    s = x[n] @ points.T
    return y[n, None] * s - np.logaddexp(0.0, s)


def log_prior(point, beta):
    return -0.5 * np.exp(point["tau_log__"]) * float(beta @ beta)


def sample(draws, tune):
    exact = pb.mcmc.ExactMinibatch(x, y)
    p = 1 / (1 + np.exp(-x @ exact.mode))
    with pm.Model():
        tau = pm.Gamma("tau", SHAPE, RATE)
        beta = pm.Normal("beta", 0.0, 1 / pm.math.sqrt(tau), shape=D)
        step = RacingMetropolisStep(
            beta, log_likelihood, N, D, log_prior, rng=2, n_steps=5, delta=0.01,
            proposal=pb.mcmc.Preconditioned(exact.mode, exact.covariance, step=0.9),
            control=pb.mcmc.GLMControl(x, y - p, -p * (1 - p), exact.mode))
        trace = pm.sample(draws, tune=tune, step=[step, pm.Slice([tau])], chains=1, cores=1,
                          random_seed=3, initvals={"beta": exact.mode}, progressbar=False,
                          compute_convergence_checks=False)
    return trace, exact


if __name__ == "__main__":
    trace, exact = sample(draws=1500, tune=100)
    beta = trace.posterior["beta"].values[0]
    # with 20,000 rows the priors hardly matter: compare with ExactMinibatch for any tau
    off = np.abs(beta.mean(axis=0) - exact.mode) / np.sqrt(np.diagonal(exact.covariance))
    ratios = beta.std(axis=0) / np.sqrt(np.diagonal(exact.covariance))
    # given beta, tau is Gamma(SHAPE + D / 2, RATE + beta'beta / 2)
    expected = float(np.mean((SHAPE + D / 2) / (RATE + (beta**2).sum(axis=1) / 2)))
    tau = float(trace.posterior["tau"].mean())
    read = float(trace.sample_stats["n_evaluations"].mean()) / 5
    print(f"beta: means within {off.max():.2f} deviations, deviations {ratios.min():.2f} to "
          f"{ratios.max():.2f} of the posterior's; tau: mean {tau:.2f}, exact {expected:.2f}; "
          f"read {read:.0f} of {N} rows per step")
    assert off.max() < 0.2 and np.abs(ratios - 1).max() < 0.12
    assert abs(tau - expected) < 0.25 and read < N / 10
