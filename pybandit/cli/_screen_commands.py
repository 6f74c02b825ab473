"""What each action of `pybandit screen` does. Each prints, and returns the exit status."""

import os
import sys

from pybandit.cli._out import batch_as_json, content_of, put, say
from pybandit.cli._screen_made import dialect_of, plates_of
from pybandit.cli._screen_plan import plan, policy_for
from pybandit.cli._screen_policies import AUTO, make_policy
from pybandit.cli._screen_robots import ROBOTS, robot_list
from pybandit.lab import Screen
from pybandit.lab._values import read_prior
from pybandit.lab._write import joined, plate_texts
from pybandit.studies._plain import as_json
from pybandit.tables._arms import ARM_HEADERS, read_arms
from pybandit.tables._sheet import Dialect

OPTIONS = ("k", "batches", "budget", "repeats", "delta", "noise_std", "reuse", "seed",
           "allow_unmeasured")

__all__ = ["amend", "new", "next", "plan", "record"]


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
    with Screen.create(arguments.study, policy, names, who=arguments.who,
                       plates=plates) as screen:
        status = screen.status()
        say(arguments, as_json(status, screen) | {"why": why or None},
            f"{why}\n" * bool(why)
            + f"{status.path}: {status.policy}, {status.n_arms:,} arms{_under(title)}; next: the "
              "first plate")
    return 0


def _under(title):
    """The header, where it is none of the plain ones."""
    return "" if title is None or title.casefold() in ARM_HEADERS else f" under {title!r}"


def next(arguments):
    with _opened(arguments) as screen:
        batch, plates = screen.ask(), screen.plates
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
    with _opened(arguments) as screen:
        done = screen.record(arguments.file, batch=arguments.batch, partial=arguments.partial,
                             lost=arguments.lost, dialect=dialect_of(arguments),
                             plate=arguments.plate)
        status = screen.status()
    parts = [f"{done.n_new:,} new"] if done.n_new or not done.n_known else []
    parts += [f"{done.n_known:,} already known"] * bool(done.n_known)
    parts += [f"{done.n_lost:,} lost"] * bool(done.n_lost)
    state = "" if done.complete else f"; {status.n_open:,} wells are still open"
    say(arguments, done.to_dict() | {"n_open": status.n_open, "done": status.done,
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
    with _opened(arguments) as screen:
        if (arguments.file is None) == (not arguments.well):
            raise ValueError("amend takes --file with readings, or --plate with --well WELL=VALUE")
        if arguments.well and arguments.plate is None:
            raise ValueError("--well needs --plate, the plate that it is on")
        done = screen.amend_readings(arguments.reason, path=arguments.file, plate=arguments.plate,
                                     wells=arguments.well, batch=arguments.batch,
                                     lost=arguments.lost, dialect=dialect_of(arguments))
        head = screen.status().head
    parts = [f"{done.n_readings:,} reading{'s' * (done.n_readings != 1)} amended"
             if done.n_readings else "nothing to amend"]
    parts += [f"{done.n_amended:,} result{'s' * (done.n_amended != 1)} changed"] * bool(
        done.n_amended)
    parts += [f"{done.n_withdrawn:,} withdrawn"] * bool(done.n_withdrawn)
    say(arguments, done.to_dict() | {"head": head},
        f"plate {', '.join(_few(done.plates))}: {'; '.join(parts)}")
    return 0


def _opened(arguments):
    return Screen.open(arguments.study, who=arguments.who)


def _few(names):
    return names if len(names) <= 4 else [*names[:2], "...", names[-1]]


def _files_of(path, n):
    """Where n plates go."""
    stem, extension = os.path.splitext(path)
    return [path] if n == 1 else [f"{stem}_p{i + 1}{extension}" for i in range(n)]
