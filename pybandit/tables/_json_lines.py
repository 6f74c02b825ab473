"""Read JSON lines: one object per line, or a list of objects."""

import json

from pybandit._shared.errors import UnreadableFileError
from pybandit._shared.files import MOST_JSON, Lines
from pybandit.tables._cells import MOST_CELLS
from pybandit.tables._frames import ListTable
from pybandit.tables._scores import settled
from pybandit.tables._text import decoded, short, utf8

MOST_LINES, MOST_BYTES, LONGEST = 1 << 20, 1 << 26, MOST_JSON


def scores_of_json(file, options):
    """Return the `Scores` of JSON lines, or of one list of objects.

    An object is a score with its model and its item, or an item with a score for each model. Keys
    are names of columns, with the same rules as in other tables.

    Raises
    ------
    UnreadableFileError
        If a line is not an object or has a key twice, or a column to read has lists or objects.
    """
    taken = Lines(utf8(file).readline, LONGEST, MOST_LINES, MOST_BYTES, "line {}: ")
    columns, lines, n_cells = {}, [], 0
    for text in decoded(taken):
        taken.begin_row()
        if not text.strip():
            continue
        is_list = not lines and text.lstrip().startswith("[")
        value = parsed("".join((text, *decoded(taken))) if is_list else text, taken.number)
        for one in value if is_list else [value]:
            if not isinstance(one, dict):
                raise UnreadableFileError(f"line {taken.number}: must be an object of JSON; got "
                                          f"{short(one)}")
            for name, cell in one.items():
                kept = columns.setdefault(name, [])
                kept.extend([None] * (len(lines) - len(kept)))
                kept.append(cell)
            lines.append(len(lines) + 1 if is_list else taken.number)
            n_cells = len(columns) * len(lines)
            if n_cells > MOST_CELLS:
                raise UnreadableFileError(f"line {taken.number}: the file must have at most "
                                          f"{MOST_CELLS:,} cells (columns times rows)")
    if not columns:
        raise UnreadableFileError("is empty")
    for kept in columns.values():
        kept.extend([None] * (len(lines) - len(kept)))
    return settled(ListTable(list(columns), list(columns.values()), lines), options)


def parsed(text, line):
    """Return the value of JSON text; raise UnreadableFileError with the line if it is not JSON."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except RecursionError:
        raise UnreadableFileError(f"line {line}: JSON must not be nested deeply") from None
    except ValueError as error:
        raise UnreadableFileError(f"line {line}: is not JSON: {error}") from None


def _object(pairs):
    members = dict(pairs)
    if len(members) < len(pairs):
        twice = next(name for at, (name, _) in enumerate(pairs)
                     if name in dict(pairs[:at]))
        raise ValueError(f"the key {short(twice)} occurs twice")
    return members
