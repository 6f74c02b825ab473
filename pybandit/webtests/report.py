"""Write a web test as one self-contained HTML page."""

import os

import numpy as np

from pybandit.report import page
from pybandit.webtests._report_counts import counted_parts, counted_tiles
from pybandit.webtests._report_facts import facts_of
from pybandit.webtests._report_headline import headline
from pybandit.webtests._report_metrics import metrics_content, metrics_title
from pybandit.webtests.metrics import Metrics
from pybandit.webtests.webtest import WebTest


def write_report(test: WebTest | Metrics, path: str | os.PathLike[str], *,
                 title: str | None = None) -> None:
    """Write a web test as one HTML page.

    Parameters
    ----------
    test : WebTest or Metrics
        May have no counts yet, be open, or be done.
    path : str or path-like
        Page to write. An existing page is replaced; a crash leaves the old page or the new one.
    title : str, optional
        By default ``settings["title"]`` of the test, or the name of its file.

    Returns
    -------
    None

    Raises
    ------
    ValueError, StudyError, OSError
        As in `pybandit.lab.write_report`.

    Notes
    -----
    The page begins with the answer in a sentence, and the lift of each arm over the first one, the
    control, with intervals that hold at every look. Then it has all arms, the check of the split,
    rates over the batches, the last 24 batches, and the log's digest. The page of `Metrics` begins
    with the state of every metric, and has the lifts of each goal and the guardrails. Takes
    O(arms x batches) time, about 1 ms per batch.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pybandit as pb
    >>> test = pb.webtests.WebTest.create(":memory:", pb.CountRace(2), arms=["old", "new"])
    >>> _ = test.tell_counts({"old": (2500, 100), "new": (2500, 150)}, key="Monday")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = pathlib.Path(folder, "report.html")
    ...     pb.webtests.write_report(test, page)
    ...     "Monday" in page.read_text("utf-8")
    True
    """
    if isinstance(test, Metrics):
        title = metrics_title(test) if title is None else title
        page.write_page(path, page.page(title, metrics_content(test, title)))
        return
    facts = facts_of(test)
    title = facts.title if title is None else title
    page.write_page(path, page.page(title, _content(facts, title)))


def page_text(test: WebTest) -> str:
    """Return the page that `write_report` writes."""
    return page.page(*titled_content(test)[:2])


def titled_content(test: WebTest) -> tuple[str, str, str]:
    """Return title and content of a report, and the digest of the test that it shows."""
    facts = facts_of(test)
    return facts.title, _content(facts, facts.title), facts.status.head


@np.errstate(all="ignore")
def _content(facts, title):
    """Return the content of the page."""
    return page.content(
        title, headline(facts), page.silent_arms(facts.status.silent, facts.noun),
        counted_tiles(facts), *counted_parts(facts),
        page.record(facts, "", "batch", lambda body: body.get("key", "")))
