"""Requests over a socket: slow, malformed, too many, or half closed."""

import asyncio
import json
import socket
import time

import pytest

import pybandit as pb
from pybandit.serving import _protocol, _routes
from serving.served import READ, Client, answer_of, exchange, request, running, serving

HEAD = request("GET", "/status", token=READ)[:-2]


@pytest.fixture
def path(tmp_path):
    pb.Study.create(tmp_path / "study.db", pb.policies.RoundRobin(
        2000, 1, batch_size=2000, max_batches=9)).close()
    return tmp_path / "study.db"


@pytest.fixture
def server(path):
    with serving(path) as one:
        yield one


ODD = [
    (b"GET / HTTP/1.1\r\n\r\n", 400), (b"GET / HTTP/1.1\nHost: x\n\n", 400), (b"\r\n\r\n", 400),
    (HEAD + b"Host: x\r\n\r\n", 400), (HEAD + b" folded\r\n\r\n", 400), (HEAD, 400),
    (HEAD + b"a b: c\r\n\r\n", 400), (HEAD + b"a:\0\r\n\r\n", 400),
    (HEAD + b"a:\x1b\r\n\r\n", 400),
    (HEAD + b"a: b\nc: d\r\n\r\n", 400), (HEAD + b"a: b\rc: d\r\n\r\n", 400),
    (b"GET / HTTP/1.2\r\nHost: localhost\r\n\r\n", 400),
    (b"GET /%73tatus" + HEAD[11:] + b"\r\n", 404),
    (HEAD.replace(b"status", b"batch?a") + b"\r\n", 400),
    (HEAD.replace(b"status", b"batch?batch_id=0&batch_id=0") + b"\r\n", 400),
    (HEAD.replace(b"status", b"batch?batch_id=%ff") + b"\r\n", 400),
    (HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
    (HEAD + b"Transfer-Encoding: gzip\r\n\r\n", 411),
    (HEAD + b"Transfer-Encoding: chunked\r\n\r\nno length", 411),
    (HEAD + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\nx", 400),
    (HEAD + b"Content-Length: 1_0\r\n\r\n", 400), (HEAD + b"Content-Length: \xb2\r\n\r\n", 400),
    (HEAD + b"Content-Length: 9\r\n\r\nshort", 400), (HEAD + b"Expect: x\r\n\r\n", 417),
    (HEAD + b"Expect: 100-continue\r\nContent-Length: 5000\r\n\r\n", 413),
    (b"GET /status?" + b"a" * 2100 + HEAD[11:] + b"\r\n", 414),
    (HEAD + b"a: b\r\n" * 64 + b"\r\n", 431), (HEAD + b"a: " + b"b" * 20_000 + b"\r\n\r\n", 431),
    (b"a" * 40_000, 431)]


def test_invalid_requests_are_rejected(server):
    for data, expected in ODD:
        status, headers, body = exchange(server.port, data)
        assert status == expected and json.loads(body)["error"], data[:200]
        assert headers["cache-control"] == "no-store" and "server" not in headers


@pytest.mark.parametrize("more, kept", [(b"", True), (b"Connection: close\r\n", False),
                                        (b"Connection: x, Close\r\n", False),
                                        (b"Connection: keep-alive\r\n", True)])
def test_connections_are_kept_open(more, kept, server):
    for data, is_kept in ((HEAD, kept), (HEAD.replace(b"HTTP/1.1", b"HTTP/1.0"), False)):
        with socket.create_connection(("127.0.0.1", server.port), 30) as link:
            # bytes after the last request are not read, and do not affect its answer
            link.sendall(2 * (data + more + b"\r\n"))
            got = b""
            while got.count(b"HTTP/1.1 200 OK") < 1 + is_kept:
                part = link.recv(1 << 16)
                assert part
                got += part
            if not is_kept:
                while part := link.recv(1 << 16):
                    got += part
                assert got.count(b"HTTP/1.1") == 1 and answer_of(got)[2].endswith(b"}\n")


def in_loop(path, test):
    """Run `test(server)` in the event loop of a server."""

    async def main():
        async with running(path) as server:
            await test(server)

    asyncio.run(main())


def test_slow_clients_time_out(path, monkeypatch):
    """Each is answered, or its connection is closed, when its time is over."""
    monkeypatch.setattr(_protocol, "IDLE", 0.4)
    monkeypatch.setattr(_protocol, "PATIENCE", 0.8)
    body = request("POST", "/ask", b"{" + b" " * 90)

    async def dribble(port, data, n):
        """Send n bytes at once and the others one by one; return the answer and its time."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(data[:n])
        began = time.monotonic()
        coming = asyncio.create_task(reader.read())
        for at in range(n, len(data)):
            await asyncio.wait([coming], timeout=0.05)
            if coming.done():
                break
            writer.write(data[at:at + 1])
        got = await coming
        writer.close()
        return got, time.monotonic() - began

    async def test(server):
        nothing, once, head, late, long = await asyncio.gather(
            dribble(server.port, b"", 0), dribble(server.port, HEAD + b"\r\n", len(HEAD) + 2),
            dribble(server.port, HEAD, 1), dribble(server.port, 2 * HEAD, 3),
            dribble(server.port, body, len(body) - 80))
        assert nothing[0] == b"" and answer_of(once[0])[0] == 200
        assert 0.3 < nothing[1] < 5 and 0.3 < once[1] < 5
        for got, seconds in (head, late, long):
            assert answer_of(got)[0] == 408 and 0.7 < seconds < 5
        assert b"the body did not arrive in time" in long[0] and b"within 0.8 s" in head[0]

    in_loop(path, test)


def test_a_client_that_does_not_read_loses_the_connection(path, monkeypatch):
    monkeypatch.setattr(_protocol, "PATIENCE", 0.5)

    async def test(server):
        server._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        await server.writer.record(lambda study: study.ask())
        for n, more in ((99, b""), (1, b"Connection: close\r\n"), (1, b"")):
            with socket.socket() as link:
                link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                link.connect(("127.0.0.1", server.port))
                link.sendall(n * (HEAD.replace(b"status", b"batch?batch_id=0") + more + b"\r\n"))
                until = time.monotonic() + 20
                while not server.server_state.connections:
                    await asyncio.sleep(0.01)
                while server.server_state.connections:
                    await asyncio.sleep(0.05)
                    assert time.monotonic() < until

    monkeypatch.setattr(_protocol, "IDLE", 0.6)
    in_loop(path, test)


def test_connections_are_counted_from_their_start(path, monkeypatch):
    monkeypatch.setattr(_protocol, "MOST_CONNECTIONS", 3)

    async def test(server):
        clients = [await Client.connect(server.port) for _ in range(3)]
        await asyncio.sleep(0.1)
        for connection in server.server_state.connections:
            # otherwise each answer would wait until the client acknowledges its head
            link = connection.transport.get_extra_info("socket")
            assert link.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        status, _, body = answer_of(await reader.read())
        assert status == 503 and b"too many connections" in body
        writer.close()
        clients[0].close()
        assert (await clients[1].call("GET", "/status"))[0] == 200
        await asyncio.sleep(0.1)
        clients.append(await Client.connect(server.port))
        assert (await clients[-1].call("GET", "/status"))[0] == 200
        for client in clients:
            client.close()

    in_loop(path, test)


def test_expected_bodies_are_requested(server):
    data = request("POST", "/ask", {}, headers=["Expect: 100-Continue"])
    with socket.create_connection(("127.0.0.1", server.port), 30) as link:
        link.sendall(data[:-2])
        assert link.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        link.sendall(data[-2:])
        assert link.recv(1000).startswith(b"HTTP/1.1 200 OK\r\n")


def test_internal_error_is_answered_and_printed(path, monkeypatch, capsys):
    async def fails(server, fields, token):
        raise ZeroDivisionError("of no client")

    monkeypatch.setitem(_routes.RULES, "/ask", _routes.RULES["/ask"]._replace(do=fails))

    async def test(server):
        for path, expected in (("/ask", 500), ("/ask", 500), ("/close_batch", 400)):
            client = await Client.connect(server.port)
            status, body = await client.call("POST", path)
            client.close()
            assert status == expected
            assert status < 500 or body == {"error": "ZeroDivisionError: of no client"}

    in_loop(path, test)
    assert capsys.readouterr().err.count("ZeroDivisionError: of no client") == 2
