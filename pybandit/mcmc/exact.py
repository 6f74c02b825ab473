"""Metropolis-Hastings on minibatches that is exact: regressions whose remainders are bounded."""

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
from pybandit._shared.generators import as_generator
from pybandit._shared.keywords import hinted
from pybandit._shared.types import ArrayLike, Floats, Ints, Rng
from pybandit._shared.version import __version__
from pybandit.mcmc._bounded import Bounded, check_point, check_radius, check_rows
from pybandit.mcmc._chains import Layout, check_labels, check_name, sample_chains
from pybandit.mcmc._exact import Chain
from pybandit.mcmc._moves import moves_of
from pybandit.mcmc._newton import Sums, find_mode, sums_at
from pybandit.mcmc._problem import Regression
from pybandit.mcmc.families import arguments_of
from pybandit.mcmc.preconditioned import cholesky_of, precision_of
from pybandit.racing._record import Record
from pybandit.racing.factors import Factors

STATISTICS = {"accepted": np.float64, "fraction": np.float64, "n_evaluations": np.int64,
              "n_exact": np.int64}
TESTS = ("auto", "factorised", "auxiliary")
AUTO = "factorised"  # faster where we measured: docs/inside_samplers.md
# Where more than this share of the rows is expected to be read, at random, all are, in order.
SHARE = 0.25


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
    **Threads.** Nothing changes it: threads may share it.

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
    """Metropolis-Hastings that reads few rows a step and has the posterior as its law.

    For regressions with a normal prior of mean 0. The log posterior is split into its
    second-order expansion around the mode, known in O(d^2), and a remainder r_i of each
    row, of which a bound is known: |r_i(x') - r_i(x)| <= c_i M(x, x'). The test draws rows in
    proportion to c_i, as many as a Poisson number of mean sum_i c_i M or so, a few in a
    million near the mode, and no others count.

    Parameters
    ----------
    x : array_like of float, shape (N, d)
        Features. Not copied if C-contiguous float64; N below 2^32.
    y : array_like of float, shape (N,)
        Responses: 0 or 1, counts of a `Binomial`, numbers of a `StudentT`.
    family : {"logistic", "probit", "poisson"}, Binomial or StudentT
        ``"poisson"`` has counts of mean exp(x'theta), on a ball: see `radius`.
    prior_precision : float or array_like of float, shape (d,) or (d, d)
        Of the normal prior; 0 is flat.
    mode : array_like of float, shape (d,), optional
        Point of expansion; found by Newton's method by default. Any point gives exact
        chains, but far from the mode most rows are read.
    proposal : None, "laplace", "walk", Preconditioned, RandomWalk or Mixture
        ``"laplace"`` draws from the normal approximation at the mode, ``"walk"`` goes 2.38 /
        sqrt(d) of its deviations; by default 19 of the first to one of the second, which
        leaves the places that draws from an approximation seldom leave.
    adapt : bool, default True
        Whether warm-up adapts the length of proposals. Draws from the approximation
        (``"laplace"``) become shorter steps only if fewer than .15 of them are accepted, or .42
        if the test reads all rows. Walks aim at an acceptance of .234, .44 for d = 1.
    test : {"auto", "factorised", "auxiliary"}
        See Notes; ``"auto"`` is the first one, which was the faster one where we measured.
    gamma : float, default 0.5
        Of the auxiliary test: above 0; more accepts more, and reads more.
    radius : float, optional
        R: the target is the posterior where |L^{-1} (x - mode)| <= R, L L' the covariance, and
        0 elsewhere; proposals outside are rejected. ``"poisson"`` wants it. Of the normal
        approximation the ball lacks P(chi^2_d > R^2), 1e-12 for d = 20 and R = 10.
    name : str, default "x"
        Of the parameters in the result.
    labels : sequence, optional
        One a parameter: coordinates in the result.

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
    RacingMetropolis : any likelihood, about right.

    Notes
    -----
    Its arithmetic is that of float64; else the chain's stationary law is the posterior, at
    any length of steps and any `gamma`:

    *Factorised* (Cornish et al. 2019). Accepts with min(1, e^q) prod_i min(1, e^(r_i(x') -
    r_i(x))), where q is the change of prior, expansion and proposal. Each factor f obeys
    f(x, x') / f(x', x) = e^(its change), so the product is in detailed balance. A row rejects
    where a Poisson process of rate c_i M, thinned to max(0, r_i(x) - r_i(x')), has a point.

    *Auxiliary* (Zhang & De Sa 2020; Prado, Nemeth & Sherlock 2024). s_i ~ Poisson(mu_i(x, x')),
    mu_i(x, x') = gamma c_i M + max(0, r_i(x) - r_i(x')); accepts with min(1, e^q prod_i
    (mu_i(x', x) / mu_i(x, x'))^s_i). The joint laws of (x, x', s) forward and backward have the
    ratio e^(q + sum r_i(x') - r_i(x)) e^(sum mu_i(x, x') - mu_i(x', x)) times that product, and
    the exponentials of the sums cancel.

    *The bound.* With z = L^{-1} (x - mode), L L' the covariance, and the most k_i that the third
    derivative of row i in its linear predictor is in size, c_i = k_i / 2 |L'x_i|^3 and M =
    max over |w| = 1 of |(w'z')^3 - (w'z)^3| / 3 (csrc/mcmc/minibatch.c has the proof; at most
    |z' - z| max(|z|^2, |z'|^2)). Every difference that is read is held against its bound, and
    an excess raises. k_i, proofs in csrc/mcmc/glm.c: logistic 1 / (6 sqrt 3), times the trials
    of a binomial; probit .2959; Student (df + 1) (3/2 + sqrt 2) / (2 df^(3/2) scale^3);
    Poisson exp(x_i'mode + |L'x_i| R) on the ball of radius R, which holds every point that a
    chain compares.

    Where more than a quarter of the rows would be read, all are, in order, by the common test:
    the expected number is the same from x' to x, so detailed balance holds there too.

    Set-up takes one pass over the rows for each Newton step, of which two to four see all
    rows, and one more, O(N d^2), and 48 N bytes. A step costs O(d^2 + rows d); about
    (d / N)^(1/2) of them is read at independent draws. **Threads**: an object is not changed by
    its calls, so threads may share it.

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
            raise ValueError("mode must have log odds of rows below 700 in size, or their shares "
                             "leave the doubles; scale x")
        if not np.isfinite(self._regression.total):
            raise ValueError(f"radius must be so small that rates on the ball are doubles; got "
                             f"{radius}, where bounds add up to inf")
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
        """Exact chains on any model of which expansions and bounds are known.

        Parameters
        ----------
        control : GLMControl or TaylorControl
            The expansion l_i ~ g_i, around its center. Its `third` makes the bounds.
        log_likelihood, factors : callable
            One of them, as of `RacingMetropolis`: the model in NumPy, or compiled functions, for
            chains without Python.
        bounds : float or array_like of float, shape (N,), optional
            c_i, where `third` does not serve; with `spread`.
        spread : callable, optional
            ``spread(points)``: M of both rows of `points`, (2, d), a finite number of at least
            0. With r_i = l_i - g_i, |r_i(points[1]) - r_i(points[0])| <= c_i M. Of both orders of
            the points the larger value counts, so that M is symmetric. It is called in Python.
        slack : float, default 1e-12
            By how much a difference may exceed its bound: the rounding of its evaluation.
        radius : float, optional
            As of the class: bounds, and `third`, need hold where |L^{-1} (x - center)| <= R alone.
        prior_precision, proposal, adapt, test, gamma, name, labels
            As of the class; another prior is a factor of its own.

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
        c_i and M of a `GLMControl` are those of the class. Of a `TaylorControl` c_i = third_i /
        2 and M = |a| (|m|^2 + |a|^2 / 12), a = x' - x and m halfway between, from the center:
        proof in csrc/mcmc/minibatch.c. Parameters whose third derivatives are alike in size
        serve it best. Every row that is read is held against its bound; rows that are
        not read are taken on trust, and so is the expansion: Hessians by differences are none.
        A function gets up to 16 rows at a time, one of them twice perhaps.

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
        self._own.own()  # refuses bad functions now
        return self

    def _describe(self, d, test, gamma, adapt, name, labels):
        """What is the same for all; returns the test and its gamma."""
        check_choice("test", test, TESTS)
        test, gamma = AUTO if test == "auto" else test, check_positive("gamma", gamma)
        self._adapts = check_flag("adapt", adapt)
        self._layout = Layout(
            check_name(name), check_labels(labels, d), d, np.float64, STATISTICS,
            {"inference_library": "pybandit", "inference_library_version": __version__,
             "sampler": "ExactMinibatch", "test": test})
        return test, gamma

    def _expand(self, mode, sums):
        """The quadratic part at a mode; returns its slope there in z, where its Hessian is -1."""
        cholesky_of("prior_precision", sums.precision, mode.size,
                    f" as that of the posterior at mode = {mode}")
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
            As of `RacingMetropolis.sample`.
        initial : array_like of float, shape (d,) or (n_chains, d), optional
            Where the chains start; the mode by default.
        n_threads : int, optional
            Chains run at a time, without the GIL; 1 by default. The result does not depend
            on it.

        Returns
        -------
        xarray.DataTree
            ``posterior``: the parameters, (chain, draw, parameter). ``sample_stats``: for each
            draw the share of steps `accepted` and the `fraction` of rows read, and the sums
            `n_evaluations`, rows read, and `n_exact`, tests that read all, over the `thin`
            steps; for each chain the `scale` that warm-up found, of a mixture one a part.
            Attributes: sampler, test, versions.

        Raises
        ------
        ValueError, TypeError
            If an argument is outside its range; or a difference exceeds its bound: an error
            of this library, or of the bounds that were given. The message names row and theta.
        ImportError
            If xarray is not installed: ``pip install 'pybandit-core[arviz]'``.
        """
        return sample_chains(
            lambda generator, start: self._chain(generator, start, self._adapts),
            self._layout, n_samples=n_samples, n_warmup=n_warmup, n_chains=n_chains,
            initial=self.mode if initial is None else initial, thin=thin,
            n_threads=n_threads, rng=rng, progress=progress)

    def step(self, value: ArrayLike, *, n_steps: int = 1, rng: Rng = None) -> ExactStep:
        """Take steps from a point, for custom loops; nothing is adapted.

        A call takes some tens of microseconds and O(d^2) beside the steps.

        Parameters
        ----------
        value : array_like of float, shape (d,)
        n_steps : int, default 1
        rng : None, int, SeedSequence or Generator
            A loop gives its Generator: another one for each call is slow.

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
