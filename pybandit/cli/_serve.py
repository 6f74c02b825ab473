"""`pybandit study serve`: a study over HTTP, for browsers and programs."""

import asyncio
import json
import sys

from pybandit._shared.optional import require


def serve(arguments):
    """Serve until interrupted or terminated."""
    for package in ("starlette", "uvicorn"):
        require(package, "serve")
    from pybandit.serving._access import tokens_of
    from pybandit.serving._server import Server

    tokens, are_new = tokens_of(arguments.tokens)
    with Server(arguments.study, tokens, arguments.name, arguments.who, arguments.host,
                arguments.port) as server:
        asyncio.run(server.serve(
            lambda: _announce(arguments, server.port, tokens if are_new else ())))
    return 0


def _announce(arguments, port, new):
    host = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
    url = f"http://{host}:{port}/"
    if arguments.json:
        print(json.dumps({"url": url, "tokens": {one.role: one.secret for one in new}}))
    else:
        print(f"{arguments.study}: {url}")
        for one in new:
            print(f"token to {one.role}: {one.secret}")
    sys.stdout.flush()
