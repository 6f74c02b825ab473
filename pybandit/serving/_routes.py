"""Routes of the server. Requests that change the study go through its writer."""

from collections.abc import Callable
from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, StreamingResponse

from pybandit._shared.checks import shown
from pybandit.serving import _study
from pybandit.serving._live import SCRIPT, html, page_of, sign_in

SIGN_IN_BYTES = 2048


class Rule(NamedTuple):
    """A route: HTTP method, action, required role ("" for none), and fields.

    The action `do(server, fields, token)` returns a response or plain values.
    """

    method: str
    do: Callable
    role: str
    takes: tuple[str, ...] = ()
    may_take: tuple[str, ...] = ()
    body: str = "json"
    is_endless: bool = False

    @property
    def has_results(self):
        """True if the size of a body grows with the results in it."""
        return "results" in self.takes


async def ask(server, fields, token):
    batch = await server.writer.record(lambda study: _study.method_of(study, "ask")(), token.who)
    if batch is None:
        return {"done": True, "batch_id": None, "arms": [], "names": []}
    items = {} if batch.items is None else {"items": batch.items.tolist()}
    return {"done": False, "batch_id": batch.id, "arms": batch.arms.tolist(),
            "names": batch.names, **items}


def recorded(name):
    """Return an action that calls the study's method `name` to record results or counts."""
    async def do(server, fields, token):
        done = await server.writer.record(
            lambda study: _study.method_of(study, name)(**fields), token.who)
        return done.to_dict()

    return do


async def tell_counts(server, fields, token):
    return await server.writer.record(lambda study: _study.tell_counts(study, **fields), token.who)


def ended(name):
    """Return an action that calls the study's method `name` to end a batch."""
    async def do(server, fields, token):
        if not isinstance(fields.get("discard", False), bool):
            raise HTTPException(400, "discard must be true or false; got "
                                     f"{shown(fields['discard'])}")
        await server.writer.record(
            lambda study: _study.method_of(study, name)(**fields), token.who)
        return {"batch_id": fields["batch_id"]}

    return do


async def status(server, fields, token):
    return await server.read(lambda: _study.status_of(server.study))


async def recommend(server, fields, token):
    return await server.read(lambda: _study.recommended(server.study))


async def batch(server, fields, token):
    text = fields["batch_id"]
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise HTTPException(400, f"batch_id must be an integer; got {text[:60]!r}")
    return await server.read(lambda: _study.batch_of(server.study, int(text)))


async def export(server, fields, token):
    file = await server.make(lambda: _study.file_of_results(server.pages))
    size = file.seek(0, 2)

    async def parts():
        with file:
            file.seek(0)
            while part := file.read(1 << 16):
                yield part

    return StreamingResponse(parts(), 200, {
        "Content-Length": str(size), "Content-Disposition": 'attachment; filename="wells.csv"'},
        "text/csv; charset=utf-8")


async def report(server, fields, token):
    return html(await server.make(lambda: _study.report_of(server.pages).page_text(server.pages)))


async def live(server, fields, token):
    if token is None:
        return sign_in("A study")
    title, content, _ = await server.live.report()
    return html(page_of(title, content, SCRIPT))


async def part(server, fields, token):
    _, content, head = await server.live.report()
    return html("" if head == fields.get("head") else content)


async def events(server, fields, token):
    return StreamingResponse(server.live.events(), media_type="text/event-stream")


async def login(server, fields, token):
    found = server.door.find(fields["token"].strip(), "secret")
    if found is None:
        return sign_in("A study", "This is not a token of the study.")
    done = RedirectResponse("./", 303)
    done.set_cookie(server.door.cookie, found.cookie, path=None, httponly=True, samesite="strict")
    return done


# searched in this order
RULES = {
    "/ask": Rule("POST", ask, "record"),
    "/tell": Rule("POST", recorded("tell"), "record", ("batch_id", "results"),
                  ("positions", "missing")),
    "/": Rule("GET", live, ""),
    "/login": Rule("POST", login, "", ("token",), body="form"),
    "/part": Rule("GET", part, "read", (), ("head",)),
    "/events": Rule("GET", events, "read", is_endless=True),
    "/status": Rule("GET", status, "read"),
    "/recommend": Rule("GET", recommend, "read"),
    "/batch": Rule("GET", batch, "read", ("batch_id",)),
    "/report": Rule("GET", report, "read"),
    "/export": Rule("GET", export, "read"),
    "/amend": Rule("POST", recorded("amend"), "record",
                   ("batch_id", "results", "positions", "reason")),
    "/tell_counts": Rule("POST", tell_counts, "record", ("counts",),
                         ("key", "cumulative", "repeated")),
    "/amend_counts": Rule("POST", recorded("amend_counts"), "record", ("key", "counts", "reason")),
    "/close_batch": Rule("POST", ended("close_batch"), "record", ("batch_id",)),
    "/abandon": Rule("POST", ended("abandon"), "record", ("batch_id",), ("discard",)),
}
