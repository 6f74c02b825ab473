"""Parse reports, and create a study to report on."""

import re
from collections import Counter
from html.parser import HTMLParser

import numpy as np

import pybandit as pb
from pybandit.lab.plates import Layout, Plates
from pybandit.serving._study import report_of

VOID = {"meta", "br"}
SCREEN = Plates(Layout(4, 6), (0, 6, 12, 18), "virus <only>", True, True, True)


class Page(HTMLParser):
    """A parsed page: elements, attributes and text; raises if tags do not match."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], Counter(), [], ""
        self.rows = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags[tag] += 1
        self.attributes += [(tag, *pair) for pair in attributes]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags[tag] += 1
        self.attributes += [(tag, *pair) for pair in attributes]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data
            if {"td", "th"} & set(self.open):
                self.rows[-1][-1] += data


def page_of(study, tmp_path, **options):
    """Return a parsed report, after checking that it is well formed and needs no network."""
    path = tmp_path / "report.html"
    assert report_of(study).write_report(study, path, **options) is None
    text = path.read_text("utf-8")
    page = Page(text)
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids)) > 0
    names = {name for _, name, _ in page.attributes}
    assert not names & {"src", "href", "action", "xlink:href", "srcset"}
    assert not any(name.startswith("on") for name in names)
    assert not set(page.tags) & {"script", "link", "img", "iframe", "object", "form", "base"}
    assert "url(" not in text and "@import" not in text and "http:" not in text
    assert not re.search(r"\b(nan|inf|NaN|Infinity)\b", re.sub(r">[^<]*<", "><", text))
    study.verify()
    return page


def screened(n=40, batches=12, path=":memory:", names=None, settings=None):
    """Return a study on small plates.

    Plate 1 has a lost and a late well, plate 2 was abandoned, and plate 3 has an outlier. Half of
    the wells of the last plate are known.
    """
    policy = pb.policies.BatchSAR(n, 3, batch_size=SCREEN.n_free, max_batches=20, max_repeats=4)
    study = pb.Study.create(path, policy, names, who="Ada <ada@lab>",
                            settings=SCREEN.settings() if settings is None else settings)
    rng, quality = np.random.default_rng(5), np.linspace(-1.0, 1.0, n)
    for number_ in range(batches):
        batch = study.ask()
        values = quality[batch.arms] + rng.normal(0.0, 0.5, batch.arms.size)
        if number_ == 1:
            told = values.copy()
            told[[3, 7]] = np.nan
            study.tell(batch.id, told, missing="drop")
            study.tell(batch.id, values[7:8], positions=[7])
        elif number_ == 2:
            study.abandon(batch.id)
        elif number_ == batches - 1:
            study.tell(batch.id, values[:10], positions=np.arange(10))
        else:
            values[5] += 40.0 * (number_ == 3)
            study.tell(batch.id, values)
    return study
