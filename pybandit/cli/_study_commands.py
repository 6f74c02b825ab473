"""Actions on the file of a study, a screen or a web test. Each returns the exit status."""

import json
import sys

from pybandit._shared.optional import require
from pybandit.cli._out import say, written
from pybandit.cli._status import controls_as_json, status_lines
from pybandit.lab import Screen
from pybandit.serving._study import export_of, open_any, report_of
from pybandit.studies._plain import as_json
from pybandit.webtests import WebTest


def _open(arguments):
    return open_any(arguments.study, who=arguments.who)


def _open_with_batches(arguments):
    study = _open(arguments)
    if isinstance(study, WebTest):
        study.close()
        raise ValueError(f"{arguments.study} is a web test, which has no batches of wells: amend "
                         "corrects its counts")
    return study


def close(arguments):
    with _open_with_batches(arguments) as study:
        study.close_batch(arguments.batch)
        lost = int((study.batch(arguments.batch).states == "lost").sum())
    say(arguments, {"batch": arguments.batch, "n_lost": lost},
        f"batch {arguments.batch} is closed: {lost:,} wells lost, unless reported late")
    return 0


def abandon(arguments):
    with _open_with_batches(arguments) as study:
        study.abandon(arguments.batch, discard=arguments.discard)
    say(arguments, {"batch": arguments.batch},
        f"batch {arguments.batch} is abandoned: next requests its arms again, as another plate")
    return 0


def status(arguments):
    with _open(arguments) as study:
        found, best = study.status(), study.recommend()
        known, more = as_json(found, study), {}
        if isinstance(study, WebTest):
            more = {"counted": True}
        else:
            more["opened"] = None if found.open_batch is None else study.batch(found.open_batch)
        if isinstance(study, Screen):
            more |= {"plates": study.plates, "readings": study.readings()}
            known["controls"] = controls_as_json(more["readings"])
        say(arguments, known, "\n".join(status_lines(found, best, arguments.top, **more)))
    return 0


def verify(arguments):
    with _open(arguments) as study:
        found = study.verify(arguments.head)
    say(arguments, found.to_dict(),
        f"valid: {found.n_events:,} events, {found.n_batches:,} batches, {found.n_pulls:,} "
        f"pulls\nhead {found.head}")
    return 0


def recover(arguments):
    with open_any(arguments.study, who=arguments.who, without_log=True) as study:
        found = study.verify()
    say(arguments, found.to_dict(),
        f"continues with {found.n_events:,} events, {found.n_batches:,} batches, "
        f"{found.n_pulls:,} pulls\nhead {found.head}")
    return 0


def report(arguments):
    if arguments.out is None:
        raise ValueError("-o must be a file; got -")
    with _open(arguments) as study:
        report_of(study).write_report(study, arguments.out, title=arguments.title)
    say(arguments, {"file": arguments.out}, f"report: {arguments.out}")
    return 0


def export(arguments):
    with _open(arguments) as study:
        is_counted = isinstance(study, WebTest)
        if is_counted and arguments.batch is not None:
            raise ValueError("--batch must be left out: this study has counts, not wells; got "
                             f"{arguments.batch}")
        write_all = export_of(study)

        def write_to(write):
            return write_all(write, arguments.batch)

        if arguments.out is None:
            write_to(sys.stdout.write)
            return 0
        n = written(arguments.out, write_to)
    what, words = ("n_rows", "rows of counts") if is_counted else ("n_wells", "wells")
    say(arguments, {"file": arguments.out, what: n}, f"{n:,} {words}: {arguments.out}")
    return 0


def serve(arguments):
    """Serve the study over HTTP until interrupted or terminated."""
    import asyncio

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
