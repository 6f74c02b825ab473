"""What each action of `pybandit study` does. Each prints, and returns the exit status."""

import json
import os
import secrets
import sys
from contextlib import suppress
from pathlib import Path

from pybandit.cli._study_arms import read_arms
from pybandit.cli._study_import import import_results
from pybandit.cli._study_plan import plan, policy_for
from pybandit.cli._study_policies import AUTO, make_policy
from pybandit.cli._study_tables import as_json, exported, status_lines
from pybandit.cli._study_values import read_prior
from pybandit.studies import Study
from pybandit.studies._plate_write import joined, plate_texts
from pybandit.studies.plates import Layout, Plates, controls_of

OPTIONS = "k", "batches", "budget", "repeats", "delta", "sigma", "reuse", "seed", "allow_unmeasured"

__all__ = ["abandon", "close", "export", "new", "next", "plan", "record", "report", "status",
           "verify"]


def new(arguments):
    names, variances = read_arms(arguments.arms, arguments.column)
    layout = Layout.parse(arguments.plate)
    plates = Plates(layout, controls_of(arguments.controls, layout), arguments.control_label,
                    arguments.normalise, arguments.log, arguments.flip)
    if plates.controls and plates.label in names:
        raise ValueError(f"--control-label must differ from the arms; got {plates.label!r}")
    options = {name: getattr(arguments, name) for name in OPTIONS}
    size = arguments.batch_size or plates.n_free
    if arguments.prior is not None:
        options["prior"] = read_prior(arguments.prior, names)
    chosen, why = arguments.policy, ""
    if chosen != AUTO and (arguments.noise is not None or arguments.pilot is not None):
        raise ValueError(f"--policy {chosen} takes no --noise and no --pilot: auto does")
    if chosen == AUTO:
        chosen, why = policy_for(arguments, len(names), size)
    policy = make_policy(chosen, len(names), options | {"batch_size": size}, variances)
    with Study.create(arguments.study, policy, names, who=arguments.who,
                      settings=plates.settings()) as study:
        status = study.status()
        _say(arguments, as_json(status, study) | {"why": why or None},
             f"{why}\n" * bool(why)
             + f"{status.path}: {status.policy}, {status.n_arms:,} arms; next: the first plate")
    return 0


def next(arguments):
    with _opened(arguments) as study:
        batch, plates = study.ask(), Plates.of(study.settings)
    if batch is None:
        _say(arguments, {"done": True, "batch": None, "plates": [], "files": [], "wells": []},
             "done: nothing more is asked for; status has the answer", file=sys.stderr)
        return 4
    texts = plate_texts(plates, batch.id, batch.names, arguments.format)
    files = []
    if arguments.out is not None:
        files = _files_of(arguments.out, len(texts))
        for path, text in zip(files, texts.values(), strict=True):
            _put(path, text, arguments.force)
    labels, n_wells = plates.labels(batch.names), plates.layout.n_wells
    if arguments.json:
        wells = [[plate, well, label] for plate, at in zip(texts, range(0, len(labels), n_wells),
                                                           strict=True)
                 for well, label in zip(plates.layout.wells, labels[at:at + n_wells], strict=True)
                 if label]
        _say(arguments, {"done": False, "batch": batch.id, "plates": list(texts),
                         "files": files, "wells": wells})
    elif not files:
        sys.stdout.write(joined(texts.values(), arguments.format))
    else:
        print(f"plate {', '.join(_few(list(texts)))}: {len(batch.names):,} wells, in "
              f"{', '.join(_few(files))}")
    return 0


def record(arguments):
    with _opened(arguments) as study:
        done = import_results(study, arguments.file, batch=arguments.batch,
                              partial=arguments.partial, lost=arguments.lost)
        status = study.status()
    parts = [f"{done.n_new:,} new"] if done.n_new or not done.n_known else []
    parts += [f"{done.n_known:,} already known"] * bool(done.n_known)
    parts += [f"{done.n_lost:,} lost"] * bool(done.n_lost)
    state = "" if done.complete else f"; {status.n_open:,} wells are still open"
    _say(arguments, done._asdict() | {"n_open": status.n_open, "done": status.done,
                                      "head": status.head},
         f"plate {', '.join(_few(done.plates))}: {', '.join(parts)}"
         f"{' (late)' if done.is_late and done.n_new else ''}{state}")
    return 0


def close(arguments):
    with _opened(arguments) as study:
        study.close_batch(arguments.batch)
        lost = int((study.batch(arguments.batch).states == "lost").sum())
    _say(arguments, {"batch": arguments.batch, "n_lost": lost},
         f"batch {arguments.batch} is closed: {lost:,} wells lost, unless they come late")
    return 0


def abandon(arguments):
    with _opened(arguments) as study:
        study.abandon(arguments.batch, discard=arguments.discard)
    _say(arguments, {"batch": arguments.batch},
         f"batch {arguments.batch} is abandoned: next gives its arms again, as another plate")
    return 0


def status(arguments):
    with _opened(arguments) as study:
        found = study.status()
        opened = None if found.open_batch is None else study.batch(found.open_batch)
        best, plates = study.recommend(), Plates.of(study.settings)
        _say(arguments, as_json(found, study),
             "\n".join(status_lines(found, plates, opened, best, arguments.top)))
    return 0


def verify(arguments):
    with _opened(arguments) as study:
        found = study.verify(arguments.head)
    _say(arguments, found._asdict(),
         f"whole: {found.n_events:,} events, {found.n_batches:,} batches, {found.n_pulls:,} "
         f"pulls\nhead {found.head}")
    return 0


def report(arguments):
    from pybandit.studies.report import write_report

    if arguments.out is None:
        raise ValueError("-o must be a file; got -")
    with _opened(arguments) as study:
        write_report(study, arguments.out)
    _say(arguments, {"file": arguments.out}, f"report: {arguments.out}")
    return 0


def export(arguments):
    with _opened(arguments) as study:
        text, n = exported(study, Plates.of(study.settings))
    if arguments.out is None:
        sys.stdout.write(text)
        return 0
    _put(arguments.out, text, force=True)
    _say(arguments, {"file": arguments.out, "n_wells": n}, f"{n:,} wells: {arguments.out}")
    return 0


def _opened(arguments):
    return Study.open(arguments.study, who=arguments.who)


def _say(arguments, known, text="", file=None):
    if arguments.json:
        print(json.dumps(known, indent=1, allow_nan=False))
    else:
        print(text, file=file)


def _few(names):
    return names if len(names) <= 4 else [*names[:2], "...", names[-1]]


def _files_of(path, n):
    """Where n plates go."""
    stem, extension = os.path.splitext(path)
    return [path] if n == 1 else [f"{stem}_p{i + 1}{extension}" for i in range(n)]


def _put(path, text, force):
    """Write a file whole or not at all; one that holds something else needs `force`."""
    content, file = text.encode(), Path(path)
    if file.exists() and not force:
        if file.read_bytes() == content:
            return
        raise FileExistsError(f"{path} holds something else, results perhaps; --force replaces it")
    draft = file.with_name(f"{file.name}.{secrets.token_hex(8)}.new")
    try:
        draft.write_bytes(content)
        draft.replace(file)
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()
