"""The application: checks of every request, and the answers to refused ones."""

import asyncio
import json
import math
import sys
import traceback
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pybandit._shared.errors import StudyError
from pybandit.serving import _protocol
from pybandit.serving._limits import PIECE, Busy, TooLarge, check_bytes, most_bytes, parsed
from pybandit.serving._routes import RULES, SIGN_IN_BYTES
from pybandit.serving._study import largest_batch

TARGET_BYTES = 2_048
# headers that must not be repeated: programs may read them differently; h11 rejects a second Host
ONCE = "authorization", "content-type", "expect", "cookie"
# A ValueError or TypeError of the study has the same message as in Python and on the command line.
STATUSES = {TooLarge: 413, Busy: 503, StudyError: 503, ValueError: 400, TypeError: 400,
            OverflowError: 400}


class Plain(JSONResponse):
    """JSON in ASCII, which can hold lone surrogates."""

    def render(self, content):
        return json.dumps(content, allow_nan=False).encode() + b"\n"


class LingeringRefusal(Plain):
    """The answer to a rejected request with an unread body.

    The body is read for up to LINGER seconds and dropped, and the connection is closed, so that no
    part of the body is read as a request.
    """

    async def __call__(self, scope, receive, send):
        self.headers["Connection"] = "close"
        await send({"type": "http.response.start", "status": self.status_code,
                    "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": True})
        try:
            async with asyncio.timeout(_protocol.LINGER):
                while (await receive()).get("more_body"):
                    pass
        except TimeoutError:
            pass
        await send({"type": "http.response.body"})


def application(server):
    """Return the ASGI application of a server."""
    app = Starlette(
        routes=[Route(path, _endpoint(server, rule), methods=[rule.method])
                for path, rule in RULES.items()],
        exception_handlers=dict.fromkeys([HTTPException, *STATUSES], _refused) | {
            Exception: _failed})
    app.router.redirect_slashes = False
    return app


def _endpoint(server, rule):
    async def endpoint(request):
        _check_head(request)
        server.door.check_host(request)
        token = server.door.token_of(request)
        if rule.role:
            server.door.check_role(token, rule.role)
        length = _length_of(request)
        await _check_body(server, rule, request, length)
        async with server.body_memory.for_body(length):
            fields = await _fields_of(server, rule, request, await _read(request, length))
            done = await rule.do(server, fields, token)
        if request.method == "HEAD" and rule.is_endless:
            return Response(media_type=done.media_type)
        return done if isinstance(done, Response) else Plain(done)

    return endpoint


def _check_head(request):
    """Reject invalid heads that uvicorn and Starlette accept."""
    if request.scope["http_version"] not in ("1.0", "1.1"):
        raise HTTPException(400, "the first line must be METHOD /path HTTP/1.1")
    if len(request.scope["raw_path"] + request.scope["query_string"]) >= TARGET_BYTES:
        raise HTTPException(414, f"the path must be at most {TARGET_BYTES} bytes")
    if request.scope["raw_path"] != request.scope["path"].encode():
        raise HTTPException(404)
    for name in ONCE:
        if len(request.headers.getlist(name)) > 1:
            raise HTTPException(400, f"the header {name} must be given once")
    if request.headers.get("expect", "100-continue").casefold() != "100-continue":
        raise HTTPException(417, "Expect must be 100-continue")


def _length_of(request):
    if "transfer-encoding" in request.headers:
        raise HTTPException(411, "the body must have a Content-Length; other encodings are "
                                 "not accepted")
    return int(request.headers.get("content-length", 0))


async def _check_body(server, rule, request, length):
    """Reject a body that is too large or of another type, before it is read."""
    if rule.has_results and length > most_bytes(server.n_results):
        # a batch larger than all before may have been requested
        server.n_results = await server.read(lambda: largest_batch(server.study))
    check_bytes(request.scope["path"], length, server.n_results if rule.has_results else None)
    if request.method != "POST" or rule.body == "form":
        if length > SIGN_IN_BYTES:
            raise HTTPException(413, f"the body must be at most {SIGN_IN_BYTES:,} bytes; got "
                                     f"{length:,}")
        return
    kind = request.headers.get("content-type", "application/json")
    if kind.partition(";")[0].strip().casefold() != "application/json":
        raise HTTPException(415, "the body must be application/json")


async def _read(request, length):
    """Return the body. No other reference to it is kept."""
    try:
        async with asyncio.timeout(_protocol.PATIENCE + length / 1e5):
            body = b"".join([part async for part in request.stream()])
    except TimeoutError:
        raise HTTPException(408, "the body did not arrive in time") from None
    except ClientDisconnect:
        body = b""
    request.state.is_read = True
    if len(body) < length:
        raise HTTPException(400, "the request ends before its body does", {"Connection": "close"})
    return body


async def _fields_of(server, rule, request, body):
    if request.method != "POST":
        pairs = request.query_params.multi_items()
        if len(dict(pairs)) < len(pairs):
            raise HTTPException(400, "a name must occur once after the ?")
        return _checked(dict(pairs), rule)
    if request.scope["query_string"]:
        raise HTTPException(400, "fields must be in the body, not after a ?")
    if rule.body == "form":
        return _checked(dict(parse_qsl(body.decode("latin-1"), max_num_fields=4)), rule)
    if len(body) <= PIECE:
        return _parsed_fields(body, rule)
    return await server.parse(lambda: _parsed_fields(body, rule, server.n_results))


def _parsed_fields(body, route, n_results=0):
    """Return the fields of a JSON body with up to `n_results` results; null in results is NaN.

    Raises
    ------
    HTTPException
        If the body is not an object, or has other fields than the route takes.
    """
    try:
        value = parsed(body, n_results)
    except (ValueError, RecursionError) as error:
        words = str(error) if isinstance(error, ValueError) else "it is nested too deeply"
        raise HTTPException(400, f"the body must be JSON: {words}") from None
    if not isinstance(value, dict):
        raise HTTPException(400, f"the body must be an object; got {type(value).__name__}")
    if len(body) <= PIECE and isinstance(value.get("results"), list):
        value["results"] = [math.nan if one is None else one for one in value["results"]]
    return _checked(value, route)


def _checked(value, route):
    """Return the fields after checking their names against the route."""
    for name in route.takes:
        if name not in value:
            raise HTTPException(400, f"{name} must be given")
    for name in value:
        if name not in (*route.takes, *route.may_take):
            known = ", ".join((*route.takes, *route.may_take)) or "nothing"
            raise HTTPException(400, f"fields must be among {known}; got {name[:60]!r}")
    return value


async def _refused(request, error):
    if not isinstance(error, HTTPException):
        status = next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)
        return _error_response(request, status, str(error),
                        {"Retry-After": "1"} if isinstance(error, Busy) else None)
    words = {404: f"the path must be one of {', '.join(RULES)}",
             405: f"the method must be {(error.headers or {}).get('Allow')}; got {request.method}"}
    return _error_response(request, error.status_code, words.get(error.status_code, error.detail),
                    error.headers)


async def _failed(request, error):
    traceback.print_exception(error, file=sys.stderr)
    return _error_response(request, 500, f"{type(error).__name__}: {error}")


def _error_response(request, status, words, headers=None):
    has_body = request.headers.get("content-length", "0") != "0" or (
        "transfer-encoding" in request.headers)
    is_read = getattr(request.state, "is_read", False)
    kind = LingeringRefusal if has_body and not is_read else Plain
    return kind({"error": words}, status, headers)
