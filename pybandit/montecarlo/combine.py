"""Run unbiased estimators of one number within a budget, and combine their values."""

import math
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pybandit._shared.checks import as_array, check_choice, check_flag, check_integer, shown
from pybandit._shared.generators import seed_sequence_of
from pybandit._shared.keywords import hinted
from pybandit._shared.progress import make_bar
from pybandit._shared.threads import with_context
from pybandit._shared.types import ArrayLike, Rng
from pybandit.montecarlo._run_streams import RunStreams
from pybandit.montecarlo.allocation import EstimatorAllocator
from pybandit.montecarlo.estimate import Estimate, estimate_of

if TYPE_CHECKING:
    import concurrent.futures  # imports logging: loaded only if an executor is used

__all__ = ["combine_estimators"]


@hinted()
def combine_estimators(estimators: Sequence[Callable[..., Any]], budget: float | None = None, *,
                       policy: Any = "thompson-variance",
                       costs: Literal["equal", "measured"] = "equal",
                       weights: Literal["mean", "inverse-variance", "predictable"] = "mean",
                       value_range: ArrayLike | None = None, batch_size: int = 1,
                       vectorized: bool = False, on_error: Literal["raise", "drop"] = "raise",
                       allocator: EstimatorAllocator | None = None,
                       executor: "concurrent.futures.Executor | None" = None, rng: Rng = None,
                       progress: bool | None = None) -> Estimate:
    """Estimate a number with several estimators, spending most of the budget on the best.

    Parameters
    ----------
    estimators : sequence of callable
        Each is called as ``estimator(rng)`` with a NumPy Generator of its own and returns
        a float, whose mean is the number sought; with `vectorized` as
        ``estimator(rng, size)``, and returns an array of `size` values.
    budget : float, optional
        With equal costs the number of runs, an integer; with measured costs
        processor time in seconds. Required without `allocator`.
    policy, weights, value_range, batch_size
        As for `EstimatorAllocator`. Its other options need an `allocator`.
    costs : {"equal", "measured"}, default "equal"
        ``"measured"``: the processor time of each call, in the thread that runs it
        (without an executor, in the whole process), at least 1e-9 s.
    vectorized : bool, default False
        True if an estimator returns many values per call; a batch makes one call for
        each estimator in it, whose cost its values share equally.
    on_error : {"raise", "drop"}, default "raise"
        Action if a call raises, or returns anything but finite numbers.
        ``"raise"``: the batch's other calls are made, and their values are reported to the
        allocator; then the first exception is raised, or a ValueError that names the
        estimator. If no call gave a value, nothing is reported. ``"drop"``: the run
        counts as one that gave no value. Its cost counts in either case. After an
        interrupt the calls of the batch that were not made are charged like those that
        gave no value: a small `batch_size` loses few.
    allocator : EstimatorAllocator, optional
        Allocator to continue with, instead of a new one of `budget` and the options:
        after an exception it holds all values reported so far.
    executor : concurrent.futures.Executor, optional
        Runs the calls of a batch concurrently: choose `batch_size` as a small multiple of the
        number of workers. Each call has its own stream, so with equal costs the result is the
        same for any executor, and without one.
    rng : None, int, SeedSequence or Generator
        With `allocator`, an integer gives a different stream for each number of runs made
        before, so that the same integer may be passed again. The exception is a batch in which
        a call raised and no call gave a value: it is repeated with the same numbers. Each call
        of this function advances a SeedSequence or a Generator.
    progress : bool, optional
        Show a progress bar; by default if tqdm is installed and stderr is a terminal.

    Returns
    -------
    Estimate
        ``estimate``, ``standard_error``, ``interval()``, ``pulls``, ``means``, ``variances``,
        ``mean_costs``, ``plot()``, and the ``allocator`` that made it.

    Raises
    ------
    ValueError, TypeError
            If an argument is outside its range, or as described under `on_error`. Exceptions
            of an estimator are propagated with a note that names the estimator.

    Notes
    -----
    In addition to its own time, a call takes about 4 us, or 20 us in an executor, for its stream
    and bookkeeping. Faster estimators need `vectorized` and a large `batch_size`. With measured
    costs the choices depend on the clock, and two runs differ.

    Examples
    --------
    The area of a quarter circle, by hitting it and by its mean height:

    >>> import numpy as np, pybandit as pb
    >>> def hit(rng):
    ...     return float(np.hypot(*rng.random(2)) < 1)
    >>> def height(rng):
    ...     return np.sqrt(1 - rng.random() ** 2)
    >>> result = pb.combine_estimators([hit, height], 2000, weights="predictable", rng=1)
    >>> bool(abs(result.estimate - np.pi / 4) < 0.02), int(result.pulls.argmax())
    (True, 1)
    """
    functions = _check_functions(estimators)
    check_choice("on_error", on_error, ("raise", "drop"))
    check_choice("costs", costs, ("equal", "measured"))
    vectorized = check_flag("vectorized", vectorized)
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor must be a concurrent.futures.Executor; got {shown(executor)}")
    if allocator is None:
        if budget is None:
            raise ValueError("budget must be given unless an allocator is given; got None")
        streams = seed_sequence_of(rng)
        allocator = EstimatorAllocator(
            len(functions), policy=policy, costs="told" if costs == "measured" else costs,
            weights=weights, budget=budget, value_range=value_range, batch_size=batch_size,
            rng=streams.spawn(1)[0])
    else:
        _check_allocator(allocator, len(functions), dict(
            budget=(budget, None), policy=(policy, "thompson-variance"), costs=(costs, "equal"),
            weights=(weights, "mean"), value_range=(value_range, None),
            batch_size=(batch_size, 1)))
        streams = _streams_to_go_on(rng, allocator.n_pulls)
    runner = _Runner(functions, RunStreams(streams), executor, vectorized,
                     allocator.costs == "told", on_error == "drop")
    run_batch = _run_batch if executor is not None or vectorized else _run_one_by_one
    with make_bar(progress, allocator.budget, "spent", "combine_estimators") as bar:
        before = allocator.total_cost
        while not allocator.done:
            run_batch(allocator, runner)
            after = allocator.total_cost
            bar.update(after - before)
            before = after
    return estimate_of(allocator, functions)


# Larger than any number of calls: spawn keys of continued streams do not clash with others.
GOES_ON = 2**32 - 1


def _streams_to_go_on(rng, n_pulls):
    """Return the SeedSequence of `rng`.

    For an integer it also depends on `n_pulls`, so that a continued run does not repeat earlier
    random numbers.
    """
    streams = seed_sequence_of(rng)
    if n_pulls and isinstance(rng, (int, np.integer)):
        return np.random.SeedSequence(streams.entropy, spawn_key=(GOES_ON, n_pulls))
    return streams


def _run_batch(allocator, runner):
    """Run one batch of `ask`; report the values of successful calls before raising."""
    arms = allocator.ask()
    values, costs, failure = np.full(arms.size, np.nan), np.zeros(arms.size), None
    try:
        for positions, run in runner.run(arms):
            values[positions], costs[positions], raised = run()
            failure = raised if failure is None else failure
        if failure is not None:
            raise failure.error
    except BaseException as error:
        error.add_note(_n_kept(values))
        failure = error
        raise
    finally:
        if failure is None or np.isfinite(values).any() or runner.drops:
            told = (costs,) if allocator.costs == "told" else ()
            allocator.tell(arms, values, *told, missing="drop")


def _run_one_by_one(allocator, runner):
    """Do the same as `_run_batch` for calls of one value in this thread, with lists.

    The arrays of `_run_batch` take longer than a fast estimator.
    """
    arms = allocator.ask().tolist()
    values, costs, failure = [], [], None
    try:
        for arm in arms:
            value, cost, raised = runner.call(arm)
            values.append(float(value))
            costs.append(cost)
            failure = raised if failure is None else failure
        if failure is not None:
            raise failure.error
    except BaseException as error:
        n_missing = len(arms) - len(values)
        values += [math.nan] * n_missing
        costs += [0.0] * n_missing
        error.add_note(_n_kept(values))
        failure = error
        raise
    finally:
        if failure is None or runner.drops or not all(map(math.isnan, values)):
            told = (costs,) if allocator.costs == "told" else ()
            allocator.tell(arms, values, *told, missing="drop")


def _n_kept(values):
    return (f"in a batch of combine_estimators with {np.isfinite(values).sum()} of {len(values)} "
            "values, which were kept; pass allocator= to continue")


class _Raised:
    """The exception of a call. Tracebacks cannot be pickled, so they become a note."""

    def __init__(self, error):
        self.error = error

    def __reduce__(self):
        import traceback

        self.error.add_note("".join(traceback.format_exception(self.error)))
        return _Raised, (self.error,)


class _Runner:
    """Calls the functions, here or in an executor, each with its own stream."""

    def __init__(self, functions, streams, executor, vectorized, timed, drops):
        self.functions, self.streams, self.executor = functions, streams, executor
        self.vectorized, self.drops = vectorized, drops
        # With an executor, a call costs only the time of its own thread.
        self.clock = (None if not timed else "process_time" if executor is None
                      else "thread_time")

    def call(self, arm):
        """Call a function for one value, here."""
        return _call(self.functions[arm], arm, self.streams.next(), self.clock, None, self.drops)

    def run(self, arms):
        """Yield pairs of positions in `arms` and a function that returns the results of `_call`."""
        if self.vectorized:
            chosen = np.unique(arms)
            tasks = [(np.flatnonzero(arms == arm), int(arm)) for arm in chosen]
        else:
            tasks = [(slice(i, i + 1), int(arm)) for i, arm in enumerate(arms)]
        streams = self.streams.spawn(len(tasks))
        calls = [(self.functions[arm], arm, stream, self.clock,
                  positions.size if self.vectorized else None, self.drops)
                 for (positions, arm), stream in zip(tasks, streams, strict=True)]
        if self.executor is None:
            for (positions, _), call in zip(tasks, calls, strict=True):
                yield positions, lambda call=call: _call_with_stream(*call)
            return
        futures = [self.executor.submit(with_context(self.executor, _call_with_stream), *call)
                   for call in calls]
        # Wait for pending calls even after a failure, so that no value is lost.
        interrupt = _wait(futures)
        ended = [(positions, future) for (positions, _), future in zip(tasks, futures, strict=True)
                 if future.done() and not future.cancelled()]
        for positions, future in sorted(ended, key=lambda pair: _failed(pair[1])):
            yield positions, future.result
        if interrupt is not None:
            raise interrupt


def _wait(futures):
    """Wait for all futures; after an interrupt cancel those not started, and return it."""
    import concurrent.futures

    try:
        concurrent.futures.wait(futures)
    except BaseException as interrupt:
        for future in futures:
            future.cancel()
        return interrupt
    return None


def _failed(future):
    return future.exception() is not None


def _call_with_stream(function, arm, stream, *options):
    """Do the same as `_call` with the SeedSequence of a call."""
    return _call(function, arm, np.random.default_rng(stream), *options)


def _call(function, arm, rng, clock, size, drops):
    """Return checked values, the cost of each, and the exception if any; values are NaN then."""
    now = getattr(time, clock) if clock else float
    start, cost = now(), None
    try:
        values = function(rng) if size is None else function(rng, size)
        cost = now() - start
        if size is None and isinstance(values, float) and math.isfinite(values):  # as usual
            return values, cost, None
        return _checked(values, arm, size), cost / (size or 1), None
    except BaseException as error:
        if cost is None:
            cost = now() - start
            error.add_note(f"raised by estimators[{arm}] of combine_estimators")
        if not isinstance(error, Exception):
            raise
        return np.nan, cost / (size or 1), None if drops else _Raised(error)


def _checked(values, arm, size):
    """Return the values of estimators[arm] as an array, or raise unless all are finite."""
    values = as_array(f"the value of estimators[{arm}]", values)
    expected = () if size is None else (size,)
    if values.dtype.kind not in "biuf" or values.shape != expected:
        raise TypeError(f"estimators[{arm}] must return "
                        f"{'a number' if size is None else f'{size} numbers'}; got dtype "
                        f"{values.dtype}, shape {values.shape}")
    if not np.isfinite(values).all():
        bad = values[~np.isfinite(values)]
        raise ValueError(f"estimators[{arm}] must return finite numbers; got {bad.flat[0]}")
    return values


def _check_functions(functions):
    try:
        functions = list(functions)
    except TypeError:
        raise TypeError("estimators must be a sequence of callables; got "
                        f"{shown(functions)}") from None
    for k, function in enumerate(functions):
        if not callable(function):
            raise TypeError(f"estimators must be callable; got {shown(function)} at index {k}")
    check_integer("the number of estimators", len(functions), 1)
    return functions


def _check_allocator(allocator, n, options):
    if not isinstance(allocator, EstimatorAllocator) or allocator.n_arms != n:
        raise ValueError(f"allocator must be an EstimatorAllocator of {n} estimators; got "
                         f"{shown(allocator)}")
    given = sorted(name for name, (value, usual) in options.items()
                   if value is not usual and not (isinstance(value, (str, int, float))
                                                  and value == usual))
    if given:
        raise ValueError(f"{', '.join(given)} must not be given with an allocator, which has its "
                         f"own; got {', '.join(shown(options[name][0]) for name in given)}")
    if allocator.budget is None:
        raise ValueError("allocator must have a budget; got budget=None")
