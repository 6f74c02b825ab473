"""`pybandit webtest counts` and `amend`, which record files of counts and correct them."""

import sys
import warnings
from functools import partial

from pybandit._shared.files import opened_regular

CHANGES = 20  # maximum number shown


def file_of(arguments):
    """Return the file of counts, or None; a study named before it sets `arguments.study`."""
    files, given = arguments.files, arguments.study_given
    if len(files) > 2:
        raise ValueError(f"counts takes at most a study and a file; got {len(files)} names")
    place = files[0] if len(files) == 2 or files and _is_study(files[0]) else None
    if place is not None and given not in (None, place):
        raise ValueError(f"the study must be named once; got {place} and --study {given}")
    arguments.study = place or arguments.study
    return next((file for file in files[place is not None:]), None)


def _is_study(path):
    try:
        with opened_regular(path) as file:
            return file.read(13) == b"SQLite format"
    except OSError:
        return False


def counts(arguments):
    from pybandit.cli._out import say
    from pybandit.tables._sheet import Dialect
    from pybandit.webtests._count_file import ROLES

    path = file_of(arguments)
    columns = {role: getattr(arguments, f"{role}_column") for role in ROLES}
    dialect = Dialect(arguments.decimal, arguments.thousands,
                      {role: name for role, name in columns.items() if name is not None},
                      arguments.sheet).checked()
    if arguments.cumulative and arguments.revised is not None:
        raise ValueError("--revised must be left out with --cumulative: it corrects counts of one "
                         "batch each, not running totals")
    with opened(arguments) as study:
        if path is None:
            return _print_counts(arguments, study)
        batches = _read(study, path, arguments, dialect)
        results, changes, warned = record_counts(
            study, batches, reason=arguments.revised, cumulative=arguments.cumulative,
            repeated=arguments.repeated)
        status, best = study.status(), study.recommend()
    for words in warned:
        print(f"pybandit webtest counts: warning: {words}", file=sys.stderr)
    n_new, n_known = sum(one.n_new > 0 for one in results), sum(one.n_known > 0 for one in results)
    n_amended = len({key for key, *_ in changes})
    left = status.n_arms if status.survivors is None else len(status.survivors)
    words = (f"the best is {best.best_names[0]}" if status.done else
             f"{best.best_names[0]} leads {left} remaining arms")
    if status.split is not None and status.split.mismatch:
        words += "; visits are not split by the shares"
    made = "".join(f"{line}\n" for line in change_lines(changes))
    amended = f", {n_amended} amended" * bool(n_amended)
    say(arguments, {"batches": list(batches), "n_new": n_new, "n_known": n_known,
                    "n_amended": n_amended, "changes": _as_json(changes), "warnings": warned,
                    "done": status.done, "best": best.best_names[0], "head": status.head},
        f"{made}{', '.join(_few(list(batches)))}: {n_new} new, {n_known} already known{amended}; "
        f"{words}")
    return 0


def _read(study, path, arguments, dialect):
    from pybandit.webtests._count_file import read_counts

    day_first = {None: None, "day-first": True, "month-first": False}[arguments.dates]
    return read_counts(path, arguments.key, dialect, arms=study.names, value_range=_range_of(study),
                       day_first=day_first, skip=arguments.skip)


def _range_of(study):
    """Return the range of a reward, which is unlimited for Gaussian Thompson sampling."""
    policy = study.policy
    wide = getattr(policy, "law", "") == "gaussian"
    return getattr(policy, "value_range", None) or ((-1e150, 1e150) if wide else (0.0, 1.0))


def record_counts(study, batches, reason=None, cumulative=False, repeated=False, only_known=False):
    """Record new batches and amend those recorded with other counts; all or none.

    Parameters
    ----------
    study : WebTest
    batches : dict
        As `read_counts` returns them.
    reason : str, optional
        Reason of amendments; without one, counts that differ from those recorded are rejected.
    cumulative, repeated : bool
        As in `WebTest.tell_counts`.
    only_known : bool
        True to reject a batch that is not recorded yet.

    Returns
    -------
    results : list of TellResult
    changes : list of tuple
        Key, arm, old counts and new counts, for each arm that differs.
    warned : list of str
        Warnings.
    """
    from pybandit.studies._group import whole
    from pybandit.webtests._doubts import GROWN

    def record():
        changes = [] if cumulative else _changes(study, batches)
        if changes and reason is None:
            raise ValueError("counts must equal those already recorded; got "
                             f"{'; '.join(change_lines(changes))}: --revised REASON amends them; "
                             "another part of a batch needs its own key")
        revised, calls = {key for key, *_ in changes}, []
        for key, batch in batches.items():
            if only_known and key not in known:
                raise ValueError(f"key must be one that is already recorded; got {key!r}: "
                                 "record a new key with `pybandit webtest counts`")
            if key in revised:
                calls.append(partial(study.amend_counts, key, batch, reason=reason))
            else:
                calls.append(partial(study.tell_counts, batch, key=key, cumulative=cumulative,
                                     repeated=repeated))
        done = whole(study.study, calls)
        return [one for one in done if hasattr(one, "n_new")], changes

    known = set(study._keys_known())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results, changes = record()
    warned = [str(one.message) for one in caught]
    grown = [words for words in warned if words.startswith(GROWN)]
    return results, changes, [words for words in warned if words not in grown[:-1]]


def _changes(study, batches):
    """Return key, arm, old and new counts if they differ from those recorded."""
    found, changes = study._keys_known(), []
    for key, batch in batches.items():
        for arm, row in batch.items() if key in found else ():
            before = found[key].get(arm, (0, 0.0))
            if tuple(row[:2]) != before[:2] or len(row) > 2 and row[2] != (*before, before[1])[2]:
                changes.append((key, arm, before, row))
    return changes


def change_lines(changes):
    """Return at most `CHANGES` changes in words, one line per arm and batch."""
    lines = [f"{key}: {arm} {before[1]:g} of {before[0]:,} -> {after[1]:g} of {int(after[0]):,}"
             for key, arm, before, after in changes[:CHANGES]]
    return lines + [f"and {len(changes) - CHANGES} more"] * (len(changes) > CHANGES)


def _as_json(changes):
    return [{"key": key, "arm": arm, "before": list(before), "after": list(after)}
            for key, arm, before, after in changes]


def _few(names):
    return names if len(names) <= 2 else [names[0], "...", names[-1]]


def _print_counts(arguments, study):
    from pybandit._shared.cells import plain
    from pybandit.cli._out import say
    from pybandit.lab._write import table

    found = study.counts()
    names = [name for name in ("key", "name", "trials", "sum", "squares", "who") if name in found]
    rows = [[one.item() if hasattr(one, "item") else one for one in row] for row in
            zip(*(found[name] for name in names), strict=True)]
    is_whole = "squares" not in names and all(float(row[3]).is_integer() for row in rows)
    head = ["key", "arm", "trials", "successes" if is_whole else "sum", *names[4:]]
    text = [[plain(cell) if isinstance(cell, float) and cell == cell else
             "" if isinstance(cell, float) else cell for cell in row] for row in rows]
    say(arguments, {"counts": [{name: None if cell != cell else cell for name, cell in
                                zip(names, row, strict=True)} for row in rows]},
        table([head, *text]).rstrip("\n"))
    return 0


def opened(arguments):
    """Open the test named by the arguments."""
    from pybandit.webtests import WebTest

    return WebTest.open(arguments.study, who=arguments.who)


def amend(arguments):
    with opened(arguments) as test:
        return _amend(arguments, test)


def _amend(arguments, study):
    from pybandit.cli._out import say
    from pybandit.tables._sheet import Dialect
    from pybandit.webtests._count_file import read_counts
    from pybandit.webtests._dates import date_key

    if (arguments.file is None) == (not arguments.counts):
        raise ValueError("amend takes --file with counts, or --key with --counts ARM=TRIALS,SUM")
    if arguments.counts:
        if arguments.key is None:
            raise ValueError("--counts needs --key, the key of their batch")
        batches = {date_key(arguments.key): dict(map(_parsed, arguments.counts))}
    else:
        dialect = Dialect(arguments.decimal, arguments.thousands, sheet=arguments.sheet).checked()
        batches = read_counts(arguments.file, arguments.key, dialect, arms=study.names,
                              value_range=_range_of(study))
    _, changes, warned = record_counts(study, batches, arguments.reason, only_known=True)
    say(arguments, {"n_amended": len(changes), "changes": _as_json(changes), "warnings": warned,
                    "head": study.status().head},
        "\n".join([*change_lines(changes), f"{len(changes)} counts amended" if changes else
                   "nothing to amend"]))
    return 0


def _parsed(text):
    """Return the name and the counts of ARM=TRIALS,SUM or ARM=TRIALS,SUM,SQUARES."""
    from pybandit.cli._types import number_of

    name, sign, values = text.rpartition("=")
    parts = values.split(",")
    if not sign or len(parts) not in (2, 3):
        raise ValueError(f"--counts must be ARM=TRIALS,SUM; got {text!r}")
    return name, tuple(number_of(part) for part in parts)
