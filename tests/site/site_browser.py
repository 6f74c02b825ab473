"""The built site in Chromium, from a local server, in the sizes of a desktop and a phone."""

import functools
import http.server
import threading

import pytest

from serving.chrome import Browser

from compiler import ROOT
from studies import browser

SITE = ROOT / "build" / "docs" / "html"
pytestmark = pytest.mark.skipif(browser.program() is None, reason="needs Chromium")

KINDS = ["index.html", "start/install.html", "start/which_function.html",
         "tutorials/index.html", "tutorials/choose_a_model.html", "tutorials/plates.html",
         "howto/index.html", "choosing_models.html", "studies.html", "inside_samplers.html",
         "explanation/index.html", "promises.html", "reference/index.html",
         "reference/policies.html", "reference/command_line.html", "reference/c/racing.html",
         "reference/api/pybandit.policies.BatchSAR.html", "reference/api/pybandit.best_of.html",
         "reference/api/pybandit.mcmc.ExactMinibatch.html", "reference/changelog.html",
         "gallery/index.html", "gallery/policies/few_plates.html",
         "gallery/lab/plate_screen.html", "genindex.html"]
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# the smallest contrast between text and background of all matching elements, as in WCAG 2
CONTRAST = """(selector => {
  const parts = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const behind = node => { for (let one = node; one; one = one.parentElement) {
    const colour = parts(getComputedStyle(one).backgroundColor);
    if (colour.length < 4 || colour[3] > 0) return colour; } return [255, 255, 255]; };
  return Math.min(21, ...[...document.querySelectorAll(selector)].map(node => {
    const two = [light(parts(getComputedStyle(node).color)), light(behind(node))];
    return (Math.max(...two) + .05) / (Math.min(...two) + .05); })); })"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def site():
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=SITE))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    one = Browser(tmp_path_factory.mktemp("browser") / "profile")
    yield one
    one.close()


@pytest.fixture(autouse=True)
def nothing_goes_wrong(site, page):
    """Check that the console has no error, and that no request leaves the machine."""
    page.console.clear()
    page.requested.clear()
    yield
    assert not page.console, page.console
    assert page.requested and all(url.startswith((site, "data:", "blob:", "about:"))
                                  for url in page.requested), page.requested


@pytest.mark.parametrize("name", KINDS)
def test_a_page_fits_a_phone_and_is_readable_light_and_dark(name, site, page):
    page.size(390, 844, phone=True)
    for scheme in "light", "dark":
        page.colours(scheme)
        page.go(site + name)
        assert page.value("document.documentElement.dataset.theme") == scheme
        assert page.value(WIDER) <= 0, scheme
        assert page.value(f"{CONTRAST}('.bd-article p, .bd-article li, .bd-article h1')") > 7
        assert page.value(f"{CONTRAST}('.bd-article a:not(.headerlink), .bd-article code, "
                          ".bd-article pre span')") > 4.5
    page.size(1300, 900)
    page.go(site + name)
    assert page.value(WIDER) <= 0
    assert page.value("[...document.images].every(image => image.complete && "
                      "(image.naturalWidth > 0 || image.loading === 'lazy'))")


def test_the_search_finds_a_class(site, page):
    page.size(1300, 900)
    page.go(f"{site}search.html?q=BatchSAR")
    page.wait("document.querySelectorAll('#search-results li a').length > 3")
    first = page.value("document.querySelector('#search-results li a').href")
    assert first.startswith(f"{site}reference/api/pybandit.policies.BatchSAR.html")


def test_the_search_is_reached_from_the_first_page(site, page):
    """The button opens a field that leads to the results."""
    page.size(1300, 900)
    page.go(f"{site}index.html")
    page.value("document.querySelector('.search-button__button, .search-button-field').click()")
    page.wait("!!document.querySelector('dialog[open] input[type=search], "
              ".search-button__wrapper.show input')")
    page.value("(field => { field.value = 'BatchSAR'; field.form.submit(); })"
               "(document.querySelector('dialog[open] input, .search-button__wrapper input'))")
    page.wait("location.pathname.endsWith('search.html') && "
              "document.querySelectorAll('#search-results li a').length > 3")


def test_colours_can_be_changed_by_hand(site, page):
    page.size(1300, 900)
    page.colours("light")
    page.go(f"{site}index.html")
    page.value("document.documentElement.dataset.mode = 'dark'; "
               "document.documentElement.dataset.theme = 'dark'")
    assert page.value(f"{CONTRAST}('.bd-article p')") > 7


def test_errors_and_requests_are_noticed(site, page):
    page.go(f"{site}index.html")
    page.value("setTimeout(() => { throw Error('seen'); })")
    page.wait("true")
    page.value("fetch('/no_such_page.html')")
    page.wait("performance.getEntriesByType('resource').some(one => "
              "one.name.endsWith('no_such_page.html'))")
    texts = str(page.console)
    assert "seen" in texts and any(url.endswith("no_such_page.html") for url in page.requested)
    page.console.clear()
