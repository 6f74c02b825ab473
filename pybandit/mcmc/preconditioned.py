"""Proposals based on an approximation of the posterior, and mixtures of proposals."""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from pybandit._shared.checks import check_in, check_scalar, shown
from pybandit._shared.types import ArrayLike, Floats
from pybandit.mcmc.proposals import BLOCK, check_target, endless


@dataclass(frozen=True, eq=False)
class Preconditioned:
    """Autoregressive proposal for Metropolis-Hastings, based on a normal approximation.

    x' = mode + sqrt(1 - b^2) (x - mode) + b L N(0, 1), where L L' is the covariance. It leaves
    N(mode, covariance) invariant, so the test depends only on how the target differs from this
    normal distribution: log q(x|x') - log q(x'|x) = (|z'|^2 - |z|^2) / 2, where z = L^{-1} (x -
    mode). If b = 1, proposals are independent draws from the approximation.

    Parameters
    ----------
    mode : array_like of float, shape (d,)
        Approximate center of the target.
    covariance : array_like of float, shape (d, d)
        Approximate covariance of the target, symmetric, positive definite. `laplace` finds mode
        and covariance.
    step : float, default 1.0
        b, in (0, 1]. Warm-up multiplies it by a scale; the product stays at most 1.
    target : float, default 0.65
        Acceptance rate that warm-up aims at.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    A chain of independent draws stays for long at points where the target has more mass than
    the approximation, in its tails. A `Mixture` with a `RandomWalk` leaves such points.

    If b > 0, the rule is reversible for N(mode, covariance): with s^2 = 1 - b^2 the pair
    (z, z') of a draw z ~ N(0, I) and z' = s z + b xi is normal with unit variances and
    covariance s. This does not change if z and z' are exchanged. So q(x'|x) phi(z) = q(x|x')
    phi(z'), where phi is the density of N(0, I). This gives the correction above.

    **Threads.** Immutable: threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> y = np.random.default_rng(1).normal(0.3, 1.0, 10_000)
    >>> proposal = pb.mcmc.Preconditioned([y.mean()], [[1 / y.size]])
    """

    mode: ArrayLike
    covariance: ArrayLike
    _: KW_ONLY
    step: float = 1.0
    target: float = 0.65

    def __repr__(self):
        return (f"<Preconditioned: {len(self.mode)} coordinates, step {self.step:g}, target "
                f"{self.target:g}>")

    def __post_init__(self):
        mode = check_in("mode", self.mode, "finite", np.isfinite)
        if mode.ndim != 1 or not mode.size:
            raise ValueError(f"mode must have shape (d,); got {mode.shape}")
        object.__setattr__(self, "mode", mode)
        covariance, factor = cholesky_of("covariance", self.covariance, mode.size)
        object.__setattr__(self, "covariance", covariance)
        object.__setattr__(self, "factor", factor)
        object.__setattr__(self, "step", check_scalar(
            "step", self.step, "in (0, 1]", lambda b: (b > 0) & (b <= 1)))
        object.__setattr__(self, "target", check_target(self.target))

    @classmethod
    def from_control(cls, control: Any, *, prior_precision: ArrayLike = 0.0, step: float = 1.0,
                     target: float = 0.65) -> "Preconditioned":
        """Create a proposal from a control: one Newton step from its center, and its Hessian.

        Parameters
        ----------
        control : GLMControl or TaylorControl
            A second-order control. The mode is one Newton step from its center; the covariance is
            the inverse of the posterior's negative Hessian there.
        prior_precision : float or array_like of float, shape (d,) or (d, d)
            Precision of a normal prior of mean 0; 0 by default, which is flat.
        step, target
            As for the class.

        Raises
        ------
        ValueError, TypeError
            If an argument is outside its range, or the Hessian of the log posterior at the center
            is not negative definite.
        """
        if not all(hasattr(control, name) for name in ("center", "gradient", "hessian")):
            raise TypeError(f"control must be a TaylorControl or a GLMControl; got "
                            f"{shown(control)}")
        prior = precision_of(prior_precision, control.center.size)
        precision, _ = cholesky_of("control", prior - control.hessian, len(prior),
                                   " in its negative Hessian at the center plus prior_precision")
        slope = control.gradient - prior @ control.center
        inverse = np.linalg.inv(precision)
        return cls(control.center + inverse @ slope, (inverse + inverse.T) / 2, step=step,
                   target=target)

    def start(self, n_factors: int, n_parameters: int, rng: Generator) -> Any:
        """Return the proposal for one chain, which draws its noise from `rng`."""
        if self.mode.size != n_parameters:
            raise ValueError(f"mode must have {n_parameters} parameters; got shape "
                             f"{self.mode.shape}")
        return _Preconditioned(self, rng)


class _Preconditioned:
    def __init__(self, proposal, rng):
        self.mode, self.factor, self.step = proposal.mode, proposal.factor, proposal.step
        self.inverse = np.linalg.inv(self.factor)
        self.target, self.most = proposal.target, 1.0 / proposal.step
        self.noise = endless(lambda: rng.standard_normal((BLOCK, self.mode.size)))

    def propose(self, points, scale):
        noise = next(self.noise)
        b = min(1.0, self.step * scale)
        before = self.inverse @ (points[0] - self.mode)
        after = math.sqrt(1.0 - b * b) * before + b * noise
        np.add(self.mode, self.factor @ after, out=points[1])
        return 0.5 * float(after @ after - before @ before)


@dataclass(frozen=True, eq=False)
class Mixture:
    """Proposal that uses one of several proposals at each step, drawn at random.

    Each proposal has its own correction and, in warm-up, its own scale. A mixture of rules that
    leave a target invariant leaves it invariant.

    Parameters
    ----------
    proposals : sequence of RandomWalk, SGLD, Preconditioned or others
        At least one.
    weights : sequence of float, optional
        Relative frequencies of the proposals, all above 0. Equal by default.

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
    Draws from an approximation, with one small step in twenty:

    >>> import pybandit as pb
    >>> draws = pb.mcmc.Preconditioned([0.3, 0.1], [[1.0, 0.5], [0.5, 1.0]])
    >>> mixture = pb.mcmc.Mixture([draws, pb.mcmc.RandomWalk(0.5)], [19, 1])
    """

    proposals: Sequence[Any]
    weights: ArrayLike | None = None

    def __post_init__(self):
        if isinstance(self.proposals, (str, bytes)):
            raise TypeError(f"proposals must be a sequence of proposals; got "
                            f"{shown(self.proposals)}")
        try:
            proposals = tuple(self.proposals)
        except Exception:
            raise TypeError(f"proposals must be a sequence of proposals; got "
                            f"{shown(self.proposals)}") from None
        if not proposals or not all(callable(getattr(one, "start", None)) for one in proposals):
            raise TypeError(f"proposals must be one or more objects with start(n_factors, "
                            f"n_parameters, rng); got {shown(proposals)}")
        if any(isinstance(one, Mixture) for one in proposals):
            raise TypeError("proposals must not be mixtures: pass the proposals of a mixture")
        weights = np.ones(len(proposals)) if self.weights is None else check_in(
            "weights", self.weights, "finite and above 0", lambda w: np.isfinite(w) & (w > 0))
        if weights.shape != (len(proposals),):
            raise ValueError(f"weights must have shape ({len(proposals)},), one value per "
                             f"proposal; got shape {weights.shape}")
        object.__setattr__(self, "proposals", proposals)
        object.__setattr__(self, "weights", weights / weights.max() / (
            weights / weights.max()).sum())

    def start(self, n_factors: int, n_parameters: int, rng: Generator) -> Any:
        """Return the proposal for one chain, which draws its noise from `rng`."""
        parts = [one.start(n_factors, n_parameters, rng) for one in self.proposals]
        return _Mixture(parts, self.weights, rng)


class _Mixture:
    def __init__(self, parts, weights, rng):
        self.parts = parts
        self.choices = endless(
            lambda: rng.choice(len(parts), size=BLOCK, p=weights).tolist())

    def choose(self):
        """Return the index of the proposal that takes this step."""
        return next(self.choices)


def precision_of(prior_precision: ArrayLike, d: int) -> Floats:
    """Return a precision as a symmetric (d, d) matrix, from a number, a diagonal or a matrix."""
    given = check_in("prior_precision", prior_precision, "finite", np.isfinite)
    if given.shape not in ((), (d,), (d, d)):
        raise ValueError(f"prior_precision must be a number, or have shape ({d},) or ({d}, {d}); "
                         f"got {given.shape}")
    if given.ndim < 2:
        check_in("prior_precision", given, "at least 0", lambda p: p >= 0)
        return np.diag(np.broadcast_to(given, (d,)).astype(np.float64))
    if not np.allclose(given, given.T, rtol=1e-10, atol=0.0):
        raise ValueError("prior_precision must be symmetric; got a matrix unequal to its transpose")
    return (given + given.T) / 2


def cholesky_of(name: str, matrix: ArrayLike, d: int, what: str = "") -> tuple[Floats, Floats]:
    """Return the symmetric matrix of shape (d, d) and its lower Cholesky factor."""
    given = check_in(name, matrix, "finite", np.isfinite)
    if given.shape != (d, d):
        raise ValueError(f"{name} must have shape ({d}, {d}); got {given.shape}")
    scale = np.sqrt(np.abs(np.diagonal(given)))
    if (np.abs(given - given.T) > 1e-8 * np.outer(scale, scale)).any():
        raise ValueError(f"{name} must be symmetric; got a matrix unequal to its transpose")
    given = (given + given.T) / 2
    # scale to a correlation matrix, so that the units of the coordinates do not matter
    values = np.linalg.eigvalsh(given / np.outer(scale, scale)) if (scale > 1e-155).all() else [0.0]
    if not 1e-13 < values[0]:
        raise ValueError(f"{name} must be positive definite{what}; got {values[0]:.3g} as the "
                         f"smallest eigenvalue after scaling the diagonal to 1")
    return given, np.linalg.cholesky(given)
