"""`pybandit study`: web tests, which are told counts."""

import argparse
import math
import os
from functools import partial

from pybandit._shared.files import opened_regular
from pybandit.cli._study_options import add_numbers
from pybandit.cli._types import at_least, number_of

HEADERS = {"arm": "arm", "name": "arm", "page": "arm", "trials": "trials", "visits": "trials",
           "successes": "successes", "conversions": "successes", "sum": "successes",
           "key": "key", "day": "key", "date": "key"}


def add(parts, part_of):
    """Add the actions; `part_of` makes one that works on a study."""
    _add_new(parts, part_of)
    _add_counts(parts, part_of)
    _add_arms(parts, part_of)
    _add_plan(parts, part_of)


def _add_new(parts, part_of):
    part = part_of(parts, "new-ab", "begin a test of pages by counts: the best one, wrong with "
                                    "probability at most --delta")
    part.add_argument("--arms", required=True, metavar="A,B,...",
                      help="the pages' names, or a file of them")
    part.add_argument("--delta", type=_probability, metavar="P",
                      help="probability of a wrong winner (default 0.05)")
    part.add_argument("--values", nargs=2, type=float, metavar=("LOW", "HIGH"),
                      help="where each visit's value lies (default 0 1: it converts or not)")
    part.add_argument("--thompson", type=at_least(2), metavar="N",
                      help="no test: more traffic to what does well, N visits decided at a time")
    part.add_argument("--seed", type=at_least(0), metavar="N", help="of what --thompson draws")
    part.set_defaults(do=new)


def _add_counts(parts, part_of):
    part = part_of(parts, "counts", "record a file of counts; without one, print all that are "
                                    "recorded", place=False)
    part.add_argument("files", nargs="*", metavar="STUDY FILE.csv",
                      help="the study, as --study, and CSV or .xlsx: columns arm, trials and "
                           "successes (or sum), perhaps key")
    part.add_argument("--key", metavar="TEXT",
                      help="what the batch is called: recorded once (default: the file's name)")
    add_numbers(part)
    part.set_defaults(do=counts)
    part = part_of(parts, "split", "how the next visits are shared out")
    part.add_argument("visits", type=at_least(0), metavar="N")
    part.set_defaults(do=split)


def _add_arms(parts, part_of):
    part = part_of(parts, "add-arm", "one page more, from now on")
    part.add_argument("arm", metavar="NAME")
    part.set_defaults(do=add_arm)
    part = part_of(parts, "retire", "take a page out, for reasons other than its results")
    part.add_argument("arm", metavar="NAME")
    part.add_argument("--reason", required=True, metavar="TEXT", help="recorded")
    part.set_defaults(do=retire)


def _add_plan(parts, part_of):
    part = part_of(parts, "plan-ab", "days to a winner, and how often it is wrong, by playing the "
                                     "test; equal rates are an A/A check")
    part.add_argument("--rates", required=True, metavar="P,P,...", type=_rates,
                      help="what the pages may convert: 4%%,4.5%%,5%% or .04,.045,.05")
    part.add_argument("--visits", required=True, type=at_least(1), metavar="N",
                      help="of all pages in a day, or whatever is recorded at a time")
    part.add_argument("--delta", type=_probability, default=0.05, metavar="P",
                      help="probability of a wrong winner (default %(default)s)")
    part.add_argument("--days", type=at_least(1), default=200, metavar="N",
                      help="at most (default %(default)s)")
    part.add_argument("--runs", type=at_least(1), default=200, metavar="N",
                      help="tests played (default %(default)s)")
    part.add_argument("--seed", type=at_least(0), default=1, metavar="N",
                      help="of what is drawn (default %(default)s)")
    part.set_defaults(do=plan)


def _probability(text):
    value = number_of(text)
    if not 0.0 < value < 1.0:
        raise argparse.ArgumentTypeError(f"must be above 0 and below 1; got {text}")
    return value


def _rates(text):
    parts = [part.strip() for part in text.split(",")]
    rates = [number_of(part[:-1]) / 100 if part.endswith("%") else number_of(part)
             for part in parts]
    if len(rates) < 2 or not all(0.0 < rate < 1.0 for rate in rates):
        raise argparse.ArgumentTypeError(f"must be two rates or more, above 0 and below 1; got "
                                         f"{text}")
    return rates


# what they do

def new(arguments):
    from pybandit.betting import CountRace
    from pybandit.cli._study_arms import read_arms
    from pybandit.cli._study_commands import _under
    from pybandit.cli._study_out import say
    from pybandit.policies import ThompsonSampling
    from pybandit.studies import Study

    names, title = [name.strip() for name in arguments.arms.split(",")], None
    if len(names) == 1 or os.path.exists(arguments.arms):
        names, _, title = read_arms(arguments.arms)
    if len(names) < 2:
        raise ValueError(f"--arms must be two names or more; got {len(names)}")
    _check_new(arguments)
    if arguments.thompson is None:
        policy = CountRace(len(names), delta=arguments.delta or 0.05,
                           value_range=arguments.values or (0.0, 1.0))
    else:
        policy = ThompsonSampling(len(names), arguments.seed, batch_size=arguments.thompson)
    with Study.create(arguments.study, policy, names, who=arguments.who) as study:
        say(arguments, {"file": study.path, "arms": names},
             f"{study.path}: {type(policy).__name__}, {len(names)} arms{_under(title)}; next: "
             "split, and counts")
    return 0


def _check_new(arguments):
    """Refuse options that would not be used, and values in the wrong order."""
    if arguments.thompson is None and arguments.seed is not None:
        raise ValueError("--seed is of what --thompson draws; a test draws nothing")
    for option in ("delta", "values"):
        if arguments.thompson is not None and getattr(arguments, option) is not None:
            raise ValueError(f"--thompson takes no --{option}: it names no winner, and visits "
                             "convert or not")
    low, high = arguments.values or (0.0, 1.0)
    if not (low < high and math.isfinite(high - low)):
        raise ValueError(f"--values must be two numbers, the lower first; got {low:g} {high:g}")


def _named(arguments):
    """The file of counts or None; a study that stands before it is that of --study."""
    files, given = arguments.files, arguments.study_given
    if len(files) > 2:
        raise ValueError(f"counts takes a study and a file; got {len(files)} words")
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
    from pybandit.cli._study_commands import _opened
    from pybandit.cli._study_out import say
    from pybandit.studies._group import whole
    from pybandit.studies._sheet import Dialect

    path = _named(arguments)
    dialect = Dialect(arguments.decimal, arguments.thousands, sheet=arguments.sheet).checked()
    with _opened(arguments) as study:
        if path is None:
            return _print_counts(arguments, study)
        batches = read_counts(path, arguments.key, dialect)
        told = whole(study, [partial(study.tell_counts, batch, key=key)
                             for key, batch in batches.items()])
        status, best = study.status(), study.recommend()
    n_new, n_known = sum(one.n_new > 0 for one in told), sum(one.n_known > 0 for one in told)
    left = status.n_arms if status.survivors is None else len(status.survivors)
    words = (f"the best is {best.names[0]}" if status.done else
             f"{best.names[0]} leads {left} arms that are left")
    say(arguments, {"batches": list(batches), "n_new": n_new, "n_known": n_known,
                     "done": status.done, "best": best.names[0], "head": status.head},
         f"{', '.join(batches)}: {n_new} new, {n_known} already known; {words}")
    return 0


def _print_counts(arguments, study):
    from pybandit.cli._study_out import say
    from pybandit.studies._plate_write import table

    found = study.counts()
    names = ("key", "name", "trials", "sum", "who")
    rows = [[key, name, int(trials), float(total), who] for key, name, trials, total, who in
            zip(*(found[name] for name in names), strict=True)]
    what = "successes" if all(row[3].is_integer() for row in rows) else "sum"
    say(arguments, {"counts": [dict(zip(names, row, strict=True)) for row in rows]},
         table([("key", "arm", "trials", what, "who"),
                *[(*row[:3], f"{row[3]:.15g}", row[4]) for row in rows]]).rstrip("\n"))
    return 0


def split(arguments):
    from pybandit.cli._study_commands import _opened
    from pybandit.cli._study_out import say

    with _opened(arguments) as study:
        shares = dict(zip(study.arms, study.split(arguments.visits).tolist(), strict=True))
    width = max(map(len, shares))
    say(arguments, {"split": shares},
         "\n".join(f"{name:{width}}  {n:,}" for name, n in shares.items()))
    return 0


def add_arm(arguments):
    from pybandit.cli._study_commands import _opened
    from pybandit.cli._study_out import say

    with _opened(arguments) as study:
        number = study.add_arm(arguments.arm)
    say(arguments, {"arm": arguments.arm, "number": number},
         f"{arguments.arm} is in the test from now on")
    return 0


def retire(arguments):
    from pybandit.cli._study_commands import _opened
    from pybandit.cli._study_out import say

    with _opened(arguments) as study:
        study.retire(arguments.arm, arguments.reason)
        left = [study.arms[arm] for arm in study.status().survivors]
    say(arguments, {"arm": arguments.arm, "left": left},
         f"{arguments.arm} is out; left: {', '.join(left)}")
    return 0


def plan(arguments):
    from pybandit.cli._study_out import say
    from pybandit.studies import plan_counts

    made = plan_counts(arguments.rates, arguments.visits, delta=arguments.delta,
                       runs=arguments.runs, most_batches=arguments.days, rng=arguments.seed)
    days = {q: made.quantile(q) for q in (0.1, 0.5, 0.9)}
    low, high = made.wrong_interval
    known = {"days": {str(q): None if math.isinf(day) else day for q, day in days.items()},
             "n_wrong": made.n_wrong, "n_undecided": made.n_undecided, "runs": arguments.runs,
             "wrong_interval": [low, high],
             "z_test_days": None if math.isinf(made.z_test) else made.z_test,
             "estimate_days": None if math.isinf(made.estimate) else made.estimate,
             "reason": made.reason or None}
    lines = [f"{name:12}{text}" for name, text in [
        ("days", ", ".join(f"{q:.0%} by {_days(day, arguments.days)}"
                           for q, day in days.items())),
        ("wrong", f"{made.n_wrong} of {arguments.runs} tests: {low:.1%} to {high:.1%}, promised "
                  f"at most {arguments.delta:g}"),
        ("no winner", f"{made.n_undecided} of {arguments.runs}, in {arguments.days} days"),
        *[("why", made.reason)] * bool(made.reason),
        ("z-test", "never: the best rates are equal" if math.isinf(made.z_test) else
         f"{math.ceil(made.z_test):,} days, fixed beforehand, looked at once (Bonferroni, power "
         ".8)")]]
    say(arguments, known, "\n".join(lines))
    return 0


def _days(day, most):
    return f"none in {most}" if math.isinf(day) else f"day {day:,.0f}"


def read_counts(path, key=None, dialect=None):
    """Batches of a file of counts: ``{key: {arm: (trials, sum)}}``, in its order.

    Raises
    ------
    BadFile
        Where a column, a name or a number is missing or doubled; names file, line and column.
    """
    from pybandit.studies._sheet import PLAIN
    from pybandit.studies._table import opened

    dialect = PLAIN if dialect is None else dialect
    with opened(path, dialect=dialect) as rows:
        return _batches_of(rows, key, os.path.basename(path), dialect)


def _batches_of(rows, key, name, dialect):
    from pybandit._shared.cells import BadFile
    from pybandit.studies._sheet import listed, number, rows_under, short

    line, head = next(rows)
    places = {}
    for at, cell in enumerate(head):
        what = HEADERS.get(cell.casefold())
        if what in places:
            raise BadFile(f"line {line}, column {at + 1}: {short(cell)} and "
                          f"{short(head[places[what]])} are both the {what}; leave one out")
        if what is not None:
            places[what] = at
    are_whole = head[places["successes"]].casefold() != "sum" if "successes" in places else False
    for wanted in ("arm", "trials", "successes"):
        if wanted not in places:
            raise BadFile(f"line {line}, column 1: no column {wanted!r} is in the header; it has "
                          f"{listed(head)}")
    if key is not None and "key" in places:
        raise BadFile("line 1, column 1: the file has keys of its own; leave out --key")
    batches = {}
    for line, cells in rows_under(rows, head):
        of = cells[places["key"]] if "key" in places else key or name
        arm = cells[places["arm"]]
        values = [number(cells[places[what]], lambda what=what, line=line:
                         f"line {line}, column {what!r}", dialect)
                  for what in ("trials", "successes")]
        if not of or not arm or any(map(math.isnan, values)):
            raise BadFile(f"line {line}, column 1: a row must have an arm, trials and successes"
                          f"{', and a key' if 'key' in places else ''}; got {short(cells)}")
        if are_whole and values[1] != math.floor(values[1]):
            raise BadFile(f"line {line}, column {places['successes'] + 1}: "
                          f"{short(head[places['successes']])} must be whole numbers, not rates; "
                          f"got {short(cells[places['successes']])}: head sums of values 'sum'")
        if arm in batches.setdefault(of, {}):
            raise BadFile(f"line {line}, column {places['arm'] + 1}: arm {short(arm)} of batch "
                          f"{short(of)} is there already")
        batches[of][arm] = tuple(values)
    if not batches:
        raise BadFile(f"line {line}, column 1: there is a header and no counts under it")
    return batches
