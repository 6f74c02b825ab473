"""Servers of studies in separate processes, and clients that use them."""

import asyncio
import contextlib
import json

import numpy as np

import pybandit as pb
from serving.served import Client, Served, exchange, request

WELLS, CLIENTS = 48, 8


class ReadServer:
    """A study that does not change, read by all requests, and sent invalid ones."""

    name = "server read"

    def __init__(self, folder):
        path = folder / "read.db"
        with pb.Study.create(path, pb.policies.BatchSAR(30, 3, batch_size=20, max_batches=30,
                                                        max_repeats=4)) as study:
            for _ in range(10):
                study.tell((batch := study.ask()).id, 0.01 * batch.arms)
        self.server = Served(path)
        self.known = {}

    def round(self):
        for path in ("/status", "/recommend", "/batch?batch_id=3", "/export", "/part"):
            self._same(path, 200, request("GET", path))
        self._same("report", 200, request("GET", "/report"), keep=False)
        self._same("nobody", 401, request("GET", "/status", token="x" * 20))
        self._same("nowhere", 404, request("GET", "/nowhere"))
        self._same("odd", 400, request("POST", "/tell", b"{"))
        self._same("torn", 400, request("POST", "/tell", {})[:60])
        self._same("more", 400, request("POST", "/tell", {"batch_id": 9999, "results": [1.0]}))
        return 11

    def _same(self, name, status, data, keep=True):
        """Check that a response equals the first one to the same request."""
        found, _, body = exchange(self.server.port, data)
        assert found == status, (name, found, body[:200])
        if keep:
            assert self.known.setdefault(name, body) == body, name


class RecordServer:
    """A growing study that many clients ask, report to and read at the same time."""

    name = "server record"

    def __init__(self, folder):
        self.path = folder / "record.db"
        pb.Study.create(self.path, pb.policies.RoundRobin(WELLS, 1, batch_size=WELLS,
                                                          max_batches=10**6)).close()
        self.server, self.n_reported = Served(self.path), 0

    def round(self):
        return asyncio.run(self._round())

    async def _round(self):
        clients = [await Client.connect(self.server.port) for _ in range(CLIENTS)]
        _, batch = await clients[0].call("POST", "/ask")
        await asyncio.gather(*(self._tell(client, batch, np.arange(i, WELLS, CLIENTS).tolist())
                               for i, client in enumerate(clients)))
        self.n_reported += WELLS
        status, found = await clients[-1].call("GET", "/status")
        assert (status, found["n_pulls"]) == (200, self.n_reported), found
        # one client disconnects during a response, one during a request
        clients[0].writer.write(request("GET", "/status"))
        clients[1].writer.write(request("POST", "/tell", {})[:50])
        for client in clients:
            client.close()
            with contextlib.suppress(ConnectionError):
                await client.writer.wait_closed()
        return WELLS + 2

    async def _tell(self, client, batch, positions):
        for position in positions:
            status, done = await client.call("POST", "/tell", {
                "batch_id": batch["batch_id"], "results": [0.01 * batch["arms"][position]],
                "positions": [position]})
            assert (status, done["n_new"]) == (200, 1), json.dumps(done)
