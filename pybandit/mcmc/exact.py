"""Exact Metropolis-Hastings on minibatches, for models with bounded remainders."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pybandit._shared.checks import (
    check_choice,
    check_flag,
    check_integer,
    check_positive,
    check_scalar,
    nonnegative,
)
from pybandit._shared.errors import SlowReadingWarning
from pybandit._shared.generators import as_generator
from pybandit._shared.keywords import hinted
from pybandit._shared.types import ArrayLike, Floats, Ints, Rng
from pybandit._shared.version import __version__
from pybandit._shared.warn import warn
from pybandit.mcmc._bounded import Bounded, check_point, check_radius, check_rows
from pybandit.mcmc._chains import DrawFormat, check_labels, check_name, sample_chains
from pybandit.mcmc._exact import Chain
from pybandit.mcmc._moves import moves_of
from pybandit.mcmc._newton import Sums, find_mode, sums_at
from pybandit.mcmc._problem import Regression
from pybandit.mcmc.families import arguments_of
from pybandit.mcmc.preconditioned import cholesky_of, precision_of
from pybandit.racing._results import Record
from pybandit.racing.factors import Factors

STATISTICS = {"accepted": np.float64, "fraction": np.float64, "n_evaluations": np.int64,
              "n_exact": np.int64}
TESTS = ("auto", "factorised", "auxiliary")
AUTO = "factorised"  # the faster test in our measurements: docs/inside_samplers.md
# If more than this share of the rows is expected to be read at random, all are read, in order.
SHARE = 0.25
# Warn if more than MOST_EXACT of at least LEAST_STEPS steps read all of LEAST_ROWS rows or more:
# then plain HMC has about ten times as many effective samples per second (1,000 rows, d = 50).
MOST_EXACT, LEAST_STEPS, LEAST_ROWS = 0.5, 1_000, 500


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ExactStep(Record):
    """Point of a chain after the steps of `ExactMinibatch.step`, and their cost.

    Attributes
    ----------
    value : ndarray of float64, shape (d,)
        Point of the chain.
    n_accepted : int
        Proposals accepted.
    n_evaluations : int
        Rows read.

    Notes
    -----
    **Threads.** Immutable: threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(20_000, 3))
    >>> y = (rng.random(20_000) < 1 / (1 + np.exp(-x @ [1.0, -0.5, 0.0]))).astype(float)
    >>> sampler = pb.mcmc.ExactMinibatch(x, y)
    >>> step = sampler.step(sampler.mode, n_steps=100, rng=1)
    >>> step.n_accepted > 90, step.n_evaluations < 1000
    (True, True)
    """

    value: Floats
    n_accepted: int
    n_evaluations: int


@hinted()
class ExactMinibatch:
    """Metropolis-Hastings that reads few rows per step and samples the posterior exactly.

    For regressions with a normal prior of mean 0. The log posterior is split into its
    second-order expansion around the mode, which costs O(d^2), and a remainder r_i of each
    row with a known bound, |r_i(x') - r_i(x)| <= c_i M(x, x'). The test draws a Poisson number
    of rows in proportion to c_i, with a mean of about sum_i c_i M: near the mode, a few of a
    million rows. It reads no other rows.

    Parameters
    ----------
    x : array_like of float, shape (N, d)
        Features. Not copied if C-contiguous float64; N below 2^32.
    y : array_like of float, shape (N,)
        Responses: 0 or 1, counts for a `Binomial`, real numbers for a `StudentT`.
    family : {"logistic", "probit", "poisson"}, Binomial or StudentT
        ``"poisson"`` is for counts with mean exp(x'theta) and requires `radius`.
    prior_precision : float or array_like of float, shape (d,) or (d, d)
        Precision of the normal prior; 0 is flat.
    mode : array_like of float, shape (d,), optional
        Point of expansion; found by Newton's method by default. Any point gives exact
        chains, but far from the mode most rows are read.
    proposal : None, "laplace", "walk", Preconditioned, RandomWalk or Mixture
        ``"laplace"`` draws from the normal approximation at the mode. ``"walk"`` takes steps of
        2.38 / sqrt(d) standard deviations of this approximation. The default mixes 19 draws with
        one step of the walk, which leaves the regions in which draws from the approximation are
        rarely accepted.
    adapt : bool, default True
        Adapt the length of proposals in warm-up. Draws from the approximation
        (``"laplace"``) become shorter steps only if fewer than .15 of them are accepted, or .42
        if the test reads all rows. Walks aim at an acceptance rate of .234, or .44 if d = 1.
    test : {"auto", "factorised", "auxiliary"}
        See Notes; ``"auto"`` is ``"factorised"``, the faster one in our measurements.
    gamma : float, default 0.5
        Parameter of the auxiliary test, above 0. A larger value accepts more proposals and reads
        more rows.
    radius : float, optional
        R: the target is the posterior restricted to |L^{-1} (x - mode)| <= R, where L L' is the
        covariance; proposals outside are rejected. Required for ``"poisson"``. The ball excludes
        P(chi^2_d > R^2) of the normal approximation, 1e-12 for d = 20 and R = 10.
    name : str, default "x"
        Name of the parameters in the result.
    labels : sequence, optional
        Coordinates in the result, one per parameter.

    Attributes
    ----------
    mode : ndarray of float64, shape (d,)
    covariance : ndarray of float64, shape (d, d)
        The inverse of the negative Hessian of the log posterior at the mode.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, no mode is found, or the Hessian at `mode` is
        not negative definite.

    See Also
    --------
    RacingMetropolis : for any likelihood; approximate.

    Notes
    -----
    Apart from rounding in float64, the posterior is the stationary distribution of the chain,
    for any length of steps and any `gamma`:

    *Factorised* (Cornish et al. 2019). Accepts with probability min(1, e^q) prod_i min(1,
    e^(r_i(x') - r_i(x))), where q is the change of log prior and expansion plus log q(x|x') - log
    q(x'|x) of the proposal. Each factor f = min(1, e^c) satisfies f(x, x') / f(x', x) = e^c, so
    the product satisfies detailed balance. Row i rejects if a Poisson process of rate c_i M,
    thinned to max(0, r_i(x) - r_i(x')), has a point.

    *Auxiliary* (Zhang & De Sa 2020; Prado, Nemeth & Sherlock 2024). Draws s_i ~ Poisson(mu_i(x,
    x')), mu_i(x, x') = gamma c_i M + max(0, r_i(x) - r_i(x')); accepts with probability min(1,
    e^q prod_i (mu_i(x', x) / mu_i(x, x'))^s_i). The joint distributions of (x, x', s) forward and
    backward have the ratio e^(q + sum r_i(x') - r_i(x)) e^(sum mu_i(x, x') - mu_i(x', x)) times
    that product, and the exponentials of the sums cancel.

    *The bound.* Let z = L^{-1} (x - mode), where L L' is the covariance, and let k_i bound the
    absolute third derivative of row i in its linear predictor. Then c_i = k_i / 2 |L'x_i|^3 and
    M = max over |w| = 1 of |(w'z')^3 - (w'z)^3| / 3, which is at most |z' - z| max(|z|^2,
    |z'|^2) (proof in csrc/mcmc/minibatch.c). Every difference r_i(x') - r_i(x) that is computed is
    compared with its bound, and ValueError is raised if the difference is larger. If all rows are
    read, only the sums at both points are computed. The k_i, with
    proofs in csrc/mcmc/glm.c: logistic 1 / (6 sqrt 3), times the trials of a binomial; probit
    .2959; Student (df + 1) (3/2 + sqrt 2) / (2 df^(3/2) scale^3); Poisson exp(x_i'mode + |L'x_i|
    R) on the ball of radius R, which contains every point that a chain compares.

    If more than a quarter of the rows are expected to be read, all are read, in order, by the
    standard test. The expected number is the same for the move from x' to x, so detailed balance
    holds in this case too.

    The constructor takes 48 N bytes and one pass over the rows per Newton step, plus one more
    pass. A pass takes O(N d^2); two to four Newton steps use all rows, the others a part. A step
    costs O(d^2 + rows read times d); independent draws read about (d / N)^(1/2) of the rows.

    **Threads.** Immutable: threads may share it.

    References
    ----------
    Cornish, Vanetti, Bouchard-Cote, Deligiannidis & Doucet 2019, Scalable Metropolis-Hastings
    for exact Bayesian inference with large datasets; Zhang & De Sa 2020, Asymptotically optimal
    exact minibatch Metropolis-Hastings; Prado, Nemeth & Sherlock 2024, Metropolis-Hastings with
    scalable subsampling.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(20_000, 3))
    >>> y = (rng.random(20_000) < 1 / (1 + np.exp(-x @ [1.0, -0.5, 0.0]))).astype(float)
    >>> sampler = pb.mcmc.ExactMinibatch(x, y)
    >>> tree = sampler.sample(1000, rng=1)
    >>> bool(abs(tree["posterior"]["x"].mean(("chain", "draw")) - sampler.mode).max() < 0.01)
    True
    >>> bool(tree["sample_stats"]["n_evaluations"].mean() < 10)
    True
    """

    def __init__(self, x: ArrayLike, y: ArrayLike, *, family: Any = "logistic",
                 prior_precision: ArrayLike = 1.0, mode: ArrayLike | None = None,
                 proposal: Any = None, adapt: bool = True, test: str = "auto",
                 gamma: float = 0.5, radius: float | None = None, name: str = "x",
                 labels: Any = None) -> None:
        x, y = check_rows(x, y)
        n, d = x.shape
        arguments = arguments_of(family, y, radius)
        self._regression = Regression(x, y, **arguments, radius=check_radius(radius))
        self._own, self._n_rows, prior = None, n, precision_of(prior_precision, d)
        test, gamma = self._describe(d, test, gamma, adapt, name, labels)
        if mode is None:
            found, sums = find_mode(self._regression, n, prior, np.zeros(d))
        else:
            found = check_point("mode", mode, d)
            sums = sums_at(self._regression, prior, found)
        slope = self._expand(found, sums)
        self._regression.anchor(found.copy(), self._factor, slope)
        if not self._regression.is_near:
            raise ValueError("mode must give every row log odds x'mode below 700 in absolute "
                             "value, or probabilities underflow; scale x")
        if not np.isfinite(self._regression.total):
            raise ValueError(f"radius must be small enough to bound all rows on the ball; got "
                             f"{radius}, for which the sum of the bounds is inf")
        self._regression.decide_by(test, gamma, SHARE * n)
        self._moves = moves_of(proposal, self.mode, self._factor, slope)

    @classmethod
    def from_control(cls, control: Any, *,
                     log_likelihood: Callable[[Ints, Floats], ArrayLike] | None = None,
                     factors: Callable[[Floats], Factors] | None = None,
                     bounds: ArrayLike | None = None,
                     spread: Callable[[Floats], float] | None = None,
                     slack: float = 1e-12, prior_precision: ArrayLike = 1.0,
                     proposal: Any = None, adapt: bool = True, test: str = "auto",
                     gamma: float = 0.5, radius: float | None = None, name: str = "x",
                     labels: Any = None) -> "ExactMinibatch":
        """Return exact chains for any model with a known expansion and bounds.

        Parameters
        ----------
        control : GLMControl or TaylorControl
            The expansion g_i of each row's log likelihood l_i around the control's center. The
            control's `third` gives the bounds.
        log_likelihood, factors : callable
            Exactly one of them, as for `RacingMetropolis`: the model in NumPy, or compiled
            functions for chains without Python.
        bounds : float or array_like of float, shape (N,), optional
            c_i, to be used instead of `third`; requires `spread`.
        spread : callable, optional
            ``spread(points)`` returns M for the two rows of `points`, shape (2, d): a finite
            number of at least 0 such that |r_i(points[1]) - r_i(points[0])| <= c_i M, where r_i =
            l_i - g_i. It is called in Python with both orders of the points, and the larger value
            is used, so that M is symmetric.
        slack : float, default 1e-12
            Amount by which a difference may exceed its bound because of rounding.
        radius : float, optional
            As for the class: bounds and `third` need only hold for |L^{-1} (x - center)| <= R.
        prior_precision, proposal, adapt, test, gamma, name, labels
            As for the class. Add any other prior as a factor.

        Returns
        -------
        ExactMinibatch

        Raises
        ------
        ValueError, TypeError
            If an argument is outside its range, or the Hessian at the center is not negative
            definite.

        Notes
        -----
        For a `GLMControl`, c_i and M are as for the class. For a `TaylorControl`, c_i = third_i /
        2 and M = |a| (|m|^2 + |a|^2 / 12), where a = x' - x and m is (x + x') / 2 minus the center
        (proof in csrc/mcmc/minibatch.c). Scale the parameters so that their third derivatives are
        of similar size. Every row that is read is compared with its bound. The bounds of other
        rows and the expansion are not checked: do not use Hessians by finite differences, which
        are not exact. A function receives up to 16 rows at a time, possibly with repetitions; up
        to 512 rows when all are read.

        Examples
        --------
        >>> import numpy as np, pybandit as pb
        >>> rng = np.random.default_rng(1)
        >>> x = rng.normal(size=(20_000, 2))
        >>> y = x @ [1.0, -0.5] + rng.logistic(size=20_000)     # noise with heavier tails
        >>> center = np.linalg.lstsq(x, y)[0]
        >>> t = np.tanh((y - x @ center) / 2)
        >>> control = pb.mcmc.GLMControl(x, t, -(1 - t**2) / 2, center, third=2 / (6 * 3**0.5))
        >>> def log_likelihood(rows, points):
        ...     u = y[rows, None] - x[rows] @ points.T
        ...     return -u - 2 * np.logaddexp(0, -u)
        >>> sampler = pb.mcmc.ExactMinibatch.from_control(control, log_likelihood=log_likelihood)
        >>> tree = sampler.sample(500, rng=1)
        >>> bool(abs(tree["posterior"]["x"].mean(("chain", "draw")) - [1.0, -0.5]).max() < 0.05)
        True
        """
        self = cls.__new__(cls)
        slack = check_scalar("slack", slack, "finite and at least 0", nonnegative)
        self._own = Bounded(control, log_likelihood, factors, bounds, spread, slack)
        d, self._n_rows = control.n_parameters, control.n_factors
        prior = precision_of(prior_precision, d)
        test, gamma = self._describe(d, test, gamma, adapt, name, labels)
        slope = self._expand(control.center.copy(), Sums(
            0.0, control.gradient - prior @ control.center, prior - control.hessian))
        self._regression = self._own.problem(self._factor, slope, check_radius(radius))
        self._regression.decide_by(test, gamma, SHARE * control.n_factors)
        self._moves = moves_of(proposal, self.mode, self._factor, slope)
        self._own.own()  # raises now if the functions are invalid
        return self

    def _describe(self, d, test, gamma, adapt, name, labels):
        """Set the options that both constructors share; return the test and its gamma."""
        check_choice("test", test, TESTS)
        test, gamma = AUTO if test == "auto" else test, check_positive("gamma", gamma)
        self._adapts = check_flag("adapt", adapt)
        self._layout = DrawFormat(
            check_name(name), check_labels(labels, d), d, np.float64, STATISTICS,
            {"inference_library": "pybandit", "inference_library_version": __version__,
             "sampler": "ExactMinibatch", "test": test})
        return test, gamma

    def _expand(self, mode, sums):
        """Set mode and covariance; return the slope in z at the mode (the Hessian in z is -I)."""
        cholesky_of("prior_precision", sums.precision, mode.size,
                    f" when the negative Hessian at mode = {mode} is added")
        covariance = np.linalg.inv(sums.precision)
        self.mode, self.covariance = mode, (covariance + covariance.T) / 2
        self._factor = np.ascontiguousarray(np.linalg.cholesky(self.covariance))
        return np.ascontiguousarray(self._factor.T @ sums.gradient)

    def __repr__(self):
        return f"<ExactMinibatch: {self._n_rows:,} rows, {self.mode.size:,} parameters>"

    def _chain(self, generator, start, adapts=False):
        return Chain(self._regression, self._moves, generator, start, adapts,
                     None if self._own is None else self._own.own())

    def sample(self, n_samples: int, *, n_warmup: int = 1000, n_chains: int = 4,
               initial: ArrayLike | None = None, thin: int = 1,
               n_threads: int | None = None, rng: Rng = None, progress: bool | None = None) -> Any:
        """Draw from the posterior.

        Parameters
        ----------
        n_samples, n_warmup, n_chains, thin, rng, progress
            As for `RacingMetropolis.sample`.
        initial : array_like of float, shape (d,) or (n_chains, d), optional
            Starting points of the chains; the mode by default.
        n_threads : int, optional
            Number of chains to run at a time, without the GIL; 1 by default. The result does not
            depend on it.

        Returns
        -------
        xarray.DataTree
            ``posterior``: the parameters, (chain, draw, parameter). ``sample_stats``: for each
            draw, over the `thin` steps before it, the share of steps `accepted`, the `fraction` of
            rows read, `n_evaluations` (rows read) and `n_exact` (tests that read all rows). For
            each chain it has the `scale` found in warm-up, one value per part of a mixture.
            Attributes: sampler, test, versions.

        Raises
        ------
        ValueError, TypeError
            If an argument is outside its range; or if a difference exceeds its bound, because of
            an error in this library or in the bounds. The message names the row and theta.
        ImportError
            If xarray is not installed: ``pip install 'pybandit-core[arviz]'``.
        """
        tree = sample_chains(
            lambda generator, start: self._chain(generator, start, self._adapts),
            self._layout, n_samples=n_samples, n_warmup=n_warmup, n_chains=n_chains,
            initial=self.mode if initial is None else initial, thin=thin,
            n_threads=n_threads, rng=rng, progress=progress)
        n_exact = tree["sample_stats"]["n_exact"].to_numpy()
        if n_exact.size * thin >= LEAST_STEPS and self._n_rows >= LEAST_ROWS:
            self._warn_of_reading(float(n_exact.mean()) / thin)
        return tree

    def _warn_of_reading(self, share):
        """Warn if most steps read all rows: then gradients serve better than minibatches."""
        if share > MOST_EXACT:
            warn(f"{share:.0%} of the steps of ExactMinibatch read all {self._n_rows:,} rows, too "
                 f"few for {self.mode.size} parameters. Plain HMC or NUTS on all rows (Stan, PyMC, "
                 "BlackJAX) gives more effective samples per second", SlowReadingWarning)

    def step(self, value: ArrayLike, *, n_steps: int = 1, rng: Rng = None) -> ExactStep:
        """Take steps from a point, for custom loops. Nothing is adapted.

        A call takes some tens of microseconds and O(d^2) in addition to the steps.

        Parameters
        ----------
        value : array_like of float, shape (d,)
        n_steps : int, default 1
        rng : None, int, SeedSequence or Generator
            In a loop, pass one Generator: creating one per call is slow.

        Returns
        -------
        ExactStep
            ``value``, ``n_accepted``, ``n_evaluations``.

        Raises
        ------
        ValueError, TypeError
            As `sample`.

        Examples
        --------
        >>> import numpy as np, pybandit as pb
        >>> rng = np.random.default_rng(1)
        >>> x, y = rng.normal(size=(1000, 2)), rng.integers(2, size=1000)
        >>> sampler = pb.mcmc.ExactMinibatch(x, y)
        >>> theta = sampler.mode
        >>> for _ in range(100):
        ...     theta = sampler.step(theta, rng=rng).value
        """
        start = check_point("value", value, self.mode.size)
        n_steps = check_integer("n_steps", n_steps, 1)
        chain = self._chain(as_generator(rng), start)
        chain.steps(n_steps)
        n_accepted, n_evaluations, _ = chain.counts
        return ExactStep(value=np.array(chain.values), n_accepted=n_accepted,
                         n_evaluations=n_evaluations)
