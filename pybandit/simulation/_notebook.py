"""Results of simulations in notebooks."""

from pybandit._shared.html import table


def to_html(results):
    """A table for a notebook, of one result or many by name."""
    rows = []
    for name, one in results.items():
        low, high = one.error_interval
        rows.append((name, f"{one.error_probability:.4g} ({low:.4g} to {high:.4g})",
                     f"{one.mean_regret:.4g}", f"{one.mean_pulls:,.0f}",
                     f"{one.mean_batches:,.0f}"))
    n_runs = next(iter(results.values())).n_runs
    head = ("policy" if any(results) else "", "error (95 %)", "regret", "pulls", "batches")
    return f"<p>{n_runs:,} runs{' of each' * (len(rows) > 1)}</p>{table(head, rows)}"
