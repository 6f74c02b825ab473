"""The server of a study: its files, threads, and listening socket, with uvicorn."""

import asyncio
import contextlib
import socket

import uvicorn

from pybandit.serving import _protocol
from pybandit.serving._access import Door
from pybandit.serving._app import application
from pybandit.serving._limits import BodyMemory
from pybandit.serving._live import Live
from pybandit.serving._study import open_any
from pybandit.serving._worker_threads import Lane, Writer

SAFE = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin"}
SHUTDOWN_SECONDS = 5  # seconds to finish open requests


class Server(uvicorn.Server):
    """Serves a study until SIGINT or SIGTERM; a context manager that closes the file.

    One thread records through its own connection to the file, one does short reads, one makes
    pages and tables, and one parses long bodies. The event loop only receives and sends.

    Raises
    ------
    StudyError
        If the file is not a study that can be opened.
    OSError
        If the server cannot listen on the address.
    """

    def __init__(self, path, tokens, names=(), who=None, host="127.0.0.1", port=0):
        with contextlib.ExitStack() as stack:
            self.study, self.pages, recorded = (
                stack.enter_context(open_any(path, who=who)) for _ in range(3))
            self._socket = stack.enter_context(_listening(host, port))
            self._open = stack.pop_all()
        self.port = self._socket.getsockname()[1]
        self.door = Door(tokens, names, self.port)
        self.writer, self._reader, self._maker, self._parser = self._lanes = (
            Writer(recorded), Lane(), Lane(), Lane())
        self.live, self.body_memory, self.n_results = Live(self), BodyMemory(), 0
        super().__init__(uvicorn.Config(
            application(self), http=_protocol.Protocol, ws="none", lifespan="off", log_config=None,
            log_level="critical", access_log=False, proxy_headers=False, server_header=False,
            headers=list(SAFE.items()), timeout_keep_alive=_protocol.IDLE, backlog=256,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._open.close()

    async def serve(self, started=lambda: None):
        """Serve; call `started()` as soon as connections are accepted."""
        self._started = started
        await super().serve([self._socket])

    async def startup(self, sockets=None):
        for lane in self._lanes:
            lane.start()
        self._watch = asyncio.create_task(self.live.watch())
        await self.on_tick(0)  # creates the headers of all answers
        await super().startup(sockets)
        self._started()

    async def shutdown(self, sockets=None):
        """Accept no new connection, answer the open requests, and end the threads."""
        self._watch.cancel()
        await self.live.end()
        await super().shutdown(sockets)
        for lane in self._lanes:
            await lane.stop()

    def handle_exit(self, sig, frame):
        self.should_exit = True  # uvicorn's method would raise the signal again after the end

    async def read(self, work):
        """Return `work()`, called in the thread for short reads."""
        return await self._reader.do(work)

    async def make(self, work):
        """Return `work()`, called in the thread that makes pages and tables."""
        return await self._maker.do(work)

    async def parse(self, work):
        """Return `work()`, called in the thread for long bodies."""
        return await self._parser.do(work)


def _listening(host, port):
    try:
        made = socket.create_server((host, port), backlog=256,
                                    family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as error:
        raise OSError(f"cannot listen on --host {host} and --port {port}: {error}") from error
    # asyncio sets TCP_NODELAY only if the protocol is TCP; without it an answer takes 40 ms more
    return socket.socket(made.family, made.type, socket.IPPROTO_TCP, made.detach())
