"""Studies in notebooks: a sentence and a table."""

from html import escape
from typing import Any

from pybandit._shared.html import number, table

ROWS = 20  # of a table in a notebook


class Shown:
    """What a notebook shows in place of `repr`."""

    def _repr_html_(self) -> str:
        return study_html(self)


def study_html(study: Any) -> str:
    """Where a study is, and what is best by now; where its file is closed or damaged its repr."""
    try:
        status, best = study._read(lambda _: (study.status(), study.recommend()))
    except (ValueError, OSError):
        return f"<code>{escape(repr(study))}</code>"
    state = "done" if status.done else "going on"
    if status.open_batch is not None:
        state += f"; batch {status.open_batch} is out, {status.n_open:,} not yet known of it"
    return (f"<p>{escape(status.path)}: {escape(status.policy)}, {status.n_arms:,} arms; "
            f"{status.n_batches:,} batches and {status.n_pulls:,} pulls spent; {state}.</p>"
            + recommendation_html(best))


def recommendation_html(best: Any) -> str:
    """The arms found that have a reward, and how many have none."""
    rows = [(name, number(mean), f"{pulls:,}") for name, mean, pulls in
            zip(best.best_names, best.means.tolist(), best.pulls.tolist(), strict=True) if pulls]
    notes = []
    if len(rows) > ROWS:
        notes.append(f"and {len(rows) - ROWS:,} more")
    if best.unmeasured.size:
        notes.append(f"{best.unmeasured.size:,} arms without a result")
    shown = table(("best", "mean", "results"), rows[:ROWS]) if rows else "<p>No result yet.</p>"
    return shown + f"<p>{'; '.join(notes)}</p>" * bool(notes)
