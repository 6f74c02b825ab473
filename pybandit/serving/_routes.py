"""What the server answers to: a table of paths. What changes the study goes through its writer."""

import tempfile
from collections.abc import Callable
from typing import NamedTuple

from pybandit._shared.checks import shown
from pybandit.serving._http import Answer, Refused
from pybandit.serving._live import SCRIPT, html, page_of, sign_in
from pybandit.serving._open import export_of, method_of, report_of, study_of
from pybandit.studies._plain import as_json, best_of, number

SIGN_IN_BYTES = 2048


class Route(NamedTuple):
    """What a path does, who may ask for it ("" for everybody), and the fields that it takes.

    `do(server, fields, token)` returns an `Answer`, or plain values.
    """

    do: Callable
    role: str
    takes: tuple[str, ...] = ()
    may_take: tuple[str, ...] = ()
    body: str = "json"

    @property
    def has_results(self):
        """True if the size of a body grows with the results in it."""
        return "results" in self.takes


async def ask(server, fields, token):
    batch = await server.writer.record(lambda study: method_of(study, "ask")(), token.who)
    if batch is None:
        return {"done": True, "batch_id": None, "arms": [], "names": []}
    items = {} if batch.items is None else {"items": batch.items.tolist()}
    return {"done": False, "batch_id": batch.id, "arms": batch.arms.tolist(),
            "names": batch.names, **items}


async def tell(server, fields, token):
    done = await server.writer.record(lambda study: method_of(study, "tell")(**fields), token.who)
    return done.to_dict()


async def amend(server, fields, token):
    done = await server.writer.record(lambda study: method_of(study, "amend")(**fields), token.who)
    return done.to_dict()


async def tell_counts(server, fields, token):
    given = {"key": None, "cumulative": False, "repeated": False} | fields
    done, doubts = await server.writer.record(
        lambda study: method_of(study, "_tell_counts")(**given, who=None, rng=None), token.who)
    return done.to_dict() | {"warnings": doubts}


async def amend_counts(server, fields, token):
    done = await server.writer.record(
        lambda study: method_of(study, "amend_counts")(**fields), token.who)
    return done.to_dict()


async def close_batch(server, fields, token):
    await server.writer.record(lambda study: method_of(study, "close_batch")(**fields), token.who)
    return {"batch_id": fields["batch_id"]}


async def abandon(server, fields, token):
    if not isinstance(fields.get("discard", False), bool):
        raise Refused(400, f"discard must be true or false; got {shown(fields['discard'])}")
    await server.writer.record(lambda study: method_of(study, "abandon")(**fields), token.who)
    return {"batch_id": fields["batch_id"]}


async def status(server, fields, token):
    study = server.study
    return await server.read(
        lambda: study_of(study)._read(lambda _: as_json(study.status(), study)))


async def recommend(server, fields, token):
    best = await server.read(server.study.recommend)
    return {"best": best_of(best), "unmeasured": best.unmeasured.tolist()}


async def batch(server, fields, token):
    text = fields["batch_id"]
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise Refused(400, f"batch_id must be an integer; got {text[:60]!r}")
    found = await server.read(lambda: method_of(server.study, "batch")(int(text)))
    return {"batch_id": found.id, "names": found.names, "status": found.status,
            "values": [number(value) for value in found.values.tolist()],
            "states": found.states.tolist()}


async def export(server, fields, token):
    def write():
        file = tempfile.TemporaryFile()
        try:
            # not to the connection: who reads slowly would hold up the study's log
            export_of(server.pages)(
                lambda text: file.write(text.encode("utf-8", "surrogatepass")))
        except BaseException:
            file.close()
            raise
        return file

    return Answer(200, "text/csv; charset=utf-8", await server.make(write),
                  {"Content-Disposition": 'attachment; filename="wells.csv"'})


async def report(server, fields, token):
    text = await server.make(lambda: report_of(server.pages).page_text(server.pages))
    return html(text.encode("utf-8", "replace"))


async def live(server, fields, token):
    if token is None:
        return sign_in("A study")
    title, content, _ = await server.live.report()
    return html(page_of(title, content, SCRIPT))


async def part(server, fields, token):
    _, content, head = await server.live.report()
    return html(b"" if head == fields.get("head") else content.encode("utf-8", "replace"))


async def events(server, fields, token):
    return Answer(200, "text/event-stream", server.live.events())


async def login(server, fields, token):
    found = server.door.find(fields["token"].strip(), "secret")
    if found is None:
        return sign_in("A study", "This is no token of the study.")
    cookie = f"{server.door.cookie}={found.cookie}; HttpOnly; SameSite=Strict"
    return html(b"", 303, **{"Location": "./", "Set-Cookie": cookie})


ROUTES = {
    "/": {"GET": Route(live, "")},
    "/login": {"POST": Route(login, "", ("token",), body="form")},
    "/part": {"GET": Route(part, "read", (), ("head",))},
    "/events": {"GET": Route(events, "read")},
    "/status": {"GET": Route(status, "read")},
    "/recommend": {"GET": Route(recommend, "read")},
    "/batch": {"GET": Route(batch, "read", ("batch_id",))},
    "/report": {"GET": Route(report, "read")},
    "/export": {"GET": Route(export, "read")},
    "/ask": {"POST": Route(ask, "record")},
    "/tell": {"POST": Route(tell, "record", ("batch_id", "results"), ("positions", "missing"))},
    "/amend": {"POST": Route(amend, "record", ("batch_id", "results", "positions", "reason"))},
    "/tell_counts": {"POST": Route(tell_counts, "record", ("counts",),
                                   ("key", "cumulative", "repeated"))},
    "/amend_counts": {"POST": Route(amend_counts, "record", ("key", "counts", "reason"))},
    "/close_batch": {"POST": Route(close_batch, "record", ("batch_id",))},
    "/abandon": {"POST": Route(abandon, "record", ("batch_id",), ("discard",))},
}


def route_of(request):
    """The route of a request; HEAD is GET without the body."""
    methods = ROUTES.get(request.path)
    if methods is None:
        raise Refused(404, f"the path must be one of {', '.join(ROUTES)}")
    found = methods.get("GET" if request.method == "HEAD" else request.method)
    if found is None:
        allowed = ", ".join([*methods, *["HEAD"] * ("GET" in methods)])
        raise Refused(405, f"the method must be {allowed}; got {request.method}", Allow=allowed)
    return found
