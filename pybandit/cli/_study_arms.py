"""Arms out of a file: names and, where there are such, variances."""

from pathlib import Path

import numpy as np

from pybandit._shared.cells import BadFile
from pybandit.studies._sheet import number, rows_of, short

ARM_HEADERS = ("arm", "name", "gene", "id")


def read_arms(path, column=None):
    """Names of arms, and their variances where there is a column of them.

    Parameters
    ----------
    path : str
        CSV. A first line that has arm, name, gene or id, or `column`, in it names the columns;
        without one, there is one column.
    column : str, optional

    Returns
    -------
    names : list of str
    variances : ndarray of float64, or None

    Raises
    ------
    BadFile
        Where a name is missing or doubled; names file, line and column.
    """
    try:
        with Path(path).open("rb") as file:
            return _arms_of(rows_of(file), column)
    except OSError as error:
        raise BadFile(f"{path}: cannot be read: {error.strerror}") from None
    except BadFile as error:
        raise BadFile(f"{path}: {error}") from None


def _arms_of(rows, column):
    line, first = next(rows)
    heads = [cell.casefold() for cell in first]
    wanted = ARM_HEADERS if column is None else (column.casefold(),)
    at = next((heads.index(name) for name in wanted if name in heads), None)
    if at is None and (column is not None or len(first) > 1):
        expected = "none of arm, name, gene and id" if column is None else f"no {column!r}"
        raise BadFile(f"line {line}, column 1: {expected} is in the header; it has "
                      f"{', '.join(map(short, first))}; --column says where the names are")
    of_variance = heads.index("variance") if at is not None and "variance" in heads else None
    body = rows if at is not None else _with(line, first, rows)
    names, variances, lines = [], [], {}
    for line, cells in body:
        if not any(cells):
            continue
        if len(cells) != len(first):
            raise BadFile(f"line {line}, column {min(len(cells), len(first)) + 1}: the row has "
                          f"{len(cells)} cells, the first {len(first)}")
        name = cells[at or 0]
        if not name:
            raise BadFile(f"line {line}, column {(at or 0) + 1}: an arm without a name")
        if name in lines:
            raise BadFile(f"line {line}, column {(at or 0) + 1}: arm {short(name)} is on line "
                          f"{lines[name]} already")
        lines[name] = line
        names.append(name)
        if of_variance is not None:
            variances.append(_variance(cells[of_variance], line))
    if not names:
        raise BadFile(f"line {line}, column 1: there is a header and no arms under it")
    return names, np.array(variances) if of_variance is not None else None


def _with(line, first, rows):
    yield line, first
    yield from rows


def _variance(cell, line):
    value = number(cell, lambda: f"line {line}, column 'variance'")
    if not value > 0:
        raise BadFile(f"line {line}, column 'variance': must be positive; got {short(cell)}")
    return value
