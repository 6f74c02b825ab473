"""A study over HTTP behaves as in Python: the same answers and the same error messages."""

import csv
import io
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest

import pybandit as pb
from pybandit.lab.plates import Layout, Plates
from pybandit.serving._routes import RULES
from serving.served import READ, RECORD, Served, call, exchange, request, serving

from cli.screen_commands import ok
from studies.cases import measured


def policy():
    return pb.policies.BatchSAR(12, 3, batch_size=10, max_batches=12, max_repeats=4)


@pytest.fixture
def path(tmp_path):
    pb.lab.Screen.create(tmp_path / "study.db", policy(), [f"gene {i}" for i in range(12)],
                         plates=Plates(Layout(2, 6), (0, 6))).close()
    return tmp_path / "study.db"


@pytest.fixture
def server(path):
    with serving(path) as one:
        yield one


def test_whole_study_over_http_equals_python(path, server):
    """Reported in parts, some twice; the policy equals that of a study in Python, bit for bit."""
    twin = pb.Study.create(":memory:", policy())
    while True:
        status, batch = call(server.port, "POST", "/ask")
        other = twin.ask()
        assert status == 200 and call(server.port, "POST", "/ask", {})[1] == batch
        if other is None:
            break
        assert batch == {"done": False, "batch_id": other.id, "arms": other.arms.tolist(),
                         "names": [f"gene {arm}" for arm in other.arms]}
        values = measured(other.id, other.arms)
        first = {"batch_id": other.id, "results": values[:4].tolist(), "positions": [0, 1, 2, 3]}
        assert call(server.port, "POST", "/tell", first) == (
            200, {"n_new": 4, "n_known": 0, "complete": False})
        assert call(server.port, "POST", "/tell", first)[1]["n_known"] == 4
        rest = [None if i < 2 else value for i, value in enumerate(values.tolist())]
        assert call(server.port, "POST", "/tell", {
            "batch_id": other.id, "results": rest, "missing": "wait"})[1] == {
                "n_new": values.size - 4, "n_known": 2, "complete": True}
        twin.tell(other.id, values)
    assert batch == {"done": True, "batch_id": None, "arms": [], "names": []}
    status, found = call(server.port, "GET", "/recommend", token=READ)
    best = twin.recommend()
    assert [one["arm"] for one in found["best"]] == best.best_arms.tolist()
    assert [one["mean"] for one in found["best"]] == best.means.tolist()
    assert found["unmeasured"] == []
    with pb.Study.open(path) as study:
        assert study.verify().n_pulls == twin.policy.n_pulls
        assert study.policy.means.tobytes() == twin.policy.means.tobytes()


def test_status_and_results_equal_python(path, server, capsys):
    call(server.port, "POST", "/ask")
    call(server.port, "POST", "/tell", {"batch_id": 0, "results": [0.5, None],
                                        "positions": [0, 3], "missing": "drop"})
    status = call(server.port, "GET", "/status", token=READ)[1]
    assert json.loads(ok(capsys, "status", path, "--json")) == status | {"controls": []}
    assert status["n_open"] == 8 and status["n_unmeasured"] == 12
    batch = call(server.port, "GET", "/batch?batch_id=0", token=READ)[1]
    assert batch["states"][:4] == ["known", "open", "open", "lost"] and batch["status"] == "open"
    assert batch["values"][:4] == [0.5, None, None, None] and batch["names"][3] == "gene 3"
    code, headers, body = exchange(server.port, request("GET", "/export", token=READ))
    assert code == 200 and headers["content-type"].startswith("text/csv")
    assert body.decode() == ok(capsys, "export", path, "-")
    assert len(list(csv.reader(io.StringIO(body.decode())))) == 13  # with two controls
    code, _, page = exchange(server.port, request("GET", "/report", token=READ))
    assert code == 200 and status["head"].encode() in page and b"<script" not in page
    assert exchange(server.port, request("GET", "/part", token=READ))[2].startswith(b"<h1>")


def test_heads_have_no_body(server):
    for path in "/status", "/export", "/report", "/", "/events":
        status, headers, body = exchange(server.port, request("HEAD", path, token=READ))
        assert status == 200 and body == b"" and headers["cache-control"] == "no-store"
        assert (path == "/events") != (int(headers.get("content-length", 0)) > 0)


def test_batches_are_closed_and_abandoned(path, server):
    call(server.port, "POST", "/ask")
    call(server.port, "POST", "/tell", {"batch_id": 0, "results": [0.5], "positions": [0]})
    assert call(server.port, "POST", "/abandon", {"batch_id": 0})[0] == 400
    assert call(server.port, "POST", "/abandon", {"batch_id": 0, "discard": True})[0] == 200
    assert call(server.port, "POST", "/ask")[1]["batch_id"] == 1
    assert call(server.port, "POST", "/close_batch", {"batch_id": 1}) == (200, {"batch_id": 1})
    late = {"batch_id": 1, "results": [0.25], "positions": [7]}
    assert call(server.port, "POST", "/tell", late)[1]["n_new"] == 1
    with pb.Study.open(path) as study:
        assert study.batch(1).states[7] == "late" and study.batch(0).status == "abandoned"


def test_results_are_amended(path, server):
    call(server.port, "POST", "/ask")
    call(server.port, "POST", "/tell", {"batch_id": 0, "results": [0.5], "positions": [0]})
    right = {"batch_id": 0, "results": [0.05], "positions": [0], "reason": "a typo"}
    assert call(server.port, "POST", "/amend", right) == (200, {"n_amended": 1, "n_known": 0})
    assert call(server.port, "POST", "/amend", right) == (200, {"n_amended": 0, "n_known": 1})
    assert call(server.port, "GET", "/status")[1]["n_amendments"] == 1
    with pb.Study.open(path) as study:
        assert study.batch(0).values[0] == 0.05 and study.amendments()[0].reason == "a typo"
        study.verify()


REFUSED = [("tell", {"batch_id": 3, "results": [1.0]}), ("tell", {"batch_id": 0, "results": [1.0]}),
           ("tell", {"batch_id": -1, "results": [1.0]}), ("tell", {"batch_id": "0", "results": []}),
           ("tell", {"batch_id": 0, "results": [2.0], "positions": [0]}),
           ("tell", {"batch_id": 0, "results": [2.0], "positions": [10]}),
           ("tell", {"batch_id": 0, "results": [2.0, 2.0], "positions": [1, 1]}),
           ("tell", {"batch_id": 0, "results": ["x"], "positions": [1]}),
           ("tell", {"batch_id": 0, "results": [1.0], "positions": [0.5]}),
           ("tell", {"batch_id": 0, "results": [1.0], "positions": [1], "missing": "never"}),
           ("amend", {"batch_id": 0, "results": [1.0], "positions": [3], "reason": "x"}),
           ("amend", {"batch_id": 0, "results": [2.0], "positions": [0], "reason": ""}),
           ("close_batch", {"batch_id": 2}), ("abandon", {"batch_id": 0})]


def test_errors_have_the_messages_of_python(path, server):
    with pb.Study.open(path) as study:
        study.tell(study.ask().id, [1.0], positions=[0])
        head = study.status().head
        for name, fields in REFUSED:
            with pytest.raises((ValueError, TypeError)) as refused:
                getattr(study, name)(**fields)
            assert call(server.port, "POST", f"/{name}", fields) == (
                400, {"error": str(refused.value)})
            assert study.status().head == head


def test_roles_are_enforced(server):
    for path, rule in RULES.items():
        options = {"body": {}} if rule.method == "POST" else {}
        if rule.role:
            assert call(server.port, rule.method, path, token=None, **options)[0] == 401
            assert call(server.port, rule.method, path, token="x" * 20, **options)[0] == 401
        if rule.role == "record":
            assert call(server.port, rule.method, path, token=READ, **options)[0] == 403
        other = "POST" if rule.method == "GET" else "GET"
        status, headers, _ = exchange(server.port, request(other, path))
        assert status == 405 and rule.method.casefold() in headers["allow"]
    assert call(server.port, "GET", "/nowhere", token=None)[0] == 404
    evil = request("GET", "/status").replace(b"Host: localhost", b"Host: evil.example")
    assert exchange(server.port, evil)[0] == 421


def test_browsers_sign_in(server):
    status, headers, page = exchange(server.port, request("GET", "/", token=None))
    assert status == 401 and b'type="password"' in page and b"<script" not in page
    form = request("POST", "/login", b"token=" + RECORD.encode(), token=None)
    status, headers, _ = exchange(server.port, form)
    assert status == 303 and headers["location"] == "./"
    cookie, *flags = headers["set-cookie"].split("; ")
    assert flags == ["httponly", "samesite=strict"] and RECORD not in cookie
    sent = [f"Cookie: {cookie}"]
    status, headers, page = exchange(server.port, request("GET", "/", token=None, headers=sent))
    assert status == 200 and b"EventSource" in page
    assert "script-src 'sha256-" in headers["content-security-policy"]
    assert call(server.port, "GET", "/status", token=None, headers=sent)[0] == 200
    # the cookie only reads, whatever the token was for
    assert call(server.port, "POST", "/ask", token=None, headers=sent)[0] == 403
    wrong = request("POST", "/login", b"token=" + RECORD.encode() + b"x", token=None)
    status, headers, page = exchange(server.port, wrong)
    assert status == 401 and "set-cookie" not in headers and b"not a token of the study" in page


def test_log_has_names_of_token_owners(path, tmp_path):
    (tmp_path / "tokens").write_text(f"record {'a' * 16} ada\nrecord {'b' * 16}\n")
    with serving(path, "--tokens", tmp_path / "tokens", "--who", "lab") as server:
        call(server.port, "POST", "/ask", token="a" * 16)
        for position, letter in enumerate("ab"):
            call(server.port, "POST", "/tell", {"batch_id": 0, "results": [1.0],
                                                "positions": [position]}, token=letter * 16)
        assert call(server.port, "GET", "/status", token=RECORD)[0] == 401
    with pb.Study.open(path) as study:
        assert [event.who for event in study.log(1)] == ["ada", "ada", "lab"]


def test_changes_of_other_processes_are_seen(path, server):
    """Their changes are visible, and cause events."""
    with socket.create_connection(("127.0.0.1", server.port), 30) as link:
        link.sendall(request("GET", "/events", token=READ))
        heard = b""
        while heard.count(b"\n\n") < 1 or b"data: " not in heard:
            heard += link.recv(4096)
        with pb.Study.open(path) as study:
            study.tell(study.ask().id, np.ones(10))
            head = study.status().head
        assert call(server.port, "GET", "/status")[1]["head"] == head
        while b"data: " + head.encode() not in heard:
            heard += link.recv(4096)
    assert call(server.port, "POST", "/ask")[1]["batch_id"] == 1


def test_requests_share_one_connection(server):
    data = request("POST", "/ask") + request("GET", "/nowhere") + request("GET", "/status")
    with socket.create_connection(("127.0.0.1", server.port), 30) as link:
        link.sendall(data)
        got = b""
        while got.count(b"HTTP/1.1") < 3 or not got.endswith(b"}\n"):
            got += link.recv(1 << 16)
        assert [part[:3] for part in got.split(b"HTTP/1.1 ")[1:]] == [b"200", b"404", b"200"]
        # a rejection with an unread body ends the connection: the body is not read as a request
        inner = request("POST", "/close_batch", {"batch_id": 0})
        link.sendall(request("POST", "/tell", inner, token="x" * 20))
        got = b""
        while part := link.recv(1 << 16):
            got += part
        assert got.count(b"HTTP/1.1") == 1 and b" 401 " in got
    assert call(server.port, "GET", "/batch?batch_id=0")[1]["status"] == "open"


def test_study_that_cannot_be_written_is_reported(path, server):
    """The server waits for another process that writes for long, and reports a damaged file."""
    assert call(server.port, "POST", "/ask")[0] == 200
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE head SET digest = zeroblob(32)")
    status, found = call(server.port, "POST", "/tell", {"batch_id": 0, "results": [1.0],
                                                        "positions": [0]})
    assert status == 503 and "is damaged" in found["error"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_server_stops_on_signals(number, path):
    server = Served(path)
    with socket.create_connection(("127.0.0.1", server.port)) as link:
        link.sendall(request("GET", "/events", token=READ))
        link.recv(1000)
        assert server.stop(number) == 0
    assert not (path.parent / "study.db-wal").exists()


def test_only_serve_loads_the_packages_of_its_extra():
    code = """
import sys
import pybandit.cli._main as cli
cli.make_parser()
assert not {"starlette", "uvicorn", "h11", "anyio"} & sys.modules.keys()
sys.modules["uvicorn"] = None
sys.exit(cli.main(["study", "serve", "none.db"]))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                         env=os.environ | {"PYTHONPATH": ":".join(sys.path)})
    assert run.returncode == 1 and run.stderr.count("\n") == 1
    assert "needs the package uvicorn" in run.stderr and "pybandit-core[serve]" in run.stderr


@pytest.mark.parametrize("action", [["status"], ["verify"], ["report", "-o", "page.html"],
                                    ["export", "wells.csv"], ["close", "0"]])
def test_other_commands_do_not_need_server_packages(action, path, tmp_path):
    with pb.lab.Screen.open(path) as screen:
        screen.ask()
    code = """
import sys
sys.modules["starlette"] = sys.modules["uvicorn"] = None
from pybandit.cli import main
sys.exit(main(sys.argv[1:]))
"""
    for command in ("study", "screen"):
        run = subprocess.run([sys.executable, "-c", code, command, action[0], "--study", path,
                              *action[1:]], cwd=tmp_path, capture_output=True, text=True,
                             env=os.environ | {"PYTHONPATH": ":".join(sys.path)})
        assert run.returncode == 0 and not run.stderr


def test_server_prints_address_and_tokens(path, tmp_path):
    environment = {name: value for name, value in os.environ.items() if "TOKEN" not in name}
    environment["PYTHONPATH"] = ":".join(sys.path)
    command = [sys.executable, "-m", "pybandit", "study", "serve", str(path)]
    with subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE, text=True,
                          env=environment) as process:
        lines = [process.stdout.readline().split() for _ in range(3)]
        process.terminate()
    assert lines[0][0] == f"{path}:" and lines[0][1].startswith("http://127.0.0.1:")
    assert [line[:3] for line in lines[1:]] == [["token", "to", "read:"],
                                                ["token", "to", "record:"]]
    for more, words in [(["--tokens", "none.txt"], "No such file"),
                        (["--host", "256.0.0.1"], "cannot listen on --host 256.0.0.1 and"),
                        (["--study", "none.db"], "named once")]:
        run = subprocess.run([*command, *more], capture_output=True, text=True, env=environment)
        assert run.returncode == 2 and words in run.stderr and run.stderr.count("\n") == 1
    os.unlink(path)
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert run.returncode == 2 and "study.db does not exist" in run.stderr
