"""HTTP/1.1, as much of it as a study needs: requests are read strictly and within limits.

What is odd is refused and the connection closed, so that nothing is ever taken for the
beginning of another request.
"""

import asyncio
import json
import re
from email.utils import formatdate
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

HEAD_BYTES, TARGET_BYTES, MOST_HEADERS = 16_384, 2_048, 64
IDLE, PATIENCE = 75.0, 15.0  # seconds for the next request, and for each part of one
REQUEST = re.compile(r"([A-Z]{1,16}) (/[!-~]*) HTTP/1\.([01])")
HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*((?:[\t -~]|[^\0-\x7f])*?)[ \t]*")
# of which two would let two readers disagree
ONCE = {"host", "content-length", "authorization", "content-type", "expect", "transfer-encoding",
        "cookie"}
SAFE = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin"}


class Refused(Exception):
    """A request is answered with an error: status, words, and headers of the answer."""

    def __init__(self, status, words, **headers):
        super().__init__(words)
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class Request(NamedTuple):
    """A request up to its body; names of headers in small letters."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    keep_alive: bool
    length: int


class Answer(NamedTuple):
    """What is sent: `body` is bytes, a binary file to send and close, or parts that come."""

    status: int
    kind: str
    body: Any
    headers: dict[str, str] = {}


def plain(value, status=200, **headers):
    """An answer in JSON."""
    return Answer(status, "application/json", json.dumps(value, allow_nan=False).encode() + b"\n",
                  headers)


async def read_request(reader):
    """The next request, up to its body; None where the connection ends or nothing comes."""
    try:
        async with asyncio.timeout(IDLE):
            first = await reader.read(1)
        if not first:
            return None
    except (TimeoutError, ConnectionError):
        return None
    try:
        async with asyncio.timeout(PATIENCE):
            head = first + await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        raise Refused(431, f"the head of a request must be at most {HEAD_BYTES} bytes") from None
    except asyncio.IncompleteReadError:
        raise Refused(400, "the request ends before its head does") from None
    except TimeoutError:
        raise Refused(408, f"the head of a request must come within {PATIENCE:g} s") from None
    return request_of(head)


def request_of(head):
    """The request of a head, whole.

    Raises
    ------
    Refused
        Where it is no request of HTTP/1.1, or one that is not served.
    """
    if len(head) > HEAD_BYTES:
        raise Refused(431, f"the head of a request must be at most {HEAD_BYTES} bytes")
    first, *lines = head.decode("latin-1").strip("\r\n").split("\r\n")
    match = REQUEST.fullmatch(first)
    if match is None:
        raise Refused(400, "the first line must be METHOD /path HTTP/1.1")
    method, target, minor = match.groups()
    if len(target) > TARGET_BYTES:
        raise Refused(414, f"the path must be at most {TARGET_BYTES} bytes")
    headers = _headers_of(lines)
    if minor == "1" and "host" not in headers:
        raise Refused(400, "the header Host must be given")
    path, _, query = target.partition("?")
    wishes = {word.strip().casefold() for word in headers.get("connection", "").split(",")}
    return Request(method, path, _query_of(query), headers,
                   minor == "1" and "close" not in wishes, _length_of(headers))


def _headers_of(lines):
    headers = {}
    if len(lines) > MOST_HEADERS:
        raise Refused(431, f"a request must have at most {MOST_HEADERS} headers")
    for line in lines:
        match = HEADER.fullmatch(line)
        if match is None:
            raise Refused(400, "a header must be a line, name: value")
        name, value = match[1].casefold(), match[2]
        if name in headers and name in ONCE:
            raise Refused(400, f"the header {name} must be given once")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _query_of(query):
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True, errors="strict",
                          max_num_fields=8) if query else []
    except ValueError:
        raise Refused(400, "what follows ? must be name=value, joined by &") from None
    if len(dict(pairs)) < len(pairs):
        raise Refused(400, "a name must stand once after the ?")
    return dict(pairs)


def _length_of(headers):
    if "transfer-encoding" in headers:
        raise Refused(411, "the body must have a Content-Length; it comes in no other encoding")
    text = headers.get("content-length", "0")
    if re.fullmatch("[0-9]{1,15}", text) is None:
        raise Refused(400, "Content-Length must be a number of bytes")
    return int(text)


async def read_body(request, reader, writer, most):
    """The body, of at most so many bytes."""
    if request.length > most:
        raise Refused(413, f"the body must be at most {most:,} bytes; got {request.length:,}")
    expected = request.headers.get("expect", "").casefold()
    if expected not in ("", "100-continue"):
        raise Refused(417, "Expect must be 100-continue")
    if expected and request.length:
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    try:
        async with asyncio.timeout(PATIENCE + request.length / 1e5):
            return await reader.readexactly(request.length)
    except asyncio.IncompleteReadError:
        raise Refused(400, "the request ends before its body does") from None
    except TimeoutError:
        raise Refused(408, "the body did not come in time") from None


async def send(writer, answer, keep_alive, is_head=False):
    """Write an answer; whoever does not read it loses the connection."""
    size = answer.body.seek(0, 2) if hasattr(answer.body, "seek") else len(answer.body)
    writer.write(head_of(answer, keep_alive, size))
    if isinstance(answer.body, bytes):
        if not is_head:
            writer.write(answer.body)
        return await drained(writer)
    with answer.body as file:
        file.seek(0)
        while not is_head and (part := file.read(1 << 16)):
            writer.write(part)
            await drained(writer)
    return None


async def drained(writer):
    async with asyncio.timeout(PATIENCE):
        await writer.drain()


def head_of(answer, keep_alive, size=None):
    """The head of an answer; without a size it has no end."""
    headers = SAFE | {"Date": formatdate(usegmt=True), "Content-Type": answer.kind,
                      "Connection": "keep-alive" if keep_alive else "close"} | answer.headers
    if size is not None:
        headers["Content-Length"] = str(size)
    lines = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}",
             *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1")
