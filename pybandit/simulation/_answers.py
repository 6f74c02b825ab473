"""Records that define which answer of a policy is right."""

from dataclasses import dataclass

import numpy as np

from pybandit._shared.checks import check_scalar, nonnegative

__all__ = ["Above", "Best"]


@dataclass(frozen=True)
class Best:
    """The right answer is the k best arms, for the policy's k, or arms worse by at most `epsilon`.

    Parameters
    ----------
    epsilon : float, default 0
        An arm is wrong only if an arm left out is better by more than this; finite, at least 0,
        in the units of the rewards. If it is above 0, rounding errors up to 4 ulp are ignored.

    Raises
    ------
    ValueError, TypeError
        If `epsilon` is outside its range.

    See Also
    --------
    Above : all arms above a threshold.

    Notes
    -----
    **Threads.** Immutable: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> bandit = pb.environments.GaussianBandit([1.0, 0.95, 0.0])
    >>> policy = pb.policies.Uniform(3, budget=60)
    >>> pb.simulate(policy, bandit, 200, rng=1).error_probability
    0.435
    >>> pb.simulate(policy, bandit, 200, rng=1,
    ...             answer=pb.simulation.Best(epsilon=0.1)).error_probability
    0.0
    """

    epsilon: float = 0.0

    def __init__(self, *, epsilon: float = 0.0):
        object.__setattr__(self, "epsilon", check_scalar(
            "epsilon", epsilon, "finite and at least 0", nonnegative))


@dataclass(frozen=True)
class Above:
    """The right answer is all arms with means above `threshold`, and none with means below it.

    An arm with a mean equal to the threshold may be in the answer or not.

    Parameters
    ----------
    threshold : float
        Finite, in the units of the rewards.
    epsilon : float, default 0
        An arm is wrong only if its mean is on the wrong side of the threshold by more than this;
        finite, at least 0. If it is above 0, rounding errors up to 4 ulp are ignored.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    Best : the k best arms.

    Notes
    -----
    **Threads.** Immutable: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> bandit = pb.environments.GaussianBandit([1.0, 0.6, 0.0])
    >>> policy = pb.policies.APT(3, threshold=0.5, max_pulls=300)
    >>> pb.simulate(policy, bandit, 200, rng=1,
    ...             answer=pb.simulation.Above(0.5)).error_probability
    0.12
    """

    threshold: float
    epsilon: float = 0.0

    def __init__(self, threshold: float, *, epsilon: float = 0.0):
        object.__setattr__(self, "threshold", check_scalar(
            "threshold", threshold, "finite", np.isfinite))
        object.__setattr__(self, "epsilon", check_scalar(
            "epsilon", epsilon, "finite and at least 0", nonnegative))
