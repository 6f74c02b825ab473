"""The best of several DSPy programs on a set of examples."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pybandit._shared.checks import as_list
from pybandit.evaluation._best_of import best_of
from pybandit.evaluation.options import Calls
from pybandit.evaluation.result import BestOfResult

__all__ = ["best_program"]


def best_program(programs: Sequence[Any] | Mapping[str, Any], devset: Sequence[Any],
                 metric: Callable[..., Any], *, value_range: tuple[float, float] = (0, 1),
                 **options: Any) -> BestOfResult:
    """Find the DSPy program of highest mean score on `devset`, with as few calls as possible.

    Optimise on a small set, for example with `dspy.BootstrapFewShotWithRandomSearch`, and race the
    candidates over all examples afterwards: it leaves them in ``program.candidate_programs``.

    Parameters
    ----------
    programs : sequence or dict of dspy.Module
        At least two programs; the keys of a dict are their names in ``result.names``.
    devset : sequence of dspy.Example
        The examples, with their inputs set (``with_inputs``).
    metric : callable
        ``metric(example, prediction)`` returns a bool, a number or a `dspy.Prediction` with a
        ``score``. Larger scores are better.
    value_range : (float, float), default (0, 1)
        Smallest and largest possible score.
    **options
        Options of `pybandit.best_of`: ``k``, ``delta``, ``epsilon``, ``budget``, ``store``,
        ``rng``, ``calls``. By default eight calls run at a time, and a program that raises an
        exception ends the race; ``calls=pb.Calls(concurrency=8, retry=Exception, failed=0)``
        repeats its call up to five times, and then counts a 0.

    Returns
    -------
    BestOfResult
        ``best`` is the position of the best program.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, or the metric returns no number.

    See Also
    --------
    pybandit.best_of : the promise, and all options.

    Notes
    -----
    Calls run in threads with the caller's context, so ``with dspy.context(lm=...)`` holds in them.
    DSPy caches answers of language models: repeated races of one program cost nothing.

    Examples
    --------
    ::

        metric = dspy.evaluate.answer_exact_match
        programs = {"short": short, "long": long}
        result = best_program(programs, devset, metric, rng=1)
        best = programs[result.names[result.best]]
    """
    names = list(programs) if isinstance(programs, Mapping) else None
    given = as_list("programs", programs.values() if isinstance(programs, Mapping) else programs,
                    "programs of DSPy", 2)
    examples = as_list("devset", devset, "examples of DSPy")
    places = {name: place for place, name in enumerate(names or range(len(given)))}

    def score(model: Any, item: int) -> float:
        example = examples[item]
        found = metric(example, given[places[model]](**example.inputs()))
        return float(getattr(found, "score", found))

    return best_of(score, names or len(given), len(examples), value_range=value_range,
                   **{"calls": Calls(concurrency=8), **options})
