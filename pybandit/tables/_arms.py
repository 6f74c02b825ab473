"""Read arms from a file: names and, if there is such a column, standard deviations."""

import re

import numpy as np

from pybandit._shared.errors import UnreadableFileError
from pybandit.tables._sheet import PLAIN, listed, number, opened, rows_under, short

ARM_HEADERS = ("arm", "name", "gene", "id")
# a header that consists of these words only: Gene Symbol, compound_id
HEADER_WORDS = {*ARM_HEADERS, "arms", "names", "genes", "ids", "symbol", "symbols", "identifier",
                "compound", "compounds", "target", "targets", "sample", "samples", "construct",
                "molecule", "sirna", "sgrna", "guide", "entrez", "ensembl", "hgnc"}


def read_arms(path, column=None, header=None, dialect=PLAIN):
    """Read the names of arms, and their standard deviations from a column noise_std, if any.

    Parameters
    ----------
    path : str
        CSV or a workbook. The first line is a header if one of its cells is arm, name, gene or
        id, consists of such words (Gene Symbol), or is `column`. Without a header, there must be
        one column.
    column : str, optional
        Name of the column of names; lines before the one that has it are a title.
    header : bool, optional
        True if the first line is a header; by default its cells decide.
    dialect : Dialect

    Returns
    -------
    names : list of str
    noise_std : ndarray of float64, or None
    title : str or None
        Header of the column of names; None if the file has none.

    Raises
    ------
    UnreadableFileError
        If a name is missing or occurs twice; the message has file, line and column.
    """
    headers = ()
    if column is not None:
        headers = (lambda cells: column.casefold() in map(str.casefold, cells),)
    with opened(path, headers, dialect) as rows:
        return _arms_of(rows, column, header)


def _column_of(first, line, column, header):
    """Return the column of names, or None if the first line is an arm."""
    heads = [cell.casefold() for cell in first]
    if column is not None:
        if column.casefold() not in heads:
            raise UnreadableFileError(f"line {line}, column 1: there is no {column!r} in the "
                                      f"header, which has {listed(first)}; --column names the "
                                      "column")
        return heads.index(column.casefold())
    if header is False and len(first) == 1:
        return None
    for name in ARM_HEADERS:
        if name in heads:
            return heads.index(name)
    like = [at for at, head in enumerate(heads)
            if head and set(re.split(r"[\W_]+", head)) <= HEADER_WORDS]
    if len(like) == 1:
        return like[0]
    if len(first) > 1:
        raise UnreadableFileError(f"line {line}, column 1: none of arm, name, gene and id is in "
                                  f"the header, which has {listed(first)}; --column names the "
                                  "column")
    return 0 if header else None


def _arms_of(rows, column, header):
    line, first = next(rows)
    at = _column_of(first, line, column, header)
    heads = [cell.casefold() for cell in first]
    of_noise = heads.index("noise_std") if at is not None and "noise_std" in heads else None
    body = rows if at is not None else _with(line, first, rows)
    names, noise, lines = [], [], {}
    for line, cells in rows_under(body, first, "first"):
        name = cells[at or 0]
        if not name:
            raise UnreadableFileError(f"line {line}, column {(at or 0) + 1}: the arm has no name")
        if name in lines:
            raise UnreadableFileError(f"line {line}, column {(at or 0) + 1}: arm {short(name)} is "
                                      f"on line {lines[name]} already")
        lines[name] = line
        names.append(name)
        if of_noise is not None:
            noise.append(_noise_std(cells[of_noise], line))
    if not names:
        raise UnreadableFileError(f"line {line}, column 1: there is a header and no arms under it")
    return (names, np.array(noise) if of_noise is not None else None,
            None if at is None else first[at])


def _with(line, first, rows):
    yield line, first
    yield from rows


def _noise_std(cell, line):
    value = number(cell, lambda: f"line {line}, column 'noise_std'")
    if not value > 0:
        raise UnreadableFileError(f"line {line}, column 'noise_std': must be positive; got "
                                  f"{short(cell)}")
    return value
