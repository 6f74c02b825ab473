"""HTML tables for notebooks, and numbers for tables and plots."""

import math
from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["number", "table"]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return an HTML table of text; it takes the colours of the page.

    Examples
    --------
    >>> from pybandit._shared.html import table
    >>> table(["arm"], [["tea & milk"]]).partition("<tbody>")[2]
    '<tr><td>tea &amp; milk</td></tr></tbody></table>'
    """
    heads = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
                   for row in rows)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def number(value: float, digits: int = 4) -> str:
    """Return a number as text for a table or an axis; a dash if it is not finite."""
    if not math.isfinite(value):
        return "–"
    form = ",.0f" if 1000 <= abs(value) < 1e7 else f".{digits}g"
    return f"{value:{form}}".replace("-", "\N{MINUS SIGN}")
