"""The server of a study: connections, each with one request after another."""

import asyncio
import contextlib
import sys
import traceback
from urllib.parse import parse_qsl

from pybandit._shared.errors import StudyError
from pybandit.serving._access import Door
from pybandit.serving._body import checked, fields_of
from pybandit.serving._http import (
    HEAD_BYTES,
    Refused,
    drained,
    head_of,
    plain,
    read_body,
    read_request,
    send,
)
from pybandit.serving._lane import Lane
from pybandit.serving._limits import PIECE, Busy, Room, TooLarge, check_bytes, most_bytes
from pybandit.serving._live import Live
from pybandit.serving._open import open_any, study_of
from pybandit.serving._routes import SIGN_IN_BYTES, route_of
from pybandit.serving._writer import Writer

MOST_CONNECTIONS = 512
LINGER = 1.0  # seconds for which what was refused is read to its end


class Server:
    """Serves the study of a file until it is stopped.

    One thread records, with a connection of its own to the file; one makes short reads, one
    makes pages and tables, and one parses long bodies. The event loop only receives and sends.
    """

    def __init__(self, path, tokens, names=(), who=None):
        self.path, self.tokens, self.names, self.who = path, tokens, names, who
        self._tasks = set()

    def open(self):
        """Open the file, or raise what `Study.open` raises."""
        self.study, self.pages = open_any(self.path), open_any(self.path)
        self.writer = Writer(open_any(self.path, who=self.who))

    async def start(self, host, port):
        """Listen; returns the port."""
        self._reader, self._maker, self._parser = Lane(), Lane(), Lane()
        self._room, self._n_results = Room(), 0
        self.live = Live(self)
        self._listener = await asyncio.start_server(
            self._connected, host, port, limit=HEAD_BYTES, backlog=256, start_serving=False)
        port = self._listener.sockets[0].getsockname()[1]
        self.door = Door(self.tokens, self.names, port)
        for lane in (self.writer, self._reader, self._maker, self._parser):
            lane.start()
        self._watch = asyncio.create_task(self.live.watch())
        await self._listener.start_serving()
        return port

    async def stop(self):
        """Hear nobody new, answer who was heard, and close the files."""
        self._listener.close()
        self._watch.cancel()
        await self.writer.stop()
        await asyncio.sleep(0.05)  # for answers to what was recorded last
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(self._watch, *self._tasks, return_exceptions=True)
        for lane in (self._reader, self._maker, self._parser):
            await lane.stop()

    def close(self):
        """Close the file."""
        for study in (self.study, self.pages, self.writer.study):
            study.close()

    async def read(self, work):
        """Return `work()`, called in the thread for short reads."""
        return await self._reader.do(work)

    async def make(self, work):
        """Return `work()`, called in the thread that makes pages and tables."""
        return await self._maker.do(work)

    async def _connected(self, reader, writer):
        task = asyncio.current_task()
        self._tasks.add(task)
        try:
            await self._converse(reader, writer)
        except (ConnectionError, TimeoutError, asyncio.CancelledError):
            pass  # who went away, or did not read
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _converse(self, reader, writer):
        if len(self._tasks) > MOST_CONNECTIONS:
            return await self._part(reader, writer, Refused(503, "there are too many connections"))
        while True:
            try:
                request = await read_request(reader)
                if request is None:
                    return None
            except Refused as error:
                return await self._part(reader, writer, error)
            try:
                route, token = self._admitted(request)
                await self._check_size(request, route)
                async with self._room.for_body(request.length):
                    body = await self._body(request, route, reader, writer)
                    answer = await self._answer(request, route, body, token)
                    del body
            except Busy as error:
                return await self._part(reader, writer,
                                        Refused(503, str(error), Retry_After="1"))
            except Refused as error:
                # the body is unread, so that what follows is no request
                if request.length:
                    return await self._part(reader, writer, error)
                answer = _apology(error)
            if hasattr(answer.body, "__aiter__"):
                return await self._stream(writer, answer, request.method == "HEAD")
            await send(writer, answer, request.keep_alive, request.method == "HEAD")
            if not request.keep_alive:
                return None

    def _admitted(self, request):
        """The route of a request, and whose it is, before its body is read."""
        self.door.check_host(request)
        route, token = route_of(request), self.door.token_of(request)
        if route.role:
            self.door.check_role(token, route.role)
        return route, token

    async def _check_size(self, request, route):
        """Refuse a body above the limit of its kind before it is read."""
        n_results = None
        if route.has_results and request.length > most_bytes(self._n_results):
            # a batch that is larger than all before may have been asked for
            store = study_of(self.study)._store
            self._n_results = await self.read(
                lambda: store.run(store.largest_batch, write=False))
        if route.has_results:
            n_results = self._n_results
        try:
            check_bytes(request.path, request.length, n_results)
        except TooLarge as error:
            raise Refused(413, str(error)) from None

    async def _body(self, request, route, reader, writer):
        if route.body == "json" and request.method == "POST":
            kind = request.headers.get("content-type", "application/json")
            if kind.partition(";")[0].strip().casefold() != "application/json":
                raise Refused(415, "the body must be application/json")
        small = route.body == "form" or request.method != "POST"
        return await read_body(request, reader, writer,
                               SIGN_IN_BYTES if small else request.length)

    async def _answer(self, request, route, body, token):
        try:
            if request.method != "POST":
                fields = checked(dict(request.query), route)
            elif request.query:
                raise Refused(400, "what is recorded stands in the body, not after a ?")
            elif route.body == "form":
                fields = checked(dict(parse_qsl(body.decode("latin-1"), max_num_fields=4)), route)
            elif len(body) <= PIECE:
                fields = fields_of(body, route)
            else:
                fields = await self._parser.do(
                    lambda: fields_of(body, route, self._n_results))
            done = await route.do(self, fields, token)
            return plain(done) if isinstance(done, dict) else done
        except Refused as error:
            return _apology(error)
        except StudyError as error:
            return plain({"error": str(error)}, 503)
        except (ValueError, TypeError, OverflowError) as error:
            # of the study, in the words that Python and the command line have
            return plain({"error": str(error)}, 400)
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            return plain({"error": f"{type(error).__name__}: {error}"}, 500)

    async def _stream(self, writer, answer, is_head):
        writer.write(head_of(answer, False))
        async with contextlib.aclosing(answer.body) as parts:
            if is_head:
                return
            async for one in parts:
                writer.write(one)
                await drained(writer)

    async def _part(self, reader, writer, error):
        """Refuse, and end the connection so that the answer is read."""
        await send(writer, _apology(error), False)
        with contextlib.suppress(TimeoutError, OSError):
            writer.write_eof()
            async with asyncio.timeout(LINGER):
                while await reader.read(1 << 16):
                    pass


def _apology(error):
    return plain({"error": str(error)}, error.status, **error.headers)
