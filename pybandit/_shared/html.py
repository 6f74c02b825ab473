"""Tables of HTML for notebooks: plain ones, in the colours of whoever shows them."""

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["table"]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of text.

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
