"""Display of studies in notebooks: a sentence and a table."""

from html import escape
from typing import Any

from pybandit._shared.html import number, table

ROWS = 20  # maximum number in a table


class NotebookDisplay:
    """Base class of objects that notebooks show as HTML."""

    def _repr_html_(self) -> str:
        return study_html(self)


def study_html(study: Any) -> str:
    """Return a study's state and best arms; its repr if the file is closed or damaged."""
    try:
        status, best = study._read(lambda _: (study.status(), study.recommend()))
    except (ValueError, OSError):
        return f"<code>{escape(repr(study))}</code>"
    state = "done" if status.done else "in progress"
    if status.open_batch is not None:
        state += f"; batch {status.open_batch} is open, {status.n_open:,} results pending"
    return (f"<p>{escape(status.path)}: {escape(status.policy)}, {status.n_arms:,} arms; "
            f"{status.n_batches:,} batches and {status.n_pulls:,} pulls spent; {state}.</p>"
            + recommendation_html(best))


def recommendation_html(best: Any) -> str:
    """Return a table of the best arms with results, and the number of arms without a result."""
    rows = [(name, number(mean), f"{pulls:,}") for name, mean, pulls in
            zip(best.best_names, best.means.tolist(), best.pulls.tolist(), strict=True) if pulls]
    notes = []
    if len(rows) > ROWS:
        notes.append(f"and {len(rows) - ROWS:,} more")
    if best.unmeasured.size:
        notes.append(f"{best.unmeasured.size:,} arms without a result")
    shown = table(("best", "mean", "results"), rows[:ROWS]) if rows else "<p>No result yet.</p>"
    return shown + f"<p>{'; '.join(notes)}</p>" * bool(notes)
