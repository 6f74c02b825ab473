"""Proposals of Metropolis-Hastings.

A proposal is a description. ``start(n_factors, n_parameters, rng)`` returns the object that
one chain uses. Its ``propose(points, scale)`` writes the proposed point to ``points[1]`` and
returns log q(x|x') - log q(x'|x). Its ``target`` is the acceptance rate to which warm-up adapts
`scale`, starting at 1, and its optional ``most`` is the maximum of `scale` after warm-up.
User-defined proposals need the same methods. See also `Preconditioned` and `Mixture`.
"""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from pybandit._shared.checks import check_in, check_integer, check_numeric, check_scalar, shown

# Number of steps whose normal numbers are drawn together.
BLOCK = 256


@dataclass(frozen=True, eq=False)
class RandomWalk:
    """Random walk x' = x + scale * N(0, 1), as a proposal.

    Parameters
    ----------
    scale : float or array_like of float, default 1.0
        A scalar, one value per coordinate, or the lower Cholesky factor of the covariance
        of a step, shape (d, d). Warm-up multiplies it by a number.
    target : float, optional
        Acceptance rate that warm-up aims at; by default 0.44 in one dimension and
        0.234 in more.

    Raises
    ------
    ValueError, TypeError
        If a scale is not finite and above 0, or a factor is not lower triangular with
        a positive diagonal.

    Notes
    -----
    **Threads.** Immutable: threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> covariance = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> walk = pb.mcmc.RandomWalk(2.38 / np.sqrt(2) * np.linalg.cholesky(covariance))
    """

    scale: float | np.ndarray = 1.0
    _: KW_ONLY
    target: float | None = None

    def __post_init__(self):
        scale = check_in("scale", self.scale, "finite", np.isfinite)
        if scale.ndim > 2 or scale.ndim == 2 and scale.shape[0] != scale.shape[1]:
            raise ValueError(f"scale must be a scalar, have one value per coordinate, or be a (d, "
                             f"d) Cholesky factor; got shape {scale.shape}")
        if scale.ndim == 2 and np.triu(scale, 1).any():
            raise ValueError("scale must be lower triangular, a Cholesky factor; got entries above "
                             "the diagonal")
        if not ((np.diagonal(scale) if scale.ndim == 2 else scale) > 0).all():
            raise ValueError(f"scale must be above 0; got {shown(self.scale)}")
        object.__setattr__(self, "scale", scale)
        if self.target is not None:
            object.__setattr__(self, "target", check_target(self.target))

    def start(self, n_factors: int, n_parameters: int, rng: Generator) -> Any:
        """Return the object that one chain uses."""
        if self.scale.ndim and len(self.scale) != n_parameters:
            raise ValueError(f"scale must be for {n_parameters} parameters; got shape "
                             f"{self.scale.shape}")
        return _Walk(self.scale, walk_target(self.target, n_parameters), n_parameters, rng)


class _Walk:
    def __init__(self, scale, target, n_parameters, rng):
        self.target = target

        def steps():
            noise = rng.standard_normal((BLOCK, n_parameters))
            return noise @ scale.T if scale.ndim == 2 else noise * scale

        self.steps = endless(steps)

    def propose(self, points, scale):
        step = next(self.steps)
        step *= scale
        np.add(points[0], step, out=points[1])
        return 0.0


@dataclass(frozen=True, eq=False)
class SGLD:
    """Step of stochastic gradient Langevin dynamics (Welling & Teh 2011), as a proposal.

    x' = x + step_size / 2 * g(x) + N(0, step_size), where g is the gradient of the log
    prior plus N / batch_size times the gradient of the log likelihood of a random batch. The
    reverse density is computed with the same batch. The test leaves the posterior invariant for
    each fixed batch, and therefore for random batches.

    Parameters
    ----------
    gradient : callable
        ``gradient(indices, point)`` returns the gradient of the sum of the log likelihoods of
        these factors, shape (d,). Indices may repeat.
    step_size : float or array_like of float, shape (d,)
        Variance of the noise: one value for all coordinates, or one per coordinate. Warm-up
        multiplies it by the square of the scale.
    batch_size : int
        Number of factors drawn, with replacement.
    prior_gradient : callable, optional
        ``prior_gradient(point)`` returns the gradient of the log prior, shape (d,).
    target : float, default 0.574
        Acceptance rate that warm-up aims at.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    **Threads.** If your functions can be called from several threads at once,
    threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> y = np.random.default_rng(1).normal(0.3, 1.0, 10_000)
    >>> proposal = pb.mcmc.SGLD(lambda n, x: np.array([(y[n] - x).sum()]), 1e-4, 500)
    """

    gradient: Callable
    step_size: float | np.ndarray
    batch_size: int
    _: KW_ONLY
    prior_gradient: Callable | None = None
    target: float = 0.574

    def __post_init__(self):
        for name in ("gradient", "prior_gradient"):
            function = getattr(self, name)
            if not callable(function) and not (name == "prior_gradient" and function is None):
                raise TypeError(f"{name} must be callable; got {shown(function)}")
        step_size = check_in("step_size", self.step_size, "finite and above 0",
                             lambda s: np.isfinite(s) & (s > 0))
        if step_size.ndim > 1:
            raise ValueError(f"step_size must be a scalar or have one value per coordinate; got "
                             f"shape {step_size.shape}")
        object.__setattr__(self, "step_size", step_size)
        object.__setattr__(self, "batch_size", check_integer("batch_size", self.batch_size, 1))
        object.__setattr__(self, "target", check_target(self.target))

    def start(self, n_factors: int, n_parameters: int, rng: Generator) -> Any:
        """Return the object that one chain uses."""
        if self.step_size.ndim and len(self.step_size) != n_parameters:
            raise ValueError(f"step_size must be for {n_parameters} parameters; got shape "
                             f"{self.step_size.shape}")
        return _Langevin(self, n_factors, n_parameters, rng)


class _Langevin:
    def __init__(self, proposal, n_factors, n_parameters, rng):
        self.proposal, self.n_factors, self.rng = proposal, n_factors, rng
        self.target, self.shape = proposal.target, (n_parameters,)

    def propose(self, points, scale):
        proposal, rng = self.proposal, self.rng
        batch = rng.integers(self.n_factors, size=proposal.batch_size)
        batch.flags.writeable = False  # both gradients receive it
        variance = proposal.step_size * scale**2
        noise = rng.standard_normal(self.shape)
        points[1] = points[0] + 0.5 * variance * self.slope(batch, points[0])
        points[1] += np.sqrt(variance) * noise
        back = points[0] - points[1] - 0.5 * variance * self.slope(batch, points[1])
        return 0.5 * float(noise @ noise - (back**2 / variance).sum())

    def slope(self, batch, point):
        slope = self.check("gradient", self.proposal.gradient(batch, point.copy()))
        slope = slope * (self.n_factors / len(batch))
        if self.proposal.prior_gradient is not None:
            slope += self.check("prior_gradient", self.proposal.prior_gradient(point.copy()))
        return slope

    def check(self, name, slope):
        slope = check_numeric(f"the return value of {name}", slope)
        if slope.shape != self.shape or not np.isfinite(slope).all():
            raise ValueError(f"{name} must return finite numbers of shape {self.shape}; got "
                             f"{slope!r}")
        return slope


def endless(block):
    """Yield the items of ``block()``, calling it again when they are used up."""
    while True:
        yield from block()


def walk_target(target, n_parameters):
    """Return the acceptance rate that a random walk aims at; near the optimum by default."""
    if target is not None:
        return target
    return 0.44 if n_parameters == 1 else 0.234


def check_target(target):
    return check_scalar("target", target, "in (0, 1)", lambda t: (t > 0) & (t < 1))
