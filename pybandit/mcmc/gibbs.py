"""Gibbs sampling by racing: each variable is drawn after reading few of its factors."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from pybandit._shared.checks import check_choice, check_integer, check_numeric, shown
from pybandit._shared.keywords import hinted
from pybandit._shared.types import ArrayLike, Ints, Rng
from pybandit.mcmc._chains import DrawFormat, attributes_of, check_labels, check_name, sample_chains
from pybandit.mcmc._gibbs import GraphChain
from pybandit.mcmc.pairwise import PairwiseTable
from pybandit.racing._looks import Looks, as_looks
from pybandit.racing._named_bounds import as_bound, words_of
from pybandit.racing._race import RaceResult, race
from pybandit.racing._track import check_log_prior, hashable, index_kind, make_plan
from pybandit.racing.bounds import BettingBound, EBSBound, NormalBound
from pybandit.racing.exact import totals_of
from pybandit.racing.factors import Factors, Populations, as_factors
from pybandit.racing.populations import race_populations

STATISTICS = {"fraction": np.float64, "n_looks": np.int64, "n_evaluations": np.int64,
              "n_exact": np.int64}


METHODS = ("race", "exact", "poisson")
# Rate of Poisson-Gibbs: counts have mean RATE L^2 + L, where L is the sum of the factors' ranges;
# see docs/inside_samplers.md.
RATE = 1.0


@hinted(looks=Looks)
class RacingGibbs:
    """Gibbs sampler of discrete variables whose conditionals are products of many factors.

    A variable is drawn by adding standard Gumbel noise to each state's log probability and running
    a race (Chen & Ghahramani 2016, Eq. 2 and Algorithm 1). Each conditional is within about
    `delta` of the exact one in total variation if differences of log factors are near normal.
    Otherwise the error has no bound, however small delta is: use `BettingBound` with a
    range for a guarantee.

    Parameters
    ----------
    conditional : callable or PairwiseTable
        A `PairwiseTable` is sampled without Python in the loop. Otherwise
        ``conditional(variable, values)`` returns the log factors of that variable
        given all others: an array (N, D); `Factors`; `Populations` or a list of D arrays if
        each state has its own factors; or a pair (any of these, log prior of shape (D,)).
        `values` is a read-only view of all variables, int64, shape (n_variables,), which
        changes as the chain runs: copy it to keep it. N and D may differ between
        variables. Chains in several threads call it from all of them.
    n_variables : int
        At least 1; optional with a `PairwiseTable`.
    method : {"race", "exact", "poisson"}
        ``"race"`` reads factors until the winner is clear. ``"exact"`` sums all of them;
        the sums of `pybandit.factors` and of a `PairwiseTable` are compiled. ``"poisson"``, for
        a `PairwiseTable`, reads about L^2 + L factors, where L is the sum of their ranges, and
        leaves the joint distribution invariant; see Notes.
    bound, delta, looks
        As for `race`. `Populations` and lists use only `bound` (student or normal), `delta` and
        ``Looks.first``.
        ``Looks.first``.
    order : {"sequential", "random"}
        A step updates all variables once, in the order of their indices or in a new
        random order.
    name : str, default "x"
        Name of the variables in the result.
    labels : sequence, optional
        Coordinates in the result, one per variable.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    Use `Factors` to save work: an array is computed in full before it is raced.

    *Poisson-Gibbs* (Zhang & De Sa 2019). Given all other variables, the factors f_n of v, less
    their minima, are in [0, M_n]; let L = sum M_n. For independent s_n ~ Poisson(L M_n +
    f_n(x_v)), prod_n of e^(-L M_n - f_n) (L M_n + f_n)^s_n / s_n! times e^(sum f_n) is
    proportional to prod_n (L M_n)^s_n / s_n! (1 + f_n(x_v) / (L M_n))^s_n. So x_v is drawn from
    the factors with s_n > 0 alone, and both draws leave the distribution of x_v given the
    others invariant. A sweep moves the chain less than one with ``"exact"``, because the counts
    depend on the previous x_v.

    **Threads.** If `conditional` can be called from several threads at once,
    threads may share it.

    Examples
    --------
    Two clusters with known means. Each label given the others is a race over features:

    >>> import numpy as np, pybandit as pb
    >>> rng = np.random.default_rng(1)
    >>> means = rng.normal(0, 0.02, (5000, 2))
    >>> y = means[:, [0, 0, 1]].T + rng.normal(size=(3, 5000))
    >>> def conditional(variable, values):
    ...     return pb.Factors(lambda n, i: -0.5 * (y[variable, n, None] - means[n][:, i]) ** 2,
    ...                       5000, 2)
    >>> gibbs = pb.mcmc.RacingGibbs(conditional, 3)
    >>> tree = gibbs.sample(50, n_warmup=0, n_chains=2, rng=1)
    >>> dict(tree["posterior"]["x"].sizes)
    {'chain': 2, 'draw': 50, 'x_dim_0': 3}
    """

    def __init__(self, conditional: Callable[[int, Ints], Any] | PairwiseTable,
                 n_variables: int | None = None, *, method: str = "race",
                 bound: str | NormalBound | EBSBound | BettingBound = "student",
                 delta: float | None = None, looks: Looks | None = None,
                 order: str = "sequential", name: str = "x",
                 labels: Sequence[Any] | None = None) -> None:
        if not callable(conditional):
            raise TypeError(f"conditional must be callable; got {shown(conditional)}")
        self.conditional = conditional
        graph = isinstance(conditional, PairwiseTable)
        if graph and n_variables is None:
            n_variables = conditional.n_variables
        self.n_variables = check_integer("n_variables", n_variables, 1)
        if graph and self.n_variables != conditional.n_variables:
            raise ValueError(f"n_variables must equal that of the PairwiseTable, "
                             f"{conditional.n_variables}; got {n_variables}")
        self.method = check_choice("method", method, METHODS)
        if method == "poisson":
            if not graph:
                raise ValueError(f"method must be 'race' or 'exact' unless conditional is a "
                                 f"PairwiseTable; got {method!r}")
            conditional._graph.prepare_counts()
        self.options = dict(bound=bound, delta=delta, looks=as_looks(looks))
        _check_options(**self.options, n_states=conditional.n_states if graph else None)
        self.order = check_choice("order", order, ("sequential", "random"))
        self.layout = DrawFormat(check_name(name), check_labels(labels, self.n_variables),
                                 self.n_variables, np.int64, STATISTICS,
                                 self._attributes(bound, delta))

    def __repr__(self):
        return (f"<RacingGibbs: {self.n_variables:,} variables, method {self.method!r}, "
                f"{words_of(as_bound(self.options['bound'], self.options['delta']))}>")

    def _attributes(self, bound, delta):
        attributes = attributes_of("RacingGibbs", bound, delta) | {"method": self.method}
        if self.method != "race":
            attributes |= {"bound": "none", "delta": 0.0}
        return attributes

    def sample(self, n_samples: int, *, n_warmup: int = 1000, n_chains: int = 4,
               initial: ArrayLike | None = None, thin: int = 1,
               n_threads: int | None = None, rng: Rng = None, progress: bool | None = None) -> Any:
        """Draw from the joint distribution.

        Parameters
        ----------
        n_samples : int
            Draws kept per chain.
        n_warmup : int, default 1000
            Sweeps before the first draw; they are not kept.
        n_chains : int, default 4
        initial : array_like of int, shape (n_variables,) or (n_chains, n_variables), optional
            Starting points of the chains; all 0 by default.
        thin : int, default 1
            Sweeps per draw.
        n_threads : int, optional
            Number of chains to run at a time; 1 by default. More threads help if `conditional`
            releases the GIL. The result does not depend on it.
        rng : None, int, SeedSequence or Generator
            Chain i uses the i-th stream spawned from it.
        progress : bool, optional
            Show a progress bar; by default if tqdm is installed and stderr is a terminal.

        Returns
        -------
        xarray.DataTree
            ``posterior``: the variables, (chain, draw, variable). ``sample_stats``: for
            each draw, over the sweeps since the previous draw, the `fraction` of the (factor,
            state) pairs read, `n_looks`, `n_evaluations`, and `n_exact` (races that read all
            factors). Attributes: sampler, bound, delta, versions.

        Raises
        ------
        ValueError, TypeError
            If an argument is outside its range, or a value that `conditional` returned is
            invalid. Exceptions of `conditional` are propagated.
        ImportError
            If xarray is not installed: ``pip install 'pybandit-core[arviz]'``.
        """
        make = self._native_chain if isinstance(self.conditional, PairwiseTable) else partial(
            _Chain, self)
        return sample_chains(
            make, self.layout,
            n_samples=n_samples, n_warmup=n_warmup, n_chains=n_chains, initial=initial, thin=thin,
            n_threads=n_threads, rng=rng, progress=progress)


    def _native_chain(self, generator, start):
        n_states = self.conditional.n_states
        if start.min() < 0 or start.max() >= n_states:
            raise ValueError(f"initial must be states in [0, {n_states}); got {start.min()} to "
                             f"{start.max()}")
        return GraphChain(self.conditional._graph, generator, np.ascontiguousarray(start),
                          self.method, RATE, self.order == "random", self.options)


def _check_options(bound, delta, looks, n_states):
    """Raise now, not in the first race, if an option is invalid. `n_states` None: unknown."""
    delta = hashable("delta", delta)
    if n_states is None:
        # A value_range with one range per state gives the number of states; that of a
        # BettingBound is one pair (low, high) and does not.
        made = as_bound(bound, delta)
        ranges = None if isinstance(made, BettingBound) else getattr(made, "value_range", None)
        n_states = max(1, len(ranges)) if np.ndim(ranges) else 2
    make_plan(bound, delta, looks, 1, n_states)
    index_kind(np.zeros((1, 1)), looks.indices, "rejection")


class _Chain:
    """One chain."""

    shown = ()

    def __init__(self, sampler, rng, values):
        self.conditional, self.options = sampler.conditional, sampler.options
        self.few_options = {name: self.options[name] for name in ("bound", "delta")}
        if self.options["looks"].first is not None:
            self.few_options["first_look"] = self.options["looks"].first
        self.rng, self.values = rng, values
        self.seen = values.view()
        self.seen.flags.writeable = False
        self.order = np.arange(len(values))
        self.random, self.exact = sampler.order == "random", sampler.method == "exact"
        self.clear()

    def clear(self):
        self.n_looks = self.n_evaluations = self.n_exact = self.n_pairs = 0

    def end_warmup(self):
        self.clear()

    def step(self):
        if self.random:
            self.order = self.rng.permutation(len(self.values))
        for variable in self.order.tolist():
            self.update(variable)

    def update(self, variable):
        factors, log_prior = self.conditional(variable, self.seen), None
        if isinstance(factors, tuple):
            if len(factors) != 2:
                raise ValueError(f"conditional must return log factors, or a pair of log factors "
                                 f"and log prior; got a tuple of {len(factors)}")
            factors, log_prior = factors
        n_states, n_pairs, race_them = self.problem(factors)
        if self.exact:
            race_them = partial(self.sum_up, factors, n_pairs)
        perturbed = self.rng.gumbel(size=n_states)
        if log_prior is not None:
            perturbed += check_log_prior("the log prior that conditional returned", log_prior,
                                         n_states)
        result = race_them(log_prior=perturbed, rng=self.rng)
        self.values[variable] = result.best
        self.n_looks += result.n_looks
        self.n_evaluations += result.n_evaluations
        self.n_exact += result.exact
        self.n_pairs += n_pairs

    def sum_up(self, factors, n_pairs, log_prior, rng):
        """Return the result of a race that reads all factors at its first look."""
        if isinstance(factors, (Populations, list)):
            raise ValueError("conditional must return an array or Factors for method='exact'; got "
                             f"{type(factors).__name__}")
        winner = int(np.argmax(totals_of(as_factors(factors)) + log_prior))
        return RaceResult(winner, 1, n_pairs, True)

    def problem(self, factors):
        """Return the number of states and of (factor, state) pairs, and the race to run."""
        if isinstance(factors, (Populations, list)):
            own = isinstance(factors, Populations)
            sizes = factors.sizes if own else [np.size(one) for one in factors]
            # at least 1, because the fraction is divided by it
            return len(sizes), max(1, sum(sizes)), partial(race_populations, factors,
                                                           **self.few_options)
        if isinstance(factors, Factors):
            shape = factors.n_factors, factors.n_states
        else:
            factors = check_numeric("the return value of conditional", factors, copy=False)
            shape = factors.shape
        if len(shape) != 2:
            raise ValueError(f"conditional must return factors of shape (N, D), Factors, "
                             f"Populations, a list, or a pair of one of them and a log prior; got "
                             f"shape {shape}")
        return shape[1], shape[0] * shape[1], partial(race, factors, **self.options)

    def take_statistics(self, thin):
        taken = (self.n_evaluations / self.n_pairs, self.n_looks, self.n_evaluations,
                 self.n_exact)
        self.clear()
        return taken
