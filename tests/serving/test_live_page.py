"""The live page in browsers: signing in, updates, on a phone, and in two at once."""

import asyncio
import contextlib
import threading
import time

import numpy as np
import pytest

import pybandit as pb
from pybandit.lab.plates import Layout, Plates
from serving.chrome import Browser
from serving.served import READ, Served, call, exchange, request, serving

from studies import browser

pytestmark = pytest.mark.skipif(browser.program() is None, reason="needs Chromium")
HEAD = "document.getElementById('head')?.textContent === '{}'"
WIDTHS = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"


@pytest.fixture
def path(tmp_path):
    settings = Plates(Layout(4, 6), (0, 6), normalise=True, log=True, flip=True).settings()
    pb.Study.create(tmp_path / "study.db",
                    pb.policies.BatchSAR(60, 30, batch_size=22, max_batches=30, max_repeats=4),
                    [f"gene <{i}> & co, which has a name that is long" for i in range(60)],
                    settings=settings).close()
    return tmp_path / "study.db"


@pytest.fixture
def browsers(tmp_path):
    with contextlib.ExitStack() as stack:
        def one(name):
            new = Browser(tmp_path / name)
            stack.callback(new.close)
            return new
        yield one


def sign_in(page, url):
    page.go(url)
    page.wait("!!document.getElementById('token')")
    page.value(f"document.getElementById('token').value = '{READ}'; "
               "document.querySelector('form').submit()")
    # the status line is there before the report
    page.wait("document.readyState === 'complete' && !!document.getElementById('live')")


def tell_all(port):
    """Carry out one batch."""
    batch = call(port, "POST", "/ask")[1]
    values = np.random.default_rng(batch["batch_id"]).normal(size=len(batch["arms"])).tolist()
    assert call(port, "POST", "/tell", {"batch_id": batch["batch_id"],
                                        "results": values})[1]["complete"]
    return call(port, "GET", "/status")[1]["head"]


def carry_out_by_two(port):
    """Carry out a batch well by well with two concurrent clients."""
    batch = call(port, "POST", "/ask")[1]

    def work(part):
        for position in range(part, len(batch["arms"]), 2):
            assert call(port, "POST", "/tell", {
                "batch_id": batch["batch_id"], "results": [0.1 * position],
                "positions": [position]})[1]["n_new"] == 1

    threads = [threading.Thread(target=work, args=(part,)) for part in (0, 1)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()


def test_two_browsers_show_changes(path, browsers):
    """Both update by themselves while clients record; one of them is a phone."""
    with serving(path) as server:
        wide, phone = browsers("wide"), browsers("phone")
        wide.size(1200, 900)
        phone.size(390, 844, phone=True)
        for page in (wide, phone):
            sign_in(page, server.url)
            assert "No results yet" in page.value("document.body.innerText")
            page.console.clear()  # the first page was the one for signing in
        carry_out_by_two(server.port)
        for page in (wide, phone):
            page.wait("document.querySelectorAll('.dot.chosen').length === 22")
            page.value("document.querySelector('details').open = true; window.mark = 7; "
                       "window.scrollTo(0, 300)")
        heads = [tell_all(server.port) for _ in range(3)]
        for page in (wide, phone):
            page.wait(HEAD.format(heads[-1]))
            # the same page, not loaded again
            assert page.value("window.mark") == 7 and page.value("window.scrollY") == 300
            assert page.value("document.querySelectorAll('figure').length") == 4 + 4
            assert page.value("document.getElementById('live').textContent").startswith("live")
            assert page.value("document.querySelectorAll('.dot.chosen').length") == 30
            found = page.value(WIDTHS)
            assert found[0] == found[1], "it is wider than the screen"
            assert page.console == []
        assert phone.value(WIDTHS) == [390, 390]


def test_page_reconnects_to_restarted_server(path, browsers):
    with serving(path) as server:
        page = browsers("one")
        sign_in(page, server.url)
        page.wait("document.getElementById('live').textContent === 'live'")
    page.wait("document.getElementById('live').className === 'off'")
    again = Served(path, "--port", str(server.port))
    try:
        head = tell_all(again.port)
        page.wait(HEAD.format(head))
        page.wait("document.getElementById('live').className === ''")
    finally:
        assert again.stop() == 0


def test_browser_without_sign_in_sees_nothing(path, browsers):
    with serving(path) as server:
        page = browsers("one")
        page.go(server.url)
        page.wait("!!document.getElementById('token')")
        page.value("document.getElementById('token').value = 'x'.repeat(20); "
                   "document.querySelector('form').submit()")
        page.wait("document.body.innerText.includes('not a token of the study')")
        assert "gene" not in page.value("document.documentElement.innerHTML")
        # an injected script would not run
        assert page.value("const one = document.createElement('script'); "
                          "one.textContent = 'window.ran = 1'; document.body.append(one); "
                          "window.ran") is None


def test_report_is_made_once_for_all_clients(path):
    with serving(path) as server:
        head = tell_all(server.port)
        first = exchange(server.port, request("GET", "/part"))[2]
        assert head.encode() in first
        assert exchange(server.port, request("GET", "/part"))[2] == first
        # and a client that has it gets an empty answer
        assert exchange(server.port, request("GET", f"/part?head={head}"))[2] == b""


def test_slow_report_is_made_rarely(path, monkeypatch):
    """Clients with an old report are notified again when there is a newer one."""
    from pybandit.serving import _live

    made, study = [], pb.Study.open(path)
    monkeypatch.setattr(_live, "PERIOD", 0.02)
    monkeypatch.setattr(_live, "REST", 0.0)

    class Here:
        """A server without threads, whose reports take a moment."""

        def __init__(self):
            self.study = self.pages = study
            self.live = _live.Live(self)

        async def read(self, work):
            return work()

        async def make(self, work):
            made.append(1)
            result = work()
            self.live._next = 0.0
            return result

    async def main():
        live = Here().live
        watching, events = asyncio.create_task(live.watch()), live.events()
        first = (await anext(events)).decode().split("data: ")[1].strip()
        assert first == (await live.report())[2] == (await live.report())[2] and len(made) == 1
        study.ask()
        live._next = time.monotonic() + 0.3
        told = (await anext(events)).decode()
        assert first not in told and (await live.report())[2] == first and len(made) == 1
        # not before it is due, and then even without another change
        assert (await anext(events)).decode() == told and time.monotonic() > live._next
        assert (await live.report())[2] in told and len(made) == 2
        watching.cancel()
        await events.aclose()
        assert live.n_listeners == 0

    asyncio.run(main())
    study.close()
