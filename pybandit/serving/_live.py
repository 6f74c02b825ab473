"""The live page: the report of a study, and a script that replaces it by newer ones."""

import asyncio
import base64
import contextlib
import hashlib
import time
from html import escape

from starlette.responses import HTMLResponse

from pybandit._shared.errors import StudyError
from pybandit.serving._study import STYLE, head_of, report_of

PERIOD, BEAT = 1.0, 15.0  # seconds between checks of the study, and between keep-alive messages
# wait before the next report, as a multiple of the time that the last one took (at most 60 s)
REST = 4.0
MORE = """
#live{position:sticky;top:0;z-index:1;max-width:none;margin:0;padding:.25rem 1rem;
font-size:.85rem;color:var(--soft);background:var(--card)}
#live.off{background:var(--mark);color:var(--z8);font-weight:600}
form{max-width:24rem;display:grid;gap:.6rem}input,button{font:inherit;padding:.5rem .6rem;
border:1px solid var(--rule);border-radius:.4rem;background:var(--card);color:var(--ink)}
"""
SCRIPT = """
"use strict";
const main = document.querySelector("main"), line = document.getElementById("live");
let busy = false, again = false;
function say(text, off) { line.textContent = text; line.className = off ? "off" : ""; }
function shown() { const one = document.getElementById("head"); return one && one.textContent; }
async function refresh() {
  if (busy) { again = true; return; }
  busy = true;
  try {
    const answer = await fetch("part?head=" + (shown() || ""));
    if (answer.status === 401) { location.reload(); return; }
    if (!answer.ok) { throw new Error(answer.status); }
    const text = await answer.text();
    // empty: the newer report is not ready yet; an event will follow
    if (!text) { return; }
    const open = Array.from(document.querySelectorAll("details[open]"), (one) => one.id);
    const left = Array.from(document.querySelectorAll(".scroll"), (one) => one.scrollLeft);
    main.innerHTML = text;
    open.forEach((id) => { const one = document.getElementById(id); if (one) one.open = true; });
    document.querySelectorAll(".scroll").forEach((one, i) => { one.scrollLeft = left[i] || 0; });
    say("live; as of " + new Date().toLocaleTimeString());
  } catch (error) {
    say("not up to date: the server does not answer", true);
  } finally {
    busy = false;
    if (again) { again = false; refresh(); }
  }
}
const source = new EventSource("events");
source.onopen = () => say("live");
source.onmessage = (event) => { if (event.data !== shown()) refresh(); };
source.onerror = () => {
  say("not up to date: the server does not answer", true);
  if (source.readyState === EventSource.CLOSED) { setTimeout(() => location.reload(), 5000); }
};
"""
ONLY = "'sha256-" + base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode() + "'"
POLICY = ("default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; "
          "frame-ancestors 'none'; connect-src 'self'; script-src " + ONLY)


def page_of(title, content, script):
    """Return an HTML page; `script` may be ""."""
    body = ('<p id="live" role="status">live</p>' * bool(script) + f"<main>{content}</main>"
            + f"<script>{script}</script>" * bool(script))
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(title)}</title><style>{STYLE}{MORE}</style></head>\n"
            f"<body>{body}</body></html>\n")


def html(text, status=200):
    return HTMLResponse(text.encode("utf-8", "replace"), status,
                        {"Content-Security-Policy": POLICY})


def sign_in(title, words=""):
    """Return the page for signing in with a token."""
    note = f'<p class="soft">{escape(words)}</p>' * bool(words)
    return html(page_of(title, f"<h1>{escape(title)}</h1>{note}"
                        '<form method="post" action="login"><label for="token">A token of this '
                        'study</label><input id="token" name="token" type="password" required '
                        'autocomplete="current-password"><button>Show the study</button></form>',
                        ""), 401)


class Live:
    """The latest report, and the listeners to notify of newer ones."""

    def __init__(self, server):
        self._server = server
        self.head, self._is_old = "", False
        self._made, self._next, self._making = ("", "", ""), 0.0, asyncio.Lock()
        self._changed = asyncio.Condition()
        self.n_listeners = self._n_changes = 0
        self._is_over = False

    async def report(self):
        """Return title, content and digest of the report, which concurrent callers share."""
        async with self._making:
            if self._made[2] != await self._read_head():
                began = time.monotonic()
                # if it is too early to make a new report, listeners must be notified again later
                self._is_old = began < self._next
                if not self._is_old:
                    self._made = await self._server.make(self._make)
                    now = time.monotonic()
                    self._next = now + min(60.0, max(PERIOD / 2, REST * (now - began)))
            return self._made

    def _read_head(self):
        # it reads a single row, because it runs every second
        return self._server.read(lambda: head_of(self._server.study))

    def _make(self):
        pages = self._server.pages
        return report_of(pages).titled_content(pages)

    async def watch(self):
        """Notify listeners of changes to the file, by any process, until cancelled."""
        while True:
            await asyncio.sleep(PERIOD)
            if not self.n_listeners:
                continue
            # if the file cannot be read now, it is checked again later
            with contextlib.suppress(StudyError):
                head = await self._read_head()
                is_due = self._is_old and time.monotonic() >= self._next
                if head != self.head or is_due:
                    self.head, self._is_old = head, self._is_old and not is_due
                    await self._tell()

    async def end(self):
        """End all event streams when the server stops."""
        self._is_over = True
        await self._tell()

    async def _tell(self):
        self._n_changes += 1
        async with self._changed:
            self._changed.notify_all()

    async def events(self):
        """Yield server-sent events: the present digest of the study, and each new one."""
        self.n_listeners += 1
        try:
            heard, head = self._n_changes, await self._read_head()
            yield f"retry: 2000\ndata: {head}\n\n".encode()
            while not self._is_over:
                try:
                    async with asyncio.timeout(BEAT), self._changed:
                        # a counter, because a change may occur while the last one is being sent
                        while self._n_changes == heard:
                            await self._changed.wait()
                    heard = self._n_changes
                    yield f"data: {self.head}\n\n".encode()
                except TimeoutError:
                    yield b": still here\n\n"
        finally:
            self.n_listeners -= 1
