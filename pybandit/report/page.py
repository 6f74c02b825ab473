"""Self-contained HTML page without scripts and external files."""

import os
import platform
import sqlite3
from datetime import UTC, datetime
from html import escape
from pathlib import Path

import numpy as np

from pybandit._shared.checks import listed
from pybandit._shared.database_files import published
from pybandit._shared.version import __version__
from pybandit.report._style import STYLE
from pybandit.report._tables import count, name_of, section, table


def write_page(path, text):
    """Write a page atomically; replaces an existing page, but not a database."""
    path = os.fspath(path)
    if os.path.isfile(path):
        with open(path, "rb") as file:
            if file.read(13) == b"SQLite format":
                raise ValueError(f"path must be a page or a new file; {path} is a database")
    content = text.encode("utf-8", "replace")
    with published(path, overwrite=True) as draft:
        Path(draft).write_bytes(content)


def page(title, content):
    """Return a page around its content."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body><main>"
        f"{content}\n</main></body></html>\n")


def title_of(settings, default):
    """Return the title that the settings hold, or the default."""
    title = settings.get("title")
    return title if isinstance(title, str) and title.strip() else default


def content(title, *parts):
    """Return the body of a page; HTML."""
    return f"<h1>{escape(title)}</h1>\n" + "\n".join(parts)


def summary(status, tiles, noun):
    """Return the goal, the state, and tiles of pulls and batches; HTML."""
    state = "done" if status.done else "in progress"
    if not status.done and status.open_batch is not None:
        state += f"; batch {status.open_batch} is open"
    wanted = f"the best {noun}" if status.k == 1 else f"the {status.k:,} best {noun}s"
    return (f'<p>Wanted: {wanted} of {status.n_arms:,}; {state}. '
            f'<span class="soft">Method: {escape(status.policy)}. '
            f"Created {moment(status.created)}, last change "
            f"{moment(status.changed)}.</span></p>"
            f"{silent_arms(status.silent, noun)}{tiles}")


def silent_arms(names, noun):
    return (f"<p>Silent {noun}s, without recent results: {escape(listed(names))}</p>" if names
            else "")


def record(facts, amended, column, entry_of):
    """Return a section with the last events and the digest of the log.

    Parameters
    ----------
    facts : object
        Has status, events and version.
    amended : str
        Table of corrections; HTML.
    column : str
        Heading of the column with the subject of an event, such as batch.
    entry_of : callable
        Returns the entry of this column from the body of an event.
    """
    status = facts.status
    rows = [("", [str(event.number), event.kind, escape(str(entry_of(event.body))),
                  moment(event.time), name_of(event.who)]) for event in reversed(facts.events)]
    return section(
        "record", "The record", amended,
        f"<p>{count(status.n_events, 'event')}, each with a digest (SHA-256) of all before it. "
        f"The last digest:<br><code id=\"head\">{status.head}</code><br>Keep it to show later that "
        "no earlier event was changed: <code>pybandit study verify --head</code>, or "
        "<code>Study.verify(head)</code>.</p>",
        "<details><summary>The last events</summary>",
        table("The last first", ["event", "kind", column, "when (UTC)", "who"], rows, {1, 3, 4}),
        "</details>",
        f'<p class="soft">Created with pybandit {escape(facts.version)}; this page by pybandit '
        f"{__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"SQLite {sqlite3.sqlite_version}, {moment(datetime.now(UTC).timestamp())}.</p>")


def moment(seconds):
    """Return a time in UTC; HTML."""
    when = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    return f"<time>{when}</time>"
