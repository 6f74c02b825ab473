"""The twin's options as pybandit takes them, and other ways to state one problem."""

import numpy as np

import pybandit as pb


def as_function(rewards):
    """The same rewards, computed on demand."""
    return pb.Factors(lambda n, i: rewards[np.ix_(n, i)], *rewards.shape)


def as_bound(options):
    """The bound object that the twin's options mean."""
    if options.bound == "ebs":
        return pb.EBSBound(options.delta, options.value_range, options.difference_range)
    kind = {"normal": pb.NormalBound, "student": pb.StudentBound}[options.bound]
    return kind(options.delta, options.convention, options.boundary)


def run(rewards, offsets, options, rng, **more):
    """pybandit.race with the twin's options."""
    return pb.race(
        rewards,
        offsets,
        bound=as_bound(options),
        variance=options.variance,
        first_look=options.first_look,
        max_fraction=options.max_fraction,
        rng=rng,
        **more,
    )
