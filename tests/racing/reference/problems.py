"""Options of the reference implementation in pybandit's form, and random problems."""

import numpy as np

import pybandit as pb


def parts(result):
    """Return the attributes of a result as a tuple."""
    return tuple(getattr(result, name) for name in result.__match_args__)


def as_function(rewards):
    """Return the rewards as `Factors` computed on demand."""
    return pb.Factors(lambda n, i: rewards[np.ix_(n, i)], *rewards.shape)


def as_bound(options):
    """Return the bound object for the options of the reference implementation."""
    if options.bound == "ebs":
        return pb.racing.EBSBound(delta=options.delta, value_range=options.value_range,
                                  difference_range=options.difference_range)
    if options.bound == "normal":
        return pb.racing.NormalBound(delta=options.delta, convention=options.convention,
                                     boundary=options.boundary)
    return pb.racing.StudentBound(delta=options.delta, convention=options.convention,
                                  boundary=options.boundary,
                                  skewness=options.skewness)


def run(rewards, log_prior, options, rng, indices="auto"):
    """Run pybandit.race with the options of the reference implementation."""
    return pb.race(
        rewards,
        log_prior,
        bound=as_bound(options),
        looks=pb.racing.Looks(variance=options.variance, first=options.first_look,
                              max_fraction=options.max_fraction, indices=indices),
        rng=rng,
    )


def random_rewards(rng, n_factors, n_states):
    """Return rewards in [0, 1]: coins, uniform, correlated between states, or rare."""
    kind = rng.choice(["bernoulli", "uniform", "paired", "skewed"])
    means = rng.uniform(0.2, 0.8, n_states) ** rng.choice([1.0, 0.1])
    if kind == "bernoulli":
        return (rng.random((n_factors, n_states)) < means).astype(float)
    if kind == "skewed":
        return (rng.random((n_factors, n_states)) < 0.02) + 0.0
    rewards = 0.5 * rng.random((n_factors, n_states)) + 0.5 * means
    if kind == "paired":
        rewards = 0.2 * rewards + 0.8 * rng.random((n_factors, 1))
    return rewards
