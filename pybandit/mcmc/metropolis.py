"""Metropolis-Hastings by racing: proposals are decided on few of the data."""

import copy
import dataclasses
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pybandit._shared.checks import check_flag, check_in, check_integer, shown
from pybandit._shared.generators import as_generator
from pybandit._shared.keywords import hinted
from pybandit._shared.types import ArrayLike, Floats, Ints, Rng
from pybandit.mcmc._bounded import Ranges, check_control, factors_of
from pybandit.mcmc._chains import DrawFormat, attributes_of, check_labels, check_name, sample_chains
from pybandit.mcmc._moves import moves_in_theta
from pybandit.mcmc._race_loops import CompiledLoop, PythonLoop
from pybandit.mcmc.controls import Quadratic
from pybandit.mcmc.preconditioned import precision_of
from pybandit.mcmc.proposals import RandomWalk
from pybandit.racing._looks import Looks, looks_of_tests
from pybandit.racing._named_bounds import as_bound, words_of
from pybandit.racing._results import Record
from pybandit.racing.acceptance import AcceptanceTest
from pybandit.racing.bounds import BettingBound, EBSBound, NormalBound
from pybandit.racing.factors import Factors

STATISTICS = {"accepted": np.float64, "fraction": np.float64, "n_looks": np.int64,
              "n_evaluations": np.int64, "n_exact": np.int64}
# Largest number of factors for which a single test draws indices by rejection, as in `accept`.
LARGEST_UNIFORM = 2**26


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MetropolisStep(Record):
    """Point of a chain after the steps of `RacingMetropolis.step`, and their cost.

    Attributes
    ----------
    value : ndarray of float64, shape (d,)
        Point of the chain.
    n_accepted : int
        Proposals accepted.
    n_evaluations : int
        Log ratios read.

    Notes
    -----
    **Threads.** Immutable: threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> y = np.random.default_rng(1).normal(0.3, 1.0, 10_000)
    >>> def log_likelihood(indices, points):
    ...     return -0.5 * (y[indices, None] - points[:, 0]) ** 2
    >>> sampler = pb.mcmc.RacingMetropolis(log_likelihood, y.size, 1,
    ...                                    proposal=pb.mcmc.RandomWalk(0.02))
    >>> step = sampler.step([0.3], n_steps=50, rng=1)
    >>> 0 < step.n_accepted < 50, step.n_evaluations < 50 * y.size
    (True, True)
    """

    value: Floats
    n_accepted: int
    n_evaluations: int


@hinted(looks=Looks)
class RacingMetropolis:
    """Metropolis-Hastings sampler whose test reads only as much data as a decision needs.

    A proposal x' is accepted if sum_n d_n > log(u p(x) q(x'|x) / (p(x') q(x|x'))), where
    d_n = log p(y_n|x') - log p(y_n|x) and u is uniform. `accept` decides this (Chen &
    Ghahramani 2016, Sec. 4). A test errs with a probability of about `delta` if the d_n are
    near normal. Otherwise the error has no bound, however small delta is: use
    `BettingBound` with a range for a guarantee.

    Parameters
    ----------
    log_likelihood : callable
        ``log_likelihood(indices, points)`` returns log p(y_n | point) of these n factors at
        both rows of `points`, shape (n, 2). `points` is read-only, float64 of shape (2, d): the
        current and the proposed point. None if `factors` is given.
    n_factors : int
        N. Optional with `factors`.
    n_parameters : int
        d.
    factors : callable, optional
        Instead of `log_likelihood`, for compiled functions: ``factors(points)`` is
        called once per chain, with a read-only view of that chain's array of shape (2, d),
        which the sampler changes in place. It returns `Factors` with N factors and one state, the
        log ratios d_n.
    log_prior : callable, optional
        ``log_prior(point)`` returns a number, up to a constant; -inf rejects without reading.
        Flat by default. `point` is read-only and changes as the chain runs: copy it to keep it.
    prior_precision : float or array_like of float, shape (d,) or (d, d), optional
        Precision of a normal prior of mean 0, compiled. If `log_prior` is given too, the prior is
        the product of both.
    control : TaylorControl or GLMControl, optional
        Control variate close to the log likelihood, so that few factors suffice.
    proposal : RandomWalk, SGLD, Preconditioned or Mixture, default RandomWalk()
    adapt : bool, default True
        Adapt the proposal's scale in warm-up to its target acceptance rate
        (Robbins-Monro on its logarithm). The scale is fixed afterwards.
    bound, delta, looks
        As for `accept`. The ranges of a bound are those of d_n minus the values of the control.
        ``BettingBound(value_range="control")`` computes the range in each decision from a control
        that has `third`: each decision then errs with probability at most delta.
    name : str, default "x"
        Name of the parameters in the result.
    labels : sequence, optional
        Coordinates in the result, one per parameter.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    At ``delta=0.05`` a chain on a logistic regression with one parameter, N = 400, had a
    standard deviation 2 % too large; at ``delta=0.3`` it was 1.23 times the true one. If a control
    is given, its remainder is computed on all rows after warm-up, one pass per chain. A warning is
    given if 1 % of the rows have nine tenths of the remainder's variance, because tests rarely
    read those rows.

    In a chain on N data, the sum of the d_n between neighbouring points x and x' is of order 1,
    and its estimate from T rows has noise of order N sd(d) / sqrt(T). Without a control variate
    most steps therefore read most data; with a good one, the first look decides. If warm-up reads
    more than 30 % of 1,000 rows or more, one warning is given: use `ExactMinibatch` for
    regressions, a control for models with a good expansion, and a pass over all rows in order for
    the rest.

    **Threads.** If your functions can be called from several threads at once,
    threads may share it.

    Examples
    --------
    The mean of normal data:

    >>> import numpy as np, pybandit as pb
    >>> y = np.random.default_rng(1).normal(0.3, 1.0, 10_000)
    >>> center = np.array([y.mean()])
    >>> sampler = pb.mcmc.RacingMetropolis(
    ...     lambda n, points: -0.5 * (y[n, None] - points[:, 0]) ** 2, y.size, 1,
    ...     proposal=pb.mcmc.RandomWalk(0.02),
    ...     control=pb.mcmc.TaylorControl(center, y[:, None] - center))
    >>> tree = sampler.sample(200, n_warmup=200, n_chains=2, initial=[0.3], rng=1)
    >>> bool(abs(tree["posterior"]["x"].mean() - y.mean()) < 0.01)
    True
    """

    def __init__(self, log_likelihood: Callable[[Ints, Floats], ArrayLike] | None = None,
                 n_factors: int | None = None, n_parameters: int | None = None, *,
                 factors: Callable[[Floats], Factors] | None = None,
                 log_prior: Callable[[Floats], float] | None = None,
                 prior_precision: ArrayLike | None = None, control: Any = None,
                 proposal: Any = None, adapt: bool = True,
                 bound: str | NormalBound | EBSBound | BettingBound = "student",
                 delta: float | None = None, looks: Looks | None = None, name: str = "x",
                 labels: Sequence[Any] | None = None) -> None:
        if (log_likelihood is None) == (factors is None):
            raise ValueError("pass exactly one of log_likelihood and factors; got "
                             f"{'neither' if factors is None else 'both'}")
        for key, function in (("log_likelihood", log_likelihood), ("factors", factors),
                              ("log_prior", log_prior)):
            if function is not None and not callable(function):
                raise TypeError(f"{key} must be callable; got {shown(function)}")
        if factors is None or n_factors is not None:
            n_factors = check_integer("n_factors", n_factors, 1)
        self.n_parameters = check_integer("n_parameters", n_parameters, 1)
        proposal = RandomWalk() if proposal is None else proposal
        if not callable(getattr(proposal, "start", None)):
            raise TypeError(f"proposal must be a RandomWalk, an SGLD, a Preconditioned, a Mixture "
                            f"or have start(n_factors, n_parameters, rng); got "
                            f"{shown(proposal)}")
        self.log_likelihood, self.factors, self.n_factors = log_likelihood, factors, n_factors
        self.log_prior, self.proposal, self.control = log_prior, proposal, control
        self.precision = None if prior_precision is None else precision_of(prior_precision,
                                                                           self.n_parameters)
        self.adapt, self.ranges = check_flag("adapt", adapt), None
        self.options = dict(bound=bound, delta=delta, looks=looks_of_tests(looks))
        self._check_control(n_factors)
        if isinstance(bound, BettingBound) and bound.value_range == "control":
            if getattr(control, "third", None) is None:
                raise ValueError("control must have third, a bound on third derivatives, for "
                                 f"BettingBound(value_range='control'); got {shown(control)}")
            self.ranges = Ranges(control)  # set at each decision
            self.options["bound"] = dataclasses.replace(bound, value_range=(-1.0, 1.0))
        # Raise now, not in the first test, if an option is invalid.
        AcceptanceTest(Factors(len, n_factors or 1, 1), **self.options)
        self.layout = DrawFormat(check_name(name), check_labels(labels, self.n_parameters),
                                 self.n_parameters, np.float64, STATISTICS,
                                 attributes_of("RacingMetropolis", bound, delta))

    def __repr__(self):
        n = "" if self.n_factors is None else f"{self.n_factors:,} factors, "
        return (f"<RacingMetropolis: {n}{self.n_parameters:,} parameters, "
                f"{words_of(as_bound(self.options['bound'], self.options['delta']))}>")

    def _check_control(self, n_factors):
        if self.control is not None:
            check_control(self.control, n_factors, self.n_parameters)

    def sample(self, n_samples: int, *, n_warmup: int = 1000, n_chains: int = 4,
               initial: ArrayLike | None = None, thin: int = 1,
               n_threads: int | None = None, rng: Rng = None, progress: bool | None = None) -> Any:
        """Draw from the posterior.

        Parameters
        ----------
        n_samples : int
            Draws kept per chain.
        n_warmup : int, default 1000
            Steps before the first draw. They are not kept and adapt the proposal.
        n_chains : int, default 4
        initial : array_like of float, shape (d,) or (n_chains, d), optional
            Starting points of the chains; the control's center by default, or 0.
        thin : int, default 1
            Steps per draw.
        n_threads : int, optional
            Number of chains to run at a time; 1 by default. More threads help if the functions
            release the GIL for long. The result does not depend on it.
        rng : None, int, SeedSequence or Generator
            Chain i uses the i-th stream spawned from it.
        progress : bool, optional
            Show a progress bar; by default if tqdm is installed and stderr is a terminal.

        Returns
        -------
        xarray.DataTree
            ``posterior``: the parameters, (chain, draw, parameter). ``sample_stats``:
            for each draw, over the `thin` steps before it, the share of steps `accepted`, the
            `fraction` of factors read, `n_looks`, `n_evaluations`, and `n_exact` (tests that read
            all factors). For each chain it has the `scale` found in warm-up, one value per part of
            a mixture. Attributes: sampler, bound, delta, versions.

        Raises
        ------
        ValueError, TypeError
            If an argument is outside its range, or a log likelihood or log prior is not a finite
            number. Exceptions of your functions are propagated.
        ImportError
            If xarray is not installed: ``pip install 'pybandit-core[arviz]'``.
        """
        if initial is None and self.control is not None:
            initial = self.control.center
        warned = threading.Lock()  # acquired by the first chain that warns, never released
        return sample_chains(
            lambda generator, start: self._chain(generator, start, warned), self.layout,
            n_samples=n_samples, n_warmup=n_warmup, n_chains=n_chains, initial=initial, thin=thin,
            n_threads=n_threads, rng=rng, progress=progress)

    def step(self, value: ArrayLike, *, n_steps: int = 1, rng: Rng = None) -> MetropolisStep:
        """Take steps from a point, for custom loops. Nothing is adapted.

        Parameters
        ----------
        value : array_like of float, shape (d,)
            A point with a finite log prior.
        n_steps : int, default 1
        rng : None, int, SeedSequence or Generator
            In a loop, pass one Generator: creating one per call is slow.

        Returns
        -------
        MetropolisStep
            ``value``, ``n_accepted``, ``n_evaluations``.

        Raises
        ------
        ValueError, TypeError
            As `sample`.

        Notes
        -----
        The result depends only on `value` and the state of `rng`, unless the functions or the
        proposal keep state. A call takes about 100 microseconds and N / 8 bytes in addition to
        the steps.

        Examples
        --------
        >>> import numpy as np, pybandit as pb
        >>> rng = np.random.default_rng(1)
        >>> y = rng.normal(0.3, 1.0, 10_000)
        >>> sampler = pb.mcmc.RacingMetropolis(
        ...     lambda n, points: -0.5 * (y[n, None] - points[:, 0]) ** 2, y.size, 1,
        ...     proposal=pb.mcmc.RandomWalk(0.02))
        >>> theta = np.array([0.3])
        >>> for _ in range(10):
        ...     theta = sampler.step(theta, rng=rng).value
        """
        start = check_in("value", value, "finite", np.isfinite)
        if start.shape != (self.n_parameters,):
            raise ValueError(f"value must have shape ({self.n_parameters},); got {start.shape}")
        n_steps = check_integer("n_steps", n_steps, 1)
        # a copy for few steps: without adaptation, and without a permutation of all indices
        alone = copy.copy(self)
        looks = dataclasses.replace(self.options["looks"], indices=self._indices_of_few())
        alone.adapt, alone.options = False, self.options | {"looks": looks}
        chain = alone._chain(as_generator(rng), start, None)
        value, n_accepted, n_evaluations = chain.steps(n_steps)
        return MetropolisStep(value=value, n_accepted=n_accepted, n_evaluations=n_evaluations)

    def _indices_of_few(self):
        if self.options["looks"].indices != "auto":
            return self.options["looks"].indices
        n = self.n_factors or getattr(self.control, "n_factors", 0)
        return "rejection" if n <= LARGEST_UNIFORM else "keyed"

    def _chain(self, generator, start, warned):
        """Return a chain; a compiled one if proposal and control are built in."""
        moves = moves_in_theta(self.proposal, self.n_parameters)
        if moves is None or not (self.control is None or isinstance(self.control, Quadratic)):
            return PythonLoop(self, generator, start, warned)
        return CompiledLoop(self, generator, start, warned, moves)

    def _factors(self, points):
        """Return the log ratios between the rows of `points`, less the control's values."""
        return factors_of(self.log_likelihood, self.factors, self.control, self.n_factors, points)
