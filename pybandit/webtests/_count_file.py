"""Read files of counts from analytics programs; errors name line and column."""

import os
import re
from itertools import chain

import numpy as np

from pybandit._shared.errors import UnreadableFileError
from pybandit.betting._count_checks import outside
from pybandit.tables._sheet import PLAIN, listed, number, opened, short
from pybandit.webtests._dates import date_key, day_first_in, is_date

ROLES = "arm", "trials", "sum", "squares", "key"
# Names of columns by role. Sums are of three kinds; only successes must be integers.
HEADERS = {name: (role, kind) for role, kind, names in [
    ("arm", "", "arm, name, page, variant, variant name, variation, variation name, group, "
                "version, experiment variant, experiment variation, test group, treatment, bucket"),
    ("trials", "", "trials, visits, visitors, unique visitors, users, total users, active users, "
                   "sessions, exposures, exposed users, impressions, participants"),
    ("sum", "successes", "successes, conversions, converted, orders, purchases, transactions, "
                         "key events, goal completions, sign ups, signups"),
    ("sum", "sum", "sum, sum of values, total value"),
    ("sum", "revenue", "revenue, total revenue, purchase revenue, sales"),
    ("squares", "", "squares, sum of squares, sum squares"),
    ("key", "", "key, day, date, hour, week, date hour, timestamp")] for name in names.split(", ")}
TOTALS = {"total", "totals", "grand total", "subtotal", "overall", "sum", "all", "all users",
          "all visitors", "gesamt", "summe", "gesamtsumme", "totale", "total général", "итого",
          "合计", "总计"}


def read_counts(path, key=None, dialect=PLAIN, *, arms=None, value_range=(0.0, 1.0), day_first=None,
                skip=()):
    """Read the batches of a file: ``{key: {arm: (trials, sum[, squares])}}``.

    Parameters
    ----------
    path : str
    key : str, optional
        Key of a file without a column of keys; by default the name of the file.
    dialect : Dialect
        Its `columns` may name columns by the roles in `ROLES`.
    arms : sequence of str, optional
        Arms of the study; other arms are rejected.
    value_range : (float, float)
        Range of a reward. A column of revenue is read if the range is not (0, 1), or if the
        dialect names the column.
    day_first : bool, optional
        True if the day comes first in dates like 03/01/2025; by default the file decides.
    skip : sequence of str
        Rows with a cell equal to one of these are skipped.

    Returns
    -------
    dict
        Days and hours in chronological order, other keys in the order of the file.

    Raises
    ------
    UnreadableFileError
        If a column, a name or a number is missing, duplicated or invalid; the message names file,
        line and column.
    """
    with opened(path, (_is_header, _may_be_header), dialect) as rows:
        line, head = next(((line, cells) for line, cells in rows if not cells[0].startswith("#")),
                          (1, []))
        while head and not head[-1]:
            head.pop()
        columns = _Columns(line, head, dialect, value_range)
        if key is not None and "key" in columns.at:
            raise UnreadableFileError("line 1, column 1: the file has a column of keys; omit "
                                      "--key")
        found = list(_rows(rows, columns, dict.fromkeys(arms or ()),
                           {one.casefold() for one in skip}))
        if not found:
            raise UnreadableFileError(f"line {line}, column 1: there is a header but no counts "
                                      "below it")
        if "key" in columns.at:
            keys = _keys_of(found, columns.at["key"] + 1, day_first)
        else:
            keys = [os.path.basename(path) if key is None else date_key(key)] * len(found)
        return _ordered(_batches(found, keys, columns))


def _plain(cell):
    return " ".join(re.sub(r"[_\-]+", " ", cell).casefold().split())


def _is_header(cells):
    roles = {HEADERS[name][0] for name in map(_plain, cells) if name in HEADERS}
    return {"arm", "trials", "sum"} <= roles


def _may_be_header(cells):
    return len(cells) > 2 and not cells[0].startswith("#")


class _Columns:
    """Columns of a file by role; `are_whole` is True if sums count successes."""

    def __init__(self, line, head, dialect, value_range):
        self.head, self.dialect, self.value_range = head, dialect, value_range
        self.at, kinds = {}, {}
        for at, cell in enumerate(head):
            role, kind = self._role_of(cell)
            if role is None:
                continue
            if role in self.at:
                kind, at = self._chosen(line, role, kinds[role], kind, at)
            self.at[role], kinds[role] = at, kind
        self.are_whole = kinds.get("sum") == "successes"
        if (kinds.get("sum") == "revenue" and "sum" not in dialect.columns
                and tuple(value_range) == (0.0, 1.0)):
            raise UnreadableFileError(f"{self.place(line, 'sum')}: {short(head[self.at['sum']])} "
                                      "has amounts, but the study counts successes: add a column "
                                      "of successes, or start a study with --values LOW HIGH; "
                                      "--sum-column accepts values from 0 to 1")
        for role, name in (("arm", "arm"), ("trials", "trials"), ("sum", "successes")):
            if role not in self.at:
                wanted = dialect.columns.get(role, name)
                raise UnreadableFileError(f"line {line}, column 1: no column {wanted!r} is in the "
                                          f"header; it has {listed(head)}; name the column with "
                                          f"--{role}-column")

    def _role_of(self, cell):
        """Return the role of a column and its kind; a named column is the only one of its role."""
        for role, name in self.dialect.columns.items():
            if cell.casefold() == name.casefold():
                return role, HEADERS.get(_plain(cell), ("", "sum"))[1]
        role, kind = HEADERS.get(_plain(cell), (None, ""))
        return (None, "") if role in self.dialect.columns else (role, kind)

    def _chosen(self, line, role, before, kind, at):
        """Choose between two columns of a role; return kind and place, or raise if unclear."""
        if role == "sum" and before != kind and "revenue" in (before, kind):
            if (kind == "revenue") == (tuple(self.value_range) != (0.0, 1.0)):
                return kind, at
            return before, self.at[role]
        raise UnreadableFileError(f"line {line}, column {at + 1}: {short(self.head[at])} and "
                                  f"{short(self.head[self.at[role]])} are both the {role}; delete "
                                  f"one, or name the right one with --{role}-column")

    def place(self, line, role):
        return f"line {line}, column {self.at[role] + 1}"


def _rows(rows, columns, arms, skip):
    """Yield line, cells, arm and numbers of each row."""
    head, at = columns.head, columns.at
    folded = {}
    for arm in arms:
        folded.setdefault(arm.casefold(), []).append(arm)
    for line, cells in rows:
        while len(cells) > len(head) and not cells[-1]:
            cells.pop()
        if not any(cells) or skip & {cell.casefold() for cell in cells}:
            continue
        arm = cells[at["arm"]] if at["arm"] < len(cells) else ""
        if arm not in arms and cells[0].startswith("#"):
            continue
        total = next((cell for cell in chain([arm], cells) if _plain(cell) in TOTALS
                      and cell not in arms), None)
        if total is not None and (arms or arm == total or not arm):
            raise UnreadableFileError(f"line {line}, column {cells.index(total) + 1}: "
                                      f"{short(total)} is a row of totals, not an arm; delete it, "
                                      "or skip it with --skip")
        if len(cells) != len(head):
            raise UnreadableFileError(f"line {line}, column {min(len(cells), len(head)) + 1}: the "
                                      f"row has {len(cells)} cells, the header {len(head)}")
        if arms and arm and arm not in arms:
            same = folded.get(arm.casefold(), ())
            if len(same) != 1:
                raise UnreadableFileError(f"{columns.place(line, 'arm')}: {short(arm)} is not an "
                                          f"arm of the study, which has {listed(list(arms))}; "
                                          "skip its rows with --skip")
            arm = same[0]
        yield line, cells, arm, _numbers(line, cells, arm, columns)


def _numbers(line, cells, arm, columns):
    """Return trials, sum and, if present, squares of a row, checked."""
    roles = [role for role in ("trials", "sum", "squares") if role in columns.at]
    values = {role: number(cells[columns.at[role]], lambda role=role:
                           f"line {line}, column {columns.head[columns.at[role]]!r}",
                           columns.dialect) for role in roles}
    if not arm or any(value != value for value in values.values()):
        raise UnreadableFileError(f"line {line}, column 1: a row must have an arm, trials and "
                                  f"successes{', and a key' if 'key' in columns.at else ''}; got "
                                  f"{short(cells)}")
    for role in ("trials", "sum")[:1 + columns.are_whole]:
        _check_whole(line, role, cells[columns.at[role]], values[role], columns)
    trials, total = np.array([values["trials"]]), np.array([values["sum"]])
    if trials[0] < 0:
        raise UnreadableFileError(f"{columns.place(line, 'trials')}: trials must be at least 0; "
                                  f"got {short(cells[columns.at['trials']])}")
    if outside(trials, total, columns.value_range)[0]:
        low, high = columns.value_range
        raise UnreadableFileError(f"{columns.place(line, 'sum')}: a sum must be possible for "
                                  f"rewards in [{low:g}, {high:g}]; got {total[0]:g} for "
                                  f"{trials[0]:g} trials of arm {arm!r}")
    return tuple(values.values())


def _check_whole(line, role, cell, value, columns):
    """Raise if a count is not an integer, or may be written with a thousands separator."""
    head, plain = columns.head[columns.at[role]], columns.dialect.plain(cell)
    groups = re.fullmatch(r"\d{1,3}(?:([.,' ’])\d{3})(?:\1\d{3})*", cell)
    if groups and "." in plain:
        raise UnreadableFileError(f"{columns.place(line, role)}: {short(head)} must be whole "
                                  f"numbers, and {short(cell)} may have a thousands separator: if "
                                  "so, pass --decimal , --thousands .")
    if value != int(value):
        raise UnreadableFileError(f"{columns.place(line, role)}: {short(head)} must be whole "
                                  f"numbers, not rates; got {short(cell)}: call a column of "
                                  "sums of values 'sum'")


def _keys_of(found, column, day_first):
    """Return the keys of all rows; days and hours are written in one form."""
    at = column - 1
    texts = [cells[at] for _, cells, _, _ in found]
    try:
        decided = day_first_in(texts)
    except ValueError as error:
        raise UnreadableFileError(f"column {column}: {error}") from None
    if None not in (decided, day_first) and decided != day_first:
        raise UnreadableFileError(f"column {column}: --dates must fit the file, in which the "
                                  f"{'day' if decided else 'month'} comes first")
    decided, keys, zoned = day_first if decided is None else decided, [], {}
    for (line, _, _, _), text in zip(found, texts, strict=True):
        if not text:
            raise UnreadableFileError(f"line {line}, column {column}: a row must have a key; got "
                                      "''")
        try:
            keys.append(date_key(text, decided))
        except ValueError as error:
            raise UnreadableFileError(f"line {line}, column {column}: {error}; or pass --dates "
                                      "day-first or month-first") from None
        if is_date(keys[-1]) and "T" in keys[-1]:
            zoned[keys[-1].endswith("Z")] = line
    if len(zoned) > 1:
        raise UnreadableFileError(f"line {max(zoned.values())}, column {column}: hours must all "
                                  "have a time zone or none")
    return keys


def _batches(found, keys, columns):
    batches = {}
    for (line, _, arm, values), key in zip(found, keys, strict=True):
        batch = batches.setdefault(key, {})
        if arm in batch:
            raise UnreadableFileError(f"{columns.place(line, 'arm')}: arm {short(arm)} of batch "
                                      f"{short(key)} occurs twice")
        batch[arm] = values
    return batches


def _ordered(batches):
    """Sort days and hours: programs may write the last first, and running totals need the order."""
    return dict(sorted(batches.items())) if all(map(is_date, batches)) else batches
