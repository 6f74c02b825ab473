"""What each action of `pybandit study` does. Each prints, and returns the exit status."""

import os
import sys

from pybandit.cli import _study_counts
from pybandit.cli._study_amend import amend_results
from pybandit.cli._study_arms import ARM_HEADERS, read_arms
from pybandit.cli._study_import import import_results
from pybandit.cli._study_made import dialect_of, plates_of
from pybandit.cli._study_out import batch_as_json, content_of, put, say, written
from pybandit.cli._study_plan import plan, policy_for
from pybandit.cli._study_policies import AUTO, make_policy
from pybandit.cli._study_robots import ROBOTS, robot_list
from pybandit.cli._study_tables import controls_as_json, status_lines
from pybandit.cli._study_values import read_prior
from pybandit.studies import Study, _export
from pybandit.studies._plain import as_json
from pybandit.studies._plate_write import joined, plate_texts
from pybandit.studies._sheet import Dialect
from pybandit.studies.controls import readings_of
from pybandit.studies.plates import Plates

OPTIONS = ("k", "batches", "budget", "repeats", "delta", "noise_std", "reuse", "seed",
           "allow_unmeasured")

__all__ = ["abandon", "amend", "close", "export", "new", "next", "plan", "record", "recover",
           "report", "status", "verify"]


def new(arguments):
    dialect = Dialect(sheet=arguments.sheet)
    names, noise, title = read_arms(arguments.arms, arguments.column, arguments.header, dialect)
    plates = plates_of(arguments, names)
    options = {name: getattr(arguments, name) for name in OPTIONS}
    size = arguments.batch_size or plates.n_free
    if arguments.prior is not None:
        options["prior"] = read_prior(arguments.prior, names)
    chosen, why = arguments.policy, ""
    if chosen != AUTO and (arguments.noise is not None or arguments.pilot is not None):
        raise ValueError(f"--policy {chosen} takes no --noise and no --pilot: auto does")
    if chosen == AUTO:
        chosen, why = policy_for(arguments, len(names), size)
    policy = make_policy(chosen, len(names), options | {"batch_size": size}, noise)
    with Study.create(arguments.study, policy, names, who=arguments.who,
                      settings=plates.settings()) as study:
        status = study.status()
        say(arguments, as_json(status, study) | {"why": why or None},
            f"{why}\n" * bool(why)
            + f"{status.path}: {status.policy}, {status.n_arms:,} arms{_under(title)}; next: the "
              "first plate")
    return 0


def _under(title):
    """The header, where it is none of the plain ones."""
    return "" if title is None or title.casefold() in ARM_HEADERS else f" under {title!r}"


def next(arguments):
    with _opened(arguments) as study:
        batch, plates = study.ask(), Plates.of(study.settings)
    if batch is None:
        say(arguments, {"done": True, "batch": None, "plates": [], "files": [], "wells": []},
            "done: nothing more is asked for; status has the answer", file=sys.stderr)
        return 4
    if arguments.format in ROBOTS:
        return robot_list(arguments, batch, plates)
    texts = plate_texts(plates, batch.id, batch.names, arguments.format)
    files = []
    if arguments.out is not None:
        files = _files_of(arguments.out, len(texts))
        for path, text in zip(files, texts.values(), strict=True):
            put(path, content_of(path, text), arguments.overwrite)
    if arguments.json:
        say(arguments, batch_as_json(batch, plates) | {"files": files})
    elif not files:
        sys.stdout.write(joined(texts.values(), arguments.format))
    else:
        print(f"plate {', '.join(_few(list(texts)))}: {len(batch.names):,} wells, in "
              f"{', '.join(_few(files))}")
    return 0


def record(arguments):
    with _opened(arguments) as study:
        done = import_results(study, arguments.file, batch=arguments.batch,
                              partial=arguments.partial, lost=arguments.lost,
                              dialect=dialect_of(arguments), plate=arguments.plate)
        status = study.status()
    parts = [f"{done.n_new:,} new"] if done.n_new or not done.n_known else []
    parts += [f"{done.n_known:,} already known"] * bool(done.n_known)
    parts += [f"{done.n_lost:,} lost"] * bool(done.n_lost)
    state = "" if done.complete else f"; {status.n_open:,} wells are still open"
    say(arguments, done._asdict() | {"n_open": status.n_open, "done": status.done,
                                     "head": status.head},
        f"plate {', '.join(_few(done.plates))}: {', '.join(parts)}"
        f"{' (late)' if done.is_late and done.n_new else ''}{state}{_marked(done)}"
        f"{'' if done.has_arms else '; the file names no arms, so none were checked'}"
        f"{done.measurement and f'{chr(10)}measurement: {done.measurement}'}")
    return 0


def _marked(done):
    """Return how many wells had which marker or limit, in words."""
    words = ""
    for what, counts in (("marked", done.markers), ("at a limit", done.limits)):
        if counts:
            some = [f"{cell[:20]} {n:,}" for cell, n in sorted(counts.items())]
            words += f"; {what}: {', '.join(some[:4])}{', ...' * (len(some) > 4)}"
    return words


def amend(arguments):
    with _opened(arguments) as study:
        if _export.is_counted(study):
            return _study_counts.amend(arguments, study)
        if arguments.key is not None or arguments.counts:
            raise ValueError("--key and --counts need a study of counts; got one of batches")
        if (arguments.file is None) == (not arguments.well):
            raise ValueError("amend takes --file with readings, or --plate with --well WELL=VALUE")
        if arguments.well and arguments.plate is None:
            raise ValueError("--well needs --plate, the plate that it is on")
        done = amend_results(study, arguments.reason, path=arguments.file, plate=arguments.plate,
                             wells=arguments.well, batch=arguments.batch, lost=arguments.lost,
                             dialect=dialect_of(arguments))
        head = study.status().head
    parts = [f"{done.n_readings:,} reading{'s' * (done.n_readings != 1)} amended"
             if done.n_readings else "nothing to amend"]
    parts += [f"{done.n_amended:,} result{'s' * (done.n_amended != 1)} changed"] * bool(
        done.n_amended)
    parts += [f"{done.n_withdrawn:,} withdrawn"] * bool(done.n_withdrawn)
    say(arguments, done._asdict() | {"head": head},
        f"plate {', '.join(_few(done.plates))}: {'; '.join(parts)}")
    return 0


def close(arguments):
    with _opened(arguments) as study:
        study.close_batch(arguments.batch)
        lost = int((study.batch(arguments.batch).states == "lost").sum())
    say(arguments, {"batch": arguments.batch, "n_lost": lost},
        f"batch {arguments.batch} is closed: {lost:,} wells lost, unless they come late")
    return 0


def abandon(arguments):
    with _opened(arguments) as study:
        study.abandon(arguments.batch, discard=arguments.discard)
    say(arguments, {"batch": arguments.batch},
        f"batch {arguments.batch} is abandoned: next gives its arms again, as another plate")
    return 0


def status(arguments):
    with _opened(arguments) as study:
        found = study.status()
        opened = None if found.open_batch is None else study.batch(found.open_batch)
        best, plates = study.recommend(), Plates.of(study.settings)
        readings, counted = readings_of(study), hasattr(study.policy, "tell_counts")
        say(arguments, as_json(found, study) | {"controls": controls_as_json(readings)},
            "\n".join(status_lines(found, plates, opened, best, arguments.top, readings, counted)))
    return 0


def verify(arguments):
    with _opened(arguments) as study:
        found = study.verify(arguments.head)
    say(arguments, found.to_dict(),
        f"whole: {found.n_events:,} events, {found.n_batches:,} batches, {found.n_pulls:,} "
        f"pulls\nhead {found.head}")
    return 0


def recover(arguments):
    with Study.open(arguments.study, who=arguments.who, without_log=True) as study:
        found = study.verify()
    say(arguments, found.to_dict(),
        f"continues with {found.n_events:,} events, {found.n_batches:,} batches, "
        f"{found.n_pulls:,} pulls\nhead {found.head}")
    return 0


def report(arguments):
    from pybandit.studies.report import write_report

    if arguments.out is None:
        raise ValueError("-o must be a file; got -")
    with _opened(arguments) as study:
        write_report(study, arguments.out)
    say(arguments, {"file": arguments.out}, f"report: {arguments.out}")
    return 0


def export(arguments):
    with _opened(arguments) as study:
        plates, is_counted = Plates.of(study.settings), _export.is_counted(study)
        if is_counted and arguments.batch is not None:
            raise ValueError("--batch must be left out: this study has counts, not wells; got "
                             f"{arguments.batch}")

        def write_to(write):
            return _export.export(study, plates, write, arguments.batch)

        if arguments.out is None:
            write_to(sys.stdout.write)
            return 0
        n = written(arguments.out, write_to)
    what, words = ("n_rows", "rows of counts") if is_counted else ("n_wells", "wells")
    say(arguments, {"file": arguments.out, what: n}, f"{n:,} {words}: {arguments.out}")
    return 0


def _opened(arguments):
    return Study.open(arguments.study, who=arguments.who)


def _few(names):
    return names if len(names) <= 4 else [*names[:2], "...", names[-1]]


def _files_of(path, n):
    """Where n plates go."""
    stem, extension = os.path.splitext(path)
    return [path] if n == 1 else [f"{stem}_p{i + 1}{extension}" for i in range(n)]
