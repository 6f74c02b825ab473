"""`pybandit study serve`: a study over HTTP, for browsers and programs."""

import asyncio
import json
import signal
import sys
from contextlib import suppress

from pybandit.serving._access import tokens_of
from pybandit.serving._server import Server


def serve(arguments):
    """Serve until interrupted or terminated."""
    tokens, are_new = tokens_of(arguments.tokens)
    server = Server(arguments.study, tokens, arguments.name, arguments.who)
    server.open()
    try:
        asyncio.run(_serve(arguments, server, tokens if are_new else ()))
    except KeyboardInterrupt:
        pass  # where there are no signals to wait for
    finally:
        server.close()
    return 0


async def _serve(arguments, server, new):
    try:
        port = await server.start(arguments.host, arguments.port)
    except (OSError, OverflowError) as error:
        raise OSError(f"--host {arguments.host} and --port {arguments.port} cannot be listened "
                      f"on: {error}") from error
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        # there are none on Windows: Ctrl-C ends asyncio.run
        with suppress(NotImplementedError):
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    host = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
    url = f"http://{host}:{port}/"
    if arguments.json:
        print(json.dumps({"url": url, "tokens": {one.role: one.secret for one in new}}))
    else:
        print(f"{arguments.study}: {url}")
        for one in new:
            print(f"token to {one.role}: {one.secret}")
    sys.stdout.flush()
    try:
        await stopped.wait()
    finally:
        await server.stop()
