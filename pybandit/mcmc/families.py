"""Regressions with bounded third derivatives, for exact chains on minibatches."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pybandit._shared.checks import check_choice, check_in, check_positive, shown
from pybandit._shared.types import ArrayLike, Floats

NAMES = ("logistic", "probit", "poisson")
NO_BOUND = ("the third derivative of its log likelihood, e^s, is bounded only on a ball; a "
            "radius of about sqrt(d) + 5 excludes no point that a chain would reach")


@dataclass(frozen=True, eq=False)
class Binomial:
    """Binomial regression: y successes in `trials` with log odds x'theta.

    Parameters
    ----------
    trials : array_like of float, shape (N,)
        Above 0.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    **Threads.** Immutable: threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> rng = np.random.default_rng(1)
    >>> x, trials = rng.normal(size=(5000, 2)), np.full(5000, 10)
    >>> y = rng.binomial(trials, 1 / (1 + np.exp(-x @ [1.0, -0.5])))
    >>> pb.mcmc.ExactMinibatch(x, y, family=pb.mcmc.Binomial(trials)).mode.round(1)
    array([ 1. , -0.5])
    """

    trials: ArrayLike

    def __post_init__(self):
        trials = check_in("trials", self.trials, "finite and above 0",
                          lambda n: np.isfinite(n) & (n > 0))
        if trials.ndim != 1:
            raise ValueError(f"trials must have shape (N,); got {trials.shape}")
        object.__setattr__(self, "trials", trials)


@dataclass(frozen=True, eq=False)
class StudentT:
    """Regression y = x'theta + scale * noise, with Student's t noise; scale and df are known.

    Parameters
    ----------
    df : float
        Degrees of freedom, in (1e-100, 1e100).
    scale : float, default 1.0
        In (1e-100, 1e100).

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    **Threads.** Immutable: threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(5000, 2))
    >>> y = x @ [1.0, -0.5] + 0.5 * rng.standard_t(4.0, 5000)
    >>> pb.mcmc.ExactMinibatch(x, y, family=pb.mcmc.StudentT(4.0, 0.5)).mode.round(1)
    array([ 1. , -0.5])
    """

    df: float
    scale: float = 1.0

    def __post_init__(self):
        for name in ("df", "scale"):
            value = check_positive(name, getattr(self, name))
            if not 1e-100 < value < 1e100:
                raise ValueError(f"{name} must be in (1e-100, 1e100); got {value!r}")
            object.__setattr__(self, name, value)


def arguments_of(family: Any, y: Floats, radius: float | None) -> dict[str, Any]:
    """Return the arguments of `Regression` for a family; check the responses."""
    if isinstance(family, StudentT):
        return dict(trials=None, family="student", df=family.df, scale=family.scale)
    trials = None
    if isinstance(family, Binomial):
        trials = np.ascontiguousarray(family.trials)
        if trials.shape != y.shape:
            raise ValueError(f"family must have trials of shape {y.shape}, one value per row; got "
                             f"shape {trials.shape}")
        if not ((y >= 0) & (y <= trials)).all():
            where = int(np.argmax(~((y >= 0) & (y <= trials))))
            raise ValueError(f"y must be in [0, trials]; got {y[where]} of {trials[where]} at "
                             f"index {where}")
        return dict(trials=trials, family="logistic", df=1.0, scale=1.0)
    if not isinstance(family, str):
        raise TypeError(f"family must be one of {', '.join(map(repr, NAMES))}, a Binomial or a "
                        f"StudentT; got {shown(family)}")
    check_choice("family", family, NAMES)
    if family == "poisson":
        if radius is None:
            raise ValueError(f"radius must be given for family='poisson': {NO_BOUND}")
        check_in("y", y, "at least 0", lambda v: v >= 0, copy=False)
        return dict(trials=None, family=family, df=1.0, scale=1.0)
    check_in("y", y, "0 or 1", lambda v: (v == 0) | (v == 1), copy=False)
    return dict(trials=None, family=family, df=1.0, scale=1.0)
