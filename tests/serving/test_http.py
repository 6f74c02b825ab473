"""Requests as they are read: what is one, and what is refused."""

import asyncio
import io

import pytest

from pybandit.serving import _http
from pybandit.serving._http import Answer, Refused, read_body, read_request, request_of, send

HEAD = b"GET /status?a=1&b=x%20y HTTP/1.1\r\nHost: localhost\r\n"


def read(data, then=read_request):
    """What is read of these bytes, after which the connection ends."""

    async def main():
        reader = asyncio.StreamReader(limit=_http.HEAD_BYTES)
        reader.feed_data(data)
        reader.feed_eof()
        return await then(reader)

    return asyncio.run(main())


def test_a_request():
    found = read(HEAD + b"X-Y:  z \r\nx-y: w\r\nContent-Length: 12\r\n\r\nbody")
    assert found == ("GET", "/status", {"a": "1", "b": "x y"},
                     {"host": "localhost", "x-y": "z, w", "content-length": "12"}, True, 12)
    assert read(b"") is None
    # an empty line before it, as some clients send after a body
    assert read(b"\r\n" + HEAD + b"\r\n").path == "/status"


@pytest.mark.parametrize("more, kept", [(b"", True), (b"Connection: close\r\n", False),
                                        (b"Connection: x, Close\r\n", False),
                                        (b"Connection: keep-alive\r\n", True)])
def test_connections_that_are_kept(more, kept):
    assert request_of(HEAD + more).keep_alive is kept
    assert not request_of(b"GET / HTTP/1.0\r\n" + more).keep_alive


@pytest.mark.parametrize("data, status", [
    (b"GET / HTTP/1.1\r\n\r\n", 400), (b"GET / HTTP/1.1\nHost: x\n\n", 400), (b"\r\n\r\n", 400),
    (HEAD + b"Host: x\r\n\r\n", 400), (HEAD + b" folded\r\n\r\n", 400), (HEAD, 400),
    (HEAD + b"a b: c\r\n\r\n", 400), (HEAD + b"a:\0\r\n\r\n", 400),
    (HEAD + b"a: b\nc\r\n\r\n", 400), (b"GET /?a HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    (b"GET /?a=1&a=2 HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    (b"GET /?a=%ff HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", 411),
    (HEAD + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\n", 400),
    (HEAD + b"Content-Length: 1_0\r\n\r\n", 400), (HEAD + b"Content-Length: \xb2\r\n\r\n", 400),
    (b"GET /" + b"a" * 2100 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414),
    (HEAD + b"a: b\r\n" * 64 + b"\r\n", 431), (HEAD + b"a: " + b"b" * 20_000 + b"\r\n\r\n", 431),
    (b"a" * 40_000, 431)])
def test_what_is_no_request(data, status):
    with pytest.raises(Refused) as refused:
        read(data)
    assert refused.value.status == status and str(refused.value)


def test_who_is_slow(monkeypatch):
    async def main():
        reader = asyncio.StreamReader()
        reader.feed_data(b"GET / HT")
        return await read_request(reader)

    monkeypatch.setattr(_http, "PATIENCE", 0.01)
    with pytest.raises(Refused) as refused:
        asyncio.run(main())
    assert refused.value.status == 408
    monkeypatch.setattr(_http, "IDLE", 0.01)

    async def idle():
        return await read_request(asyncio.StreamReader())

    assert asyncio.run(idle()) is None


class Sink:
    """A writer that keeps what it is given."""

    def __init__(self):
        self.got = b""

    def write(self, data):
        self.got += data

    async def drain(self):
        pass


def test_bodies():
    def body(data, more=b"", most=100):
        request, sink = request_of(HEAD + b"Content-Length: 4\r\n" + more), Sink()
        return read(data, lambda reader: read_body(request, reader, sink, most)), sink.got

    assert body(b"abcdef") == (b"abcd", b"")
    assert body(b"abcd", b"Expect: 100-Continue\r\n") == (b"abcd", b"HTTP/1.1 100 Continue\r\n\r\n")
    for data, more, most, status in [(b"abc", b"", 9, 400), (b"abcd", b"", 3, 413),
                                     (b"abcd", b"Expect: x\r\n", 9, 417)]:
        with pytest.raises(Refused) as refused:
            body(data, more, most)
        assert refused.value.status == status


@pytest.mark.parametrize("body", [b"x" * 100_000, b""])
@pytest.mark.parametrize("is_head", [False, True])
def test_answers(body, is_head):
    for content in (body, io.BytesIO(body)):
        sink = Sink()
        asyncio.run(send(sink, Answer(200, "text/csv", content, {"X": "y"}), True, is_head))
        head, _, got = sink.got.partition(b"\r\n\r\n")
        assert got == (b"" if is_head else body)
        lines = head.split(b"\r\n")
        assert lines[0] == b"HTTP/1.1 200 OK" and b"Content-Length: %d" % len(body) in lines
        assert {b"X: y", b"Cache-Control: no-store", b"Connection: keep-alive"} <= set(lines)
