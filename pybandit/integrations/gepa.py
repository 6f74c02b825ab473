"""An adapter for GEPA that stops reading a candidate on the validation set once it is behind."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from pybandit._shared.checks import check_delta, check_ends, check_in, check_integer
from pybandit._shared.generators import as_generator
from pybandit._shared.optional import require
from pybandit._shared.types import Floats, Rng
from pybandit.integrations._challenge import Challenge, share_of_delta

__all__ = ["RacingAdapter"]


class RacingAdapter:
    """A GEPA adapter around yours: candidates race against the best one on the validation set.

    A candidate is evaluated on the whole validation set in an order drawn for it. Once it is shown
    to be worse than the best candidate so far, it is not evaluated on the other items, which get
    the lowest score: this can only lower its mean. Everything else goes to your adapter unchanged.

    Parameters
    ----------
    adapter : GEPAAdapter
        Your adapter; larger scores are better.
    valset : sequence
        The validation set, the same that `gepa.optimize` gets.
    value_range : (float, float), default (0, 1)
        Smallest and largest possible score.
    delta : float, default 0.05
        Bound on the probability that the run stops reading any candidate whose mean score on
        `valset` is at least that of the best candidate at that time; in (0, 1).
    n_candidates : int, optional
        Number of candidates planned on the validation set. Each gets ``delta / n_candidates``, and
        those after them are evaluated on all items. By default candidate t = 0, 1, ... gets
        ``delta / ((t + 1) (t + 2))``.
    block_size : int, default 8
        Number of items per call of your adapter, at least 1; your adapter may run them at once.
    rng : None, int, SeedSequence or Generator
        Draws the order of the items.

    Attributes
    ----------
    n_evaluated, n_saved : int
        Items of the validation set that were evaluated, and that were not.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range. In `evaluate`: if a score is outside `value_range`, or
        your adapter does not return one score per item.

    See Also
    --------
    pybandit.integrations.dspy.best_program : the best of finished candidates.

    Notes
    -----
    *Promise.* The order of items is drawn for each candidate, independently of all scores, so
    `BettingRace` finds it worse by mistake with probability at most its share of `delta`, and the
    shares sum to at most `delta`. Scores must not depend on the order of the items.

    *What GEPA does with the result.* It picks parents by the best score per item, so lowest scores
    cost a candidate places on that front; ``frontier_type="objective"`` does not use it. It counts
    all items of the validation set in ``max_metric_calls``, evaluated or not. With
    ``cache_evaluation=True`` a candidate with cached scores comes with the other items only, and
    is evaluated in full.

    *Resuming.* GEPA saves the best candidate's scores with its own state.

    Examples
    --------
    Pass it to GEPA in the place of your adapter::

        adapter = RacingAdapter(MyAdapter(), valset, value_range=(0, 1), rng=1)
        result = gepa.optimize(seed_candidate, trainset, valset, adapter=adapter,
                               reflection_lm=..., max_metric_calls=3000)
        print(adapter.n_saved)
    """

    def __init__(self, adapter: Any, valset: Sequence[Any], *,
                 value_range: tuple[float, float] = (0, 1), delta: float = 0.05,
                 n_candidates: int | None = None, block_size: int = 8, rng: Rng = None) -> None:
        self._valset = list(valset)
        if not self._valset:
            raise ValueError("valset must have at least one item; got none")
        self._range, self._delta = check_ends(value_range), check_delta(delta)
        self._n_candidates = n_candidates if n_candidates is None else check_integer(
            "n_candidates", n_candidates, 1)
        self._block_size = check_integer("block_size", block_size, 1)
        self._rng = as_generator(rng)
        self._best: Floats | None = None
        self._number = 0
        self.n_evaluated, self.n_saved = 0, 0
        self._adapter = adapter

    def __getattr__(self, name: str) -> Any:
        if name == "_adapter":  # while it is copied or unpickled
            raise AttributeError(name)
        found = getattr(self._adapter, name)
        return partial(self._batch_evaluate, found) if name == "batch_evaluate" else found

    def evaluate(self, batch: list[Any], candidate: dict[str, str],
                 capture_traces: bool = False) -> Any:
        """Evaluate a candidate on a batch; on the whole validation set, as described above."""
        if not self._is_valset(batch):
            return self._adapter.evaluate(batch, candidate, capture_traces)
        share = (share_of_delta(self._delta, self._number, self._n_candidates)
                 if self._best is not None else 0.0)
        self._number += self._best is not None
        rows = _Rows(len(batch), self._range)
        challenge = Challenge(len(batch), self._range, share) if share else None
        for block in self._blocks(len(batch), challenge):
            scores = rows.add(block, self._adapter.evaluate([batch[item] for item in block],
                                                            candidate, capture_traces))
            if challenge and challenge.tell(self._best[block].tolist(), scores):
                break
        self.n_evaluated += rows.n
        self.n_saved += len(batch) - rows.n
        if rows.n == len(batch) and (self._best is None
                                     or rows.scores.mean() > self._best.mean()):
            self._best = rows.scores
        return rows.result(capture_traces)

    def _batch_evaluate(self, evaluate: Callable[[Any], list[Any]],
                        pairs: list[tuple[dict[str, str], list[Any]]]) -> list[Any]:
        """Race the pairs with the whole validation set; your adapter gets the others at once."""
        others = [pair for pair in pairs if not self._is_valset(pair[1])]
        done = iter(evaluate(others) if others else [])
        return [self.evaluate(batch, candidate) if self._is_valset(batch) else next(done)
                for candidate, batch in pairs]

    def get_adapter_state(self) -> dict[str, Any]:
        """Return the state that GEPA saves: the best scores, and your adapter's state."""
        inner = getattr(self._adapter, "get_adapter_state", None)
        return {"best": None if self._best is None else self._best.tolist(),
                "number": self._number, "inner": inner() if inner else None}

    def set_adapter_state(self, state: dict[str, Any]) -> None:
        """Restore the state of `get_adapter_state`."""
        if not state:
            return
        best = state["best"]
        if best is not None and len(best) != len(self._valset):
            raise ValueError(f"state must be of a validation set of {len(self._valset)} items; got "
                             f"{len(best)} scores")
        self._best, self._number = best and np.array(best), state["number"]
        inner = getattr(self._adapter, "set_adapter_state", None)
        if inner and state["inner"] is not None:
            inner(state["inner"])

    def _is_valset(self, batch: list[Any]) -> bool:
        return len(batch) == len(self._valset) and all(
            one is other or _equal(one, other)
            for one, other in zip(batch, self._valset, strict=True))

    def _blocks(self, n: int, challenge: Challenge | None) -> list[list[int]]:
        """Return the items of each call: all at once if there is nothing to stop for."""
        if challenge is None:
            return [list(range(n))]
        order = self._rng.permutation(n).tolist()
        return [order[i:i + self._block_size] for i in range(0, n, self._block_size)]


class _Rows:
    """Results of the items of a batch, in the order of the batch."""

    def __init__(self, n: int, value_range: tuple[float, float]) -> None:
        self._range = value_range
        self.n, self.scores = 0, np.full(n, value_range[0])
        self._outputs: list[Any] = [None] * n
        self._traces: list[Any] = [None] * n
        self._objectives: list[Any] = [None] * n
        self._names: dict[str, float] = {}

    def add(self, items: list[int], part: Any) -> list[float]:
        """Put in the results of some items; return their scores."""
        low, high = self._range
        scores = check_in("scores of the adapter", part.scores,
                          f"within value_range=({low:g}, {high:g})",
                          lambda x: (x >= low) & (x <= high))
        if scores.shape != (len(items),):
            raise ValueError(f"scores of the adapter must be one per item, {len(items)}; got shape "
                             f"{scores.shape}")
        self.n += len(items)
        self.scores[items] = scores
        objectives = part.objective_scores or []
        for target, values in ((self._outputs, part.outputs), (self._traces, part.trajectories),
                               (self._objectives, objectives)):
            for item, value in zip(items, values or [], strict=False):
                target[item] = value
        for one in objectives:
            self._names.update(dict.fromkeys(one, low))
        return scores.tolist()

    def result(self, capture_traces: bool) -> Any:
        """Return the results as GEPA expects them; items that were not read have the lowest."""
        batch = require("gepa.core.adapter", "gepa").EvaluationBatch
        objectives = [self._names if one is None else one for one in self._objectives]
        return batch(self._outputs, self.scores.tolist(), self._traces if capture_traces else None,
                     objectives if self._names else None, self.n)


def _equal(one: Any, other: Any) -> bool:
    """Return True if two items are equal; items that cannot be compared are not."""
    try:
        return bool(one == other)
    except Exception:
        return False
