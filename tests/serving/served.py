"""A server in its own process, and clients that exchange bytes with it."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys

READ, RECORD = "read-" + "r" * 16, "record-" + "w" * 16
ENVIRONMENT = {"PYBANDIT_READ_TOKEN": READ, "PYBANDIT_RECORD_TOKEN": RECORD}


class Served:
    """A running `pybandit study serve` of a file; listens until it is stopped."""

    def __init__(self, path, *options):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pybandit", "study", "serve", "--study", path, "--port", "0",
             "--json", *options], stdout=subprocess.PIPE, text=True,
            env=os.environ | ENVIRONMENT | {"PYTHONPATH": ":".join(sys.path)})
        line = self.process.stdout.readline()
        assert line, "the server did not start"
        self.url = json.loads(line)["url"]
        self.port = int(self.url.rstrip("/").rpartition(":")[2])

    def stop(self, number=signal.SIGTERM):
        """Stop the server; return its exit status."""
        self.process.send_signal(number)
        self.process.stdout.close()
        return self.process.wait(60)


@contextlib.contextmanager
def serving(path, *options):
    server = Served(path, *options)
    try:
        yield server
    finally:
        status = server.stop()
    assert status == 0


@contextlib.asynccontextmanager
async def running(path):
    """Run a server in this event loop, for tests of its internals."""
    from pybandit.serving._access import Token
    from pybandit.serving._server import Server

    with Server(path, [Token("read", READ), Token("record", RECORD)]) as server:
        started = asyncio.Event()
        task = asyncio.create_task(server.serve(started.set))
        await started.wait()
        try:
            yield server
        finally:
            server.should_exit = True
            await task


def request(method, path, body=None, token=RECORD, headers=()):
    """Return the bytes of a request; a body that is not bytes is written as JSON."""
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost",
             *([f"Authorization: Bearer {token}"] if token else []),
             *([f"Content-Length: {len(body)}", "Content-Type: application/json"]
               if body is not None else []), *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1") + (body or b"")


def exchange(port, data, patience=30):
    """Send bytes, and return status, headers and body of the answer.

    Closes the sending side of the connection, so that the server waits for nothing.
    """
    with socket.create_connection(("127.0.0.1", port), patience) as link:
        with contextlib.suppress(ConnectionError):
            link.sendall(data)
            link.shutdown(socket.SHUT_WR)
        got = b""
        while part := link.recv(1 << 16):
            got += part
    return answer_of(got)


def answer_of(got):
    head, _, body = got.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = dict(line.casefold().split(": ", 1) for line in lines)
    return int(first.split()[1]), headers, body


def call(port, method, path, body=None, **options):
    """Return the status and the decoded JSON of a request."""
    status, _, content = exchange(port, request(method, path, body, **options))
    return status, json.loads(content)


class Client:
    """A client that keeps one connection."""

    @classmethod
    async def connect(cls, port):
        self = cls()
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        return self

    async def call(self, method, path, body=None):
        self.writer.write(request(method, path, body))
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        return int(head.split()[1]), json.loads(await self.reader.readexactly(length))

    def close(self):
        self.writer.close()
