"""Samplers that several tests use."""

import pybandit as pb
from pybandit import mcmc


def gibbs(model, **options):
    def conditional(variable, values):
        return pb.Factors(lambda n, i: model.factors(variable, values, n)[:, i],
                          len(model.pair), 3)

    return mcmc.RacingGibbs(conditional, 3, **options)


def normal_sampler(y, **options):
    """Return a sampler of the mean of normal data with a normal prior, at a suitable scale."""
    return mcmc.RacingMetropolis(
        lambda n, points: -0.5 * (y[n, None] - points[:, 0]) ** 2, y.size, 1,
        log_prior=lambda x: -0.5 * float(x[0]) ** 2, **options)
