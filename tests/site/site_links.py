"""Files of the built site: no link is broken, and no page loads files from other servers.

`make docs` runs this. The site is in build/docs/html, or in the folder PYBANDIT_SITE.
"""

import html
import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from compiler import ROOT

SITE = Path(os.environ.get("PYBANDIT_SITE", ROOT / "build" / "docs" / "html"))
PAGES = {path.relative_to(SITE).as_posix(): path.read_text("utf-8")
         for path in SITE.rglob("*.html") if "_static" not in path.parts}
IDS = {name: set(re.findall(r'\b(?:id|name)="([^"]*)"', text)) for name, text in PAGES.items()}
# addresses of scripts, styles, images and fonts; links to papers do not count
LOADED = re.compile(r'<(?:script|img|iframe|source|video)\b[^>]*\bsrc="([^"]*)"|'
                    r'<link\b[^>]*\brel="(?:stylesheet|icon|preload|modulepreload)"[^>]*'
                    r'\bhref="([^"]*)"')


def test_the_site_is_built():
    assert len(PAGES) > 200, f"`make docs` builds {SITE}"


def broken(name, text):
    """Yield the broken links of a page."""
    for link in set(re.findall(r'<[^>]+\b(?:href|src)="([^"]*)"', text)):
        target = urlsplit(html.unescape(link))
        if target.scheme or target.netloc or link.startswith("data:"):
            continue
        path = os.path.normpath(os.path.join(os.path.dirname(name), unquote(target.path))) \
            if target.path else name
        if not (SITE / path).is_file():
            yield link
        elif target.fragment and path in IDS and unquote(target.fragment) not in IDS[path]:
            yield link


def test_no_link_or_anchor_is_broken():
    found = [(name, link) for name, text in PAGES.items() for link in broken(name, text)]
    assert not found, found[:20]


def test_broken_links_are_found():
    seen = set(broken("index.html", '<a href="no.html"><a href="index.html#no">'
                                    '<a href="reference/index.html"><a href="https://x.org/y">'))
    assert seen == {"no.html", "index.html#no"}


def test_pages_load_only_files_of_the_site():
    loaded = {(name, one or other) for name, text in PAGES.items()
              for one, other in LOADED.findall(text)}
    assert len(loaded) > len(PAGES)
    assert not [(name, link) for name, link in loaded if urlsplit(link).netloc]
    styles = list(SITE.rglob("*.css"))
    assert styles and not [path for path in styles if re.search(
        r"@import\s+(?:url\()?['\"]?(?:https?:)?//|url\(['\"]?(?:https?:)?//",
        path.read_text("utf-8"))]


@pytest.mark.parametrize("name", ["policies.BatchSAR", "best_of", "RacingSampler", "Study",
                                  "mcmc.ExactMinibatch", "stopping.GLR"])
def test_a_page_of_the_reference_has_a_signature_and_an_example(name):
    text = PAGES[f"reference/api/pybandit.{name}.html"]
    assert re.search(rf'<dt class="sig[^"]*" id="pybandit.{name}">', text)
    signature = re.search(r'<dt class="sig.*?</dt>', text, re.DOTALL)[0]
    assert 'class="sig-param"' in signature and ">self<" not in signature
    assert "doctest" in text or "&gt;&gt;&gt;" in text


def test_names_of_the_package_are_links():
    """A name in code links to its page, if there is one."""
    names = {path.stem.rpartition(".")[2] for path in SITE.glob("reference/api/*.html")
             if path.stem.rpartition(".")[2] not in ("race", "accept", "factor", "policy")}
    missing = []
    for page, text in PAGES.items():
        if page.startswith("reference/api/"):
            for match in re.finditer(r'(<a [^>]*>)?<code class="xref py py-obj[^"]*">'
                                     r'<span class="pre">(\w+)</span></code>', text):
                if match[2] in names and not match[1] and not page.endswith(f".{match[2]}.html"):
                    missing.append((page, match[2]))
    assert not missing, missing[:20]


# questions of a new user, and the pages with the answers
QUESTIONS = {
    "Which model is best, where every answer costs money?": "tutorials/choose_a_model.html",
    "Which of two pages converts, looked at every day?": "tutorials/ab_test.html",
    "Which twenty of 2,000 genes, on twelve plates?": "tutorials/plates.html",
    "How do I sample a posterior of a million rows?": "tutorials/million_rows.html",
    "How sure is the answer?": "promises.html",
    "How do I call it from C?": "reference/c_api.html",
    "Which function is for my question?": "start/which_function.html",
}


def pages_behind(name):
    """Yield the pages to which a page links."""
    for link in re.findall(r'<a\b[^>]*\bhref="([^"#]+)', PAGES[name]):
        path = os.path.normpath(os.path.join(os.path.dirname(name), link))
        if path in PAGES:
            yield path


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_is_two_clicks_from_the_first_page(question):
    one = set(pages_behind("index.html"))
    two = one.union(*map(set, map(pages_behind, one)))
    assert QUESTIONS[question] in two
