"""The actions of `pybandit screen`. Each prints its result and returns the exit status."""

import os
import sys

from pybandit.cli._out import batch_as_json, content_of, put, say
from pybandit.cli._screen_plan import plan, policy_for
from pybandit.cli._screen_policies import AUTO, make_policy
from pybandit.lab import Screen
from pybandit.lab._picklists import (
    HEADERS,
    deck_of,
    picklist,
    read_picklist,
    read_stock,
    transfers_of,
)
from pybandit.lab._read import COLUMNS
from pybandit.lab._values import read_prior
from pybandit.lab._write import joined, plate_texts
from pybandit.lab.plates import Layout, Plates, controls_of
from pybandit.studies._plain import as_json
from pybandit.tables._arms import ARM_HEADERS, read_arms
from pybandit.tables._markers import MARKERS, markers_of
from pybandit.tables._sheet import Dialect

OPTIONS = ("k", "batches", "budget", "repeats", "delta", "noise_std", "reuse", "seed",
           "allow_unmeasured")
ROBOTS = tuple(HEADERS)

__all__ = ["amend", "new", "next", "plan", "record"]


def new(arguments):
    dialect = Dialect(sheet=arguments.sheet)
    names, noise, title = read_arms(arguments.arms, arguments.column, arguments.header, dialect)
    plates = _plates(arguments, names)
    options = {name: getattr(arguments, name) for name in OPTIONS}
    size = arguments.batch_size or plates.n_free
    if arguments.prior is not None:
        options["prior"] = read_prior(arguments.prior, names)
    chosen, why = arguments.policy, ""
    if chosen != AUTO and (arguments.noise is not None or arguments.pilot is not None):
        raise ValueError(f"--policy {chosen} does not take --noise or --pilot; --policy auto does")
    if chosen == AUTO:
        chosen, why = policy_for(arguments, len(names), size)
    policy = make_policy(chosen, len(names), options | {"batch_size": size}, noise)
    with Screen.create(arguments.study, policy, names, who=arguments.who,
                       plates=plates) as screen:
        status = screen.status()
        say(arguments, as_json(status, screen) | {"why": why or None},
            f"{why}\n" * bool(why)
            + f"{status.path}: {status.policy}, {status.n_arms:,} arms{title_words(title)}; next: "
              "the first plate")
    return 0


def _plates(arguments, names):
    """Return the `Plates` of the options, checked against the names of the arms."""
    layout = Layout.parse(arguments.plate)
    plates = Plates(
        layout, controls_of(arguments.controls, layout), arguments.control_label,
        arguments.normalise, arguments.log, arguments.flip,
        controls_of(arguments.positives, layout), arguments.positive_label, arguments.fill,
        arguments.fill_seed, arguments.free_edges)
    for wells, label, option in ((plates.controls, plates.label, "--control-label"),
                                 (plates.positives, plates.positive_label, "--positive-label")):
        if wells and label in names:
            raise ValueError(f"{option} must differ from the arms; got {label!r}")
    return plates


def title_words(title):
    """Return words that name the header of the arms, or nothing if it is a usual one."""
    return "" if title is None or title.casefold() in ARM_HEADERS else f" under {title!r}"


def next(arguments):
    with _opened(arguments) as screen:
        batch, plates = screen.ask(), screen.plates
    if batch is None:
        say(arguments, {"done": True, "batch": None, "plates": [], "files": [], "wells": []},
            "done: the screen needs no more plates; status shows the answer", file=sys.stderr)
        return 4
    if arguments.format in ROBOTS:
        return _next_for_robot(arguments, batch, plates)
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


def _next_for_robot(arguments, batch, plates):
    """Write the transfers of a batch to one file."""
    form = arguments.format
    for name in "stock", "volume":
        if getattr(arguments, name) is None:
            raise ValueError(f"--format {form} needs --{name}")
    stock = read_stock(arguments.stock)
    transfers, by_hand = transfers_of(plates, batch.id, batch.names, stock)
    text = picklist(transfers, form, arguments.volume, plates.layout)
    deck = deck_of(transfers) if form == "opentrons" else {}
    # a robot cannot notice an error: read the list back before it is written
    if read_picklist(text, form, stock, deck) != {(one.plate, one.well): one.arm
                                                  for one in transfers}:
        raise ValueError(f"--stock must have names that --format {form} can represent")
    files = [] if arguments.out is None else [arguments.out]
    if files:
        put(arguments.out, content_of(arguments.out, text), arguments.overwrite)
    slots = [f"slot {slot}: {kind} {name}" for (kind, name), slot in deck.items()]
    hand = [f"{label}, {n:,} wells, is not in the stock" for label, n in by_hand.items()]
    if arguments.json:
        say(arguments, batch_as_json(batch, plates) | {
            "files": files, "transfers": [list(one) for one in transfers],
            "deck": {str(slot): name for (_, name), slot in deck.items()}, "by_hand": by_hand})
    elif not files:
        sys.stdout.write(text)
        print(*slots, *hand, sep="\n", end="\n" * bool(slots or hand), file=sys.stderr)
    else:
        names = plates.names(batch.id, len(batch.names))
        print(f"plate {', '.join(_few(names))}: {len(transfers):,} transfers, in {arguments.out}",
              *slots, *hand, sep="\n")
    return 0


def record(arguments):
    with _opened(arguments) as screen:
        done = screen.record(arguments.file, batch=arguments.batch, partial=arguments.partial,
                             lost=arguments.lost, dialect=_dialect(arguments),
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


def _dialect(arguments):
    """Return the `Dialect` of the options."""
    columns = {role: getattr(arguments, f"{role}_column") for role in COLUMNS}
    markers = MARKERS if arguments.lost else frozenset()
    if arguments.lost_markers is not None:
        markers = markers_of(arguments.lost_markers)
    return Dialect(arguments.decimal, arguments.thousands,
                   {role: name for role, name in columns.items() if name is not None},
                   arguments.sheet, arguments.measurement, markers,
                   arguments.take_limits, arguments.instrument).checked()


def _marked(done):
    """Return the number of wells with each marker or limit, in words."""
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
            raise ValueError("--well needs --plate, the plate of the well")
        done = screen.amend_readings(arguments.reason, path=arguments.file, plate=arguments.plate,
                                     wells=arguments.well, batch=arguments.batch,
                                     lost=arguments.lost, dialect=_dialect(arguments))
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
    """Return the names of the files of n plates."""
    stem, extension = os.path.splitext(path)
    return [path] if n == 1 else [f"{stem}_p{i + 1}{extension}" for i in range(n)]
