"""Read score tables in files, by the ends of their names: text, JSON lines, workbooks."""

import io
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from pybandit._shared.errors import UnreadableFileError
from pybandit._shared.files import Lines, opened_regular, reason_of
from pybandit.tables._json_lines import scores_of_json
from pybandit.tables._score_text import scores_of_rows
from pybandit.tables._scores import Options
from pybandit.tables._text import (
    PACKED,
    csv_rows,
    decoded,
    delimiter_of,
    separator_of,
    utf8,
)

TEXT, JSON, WORKBOOKS = (".csv", ".tsv", ".txt"), (".jsonl", ".ndjson", ".json"), (".xlsx", ".xlsm")
READ = (*TEXT, *JSON, *WORKBOOKS)
MOST_LINES, MOST_BYTES, LONGEST_ROW = 1 << 20, 1 << 29, 1 << 23
SAMPLE = 20  # lines that determine the delimiter


class Form(NamedTuple):
    """Options for reading a file; if None, the content decides.

    Attributes
    ----------
    delimiter, decimal : str or None
        Character between cells, and decimal point.
    sheet : str or None
        The sheet of a workbook.
    """

    delimiter: Any = None
    decimal: Any = None
    sheet: Any = None


def kind_of(path):
    """Return the suffix of a file name in lower case, without .gz or .zst."""
    path = Path(os.fspath(path))
    name = path.stem if path.suffix.casefold() in PACKED else path.name
    return Path(name).suffix.casefold()


def read_scores(path, form=Form(), options=Options()):  # noqa: B008
    """Return the `Scores` of a file, or of stdin for "-".

    Files whose names do not end like those of JSON lines or workbooks are read as CSV.

    Raises
    ------
    UnreadableFileError
        If the file cannot be read; the message has line, column and text.
    MissingPackageError
        If openpyxl is missing for a workbook, or pyarrow for Zstandard.
    """
    kind = kind_of(path)
    try:
        if kind in WORKBOOKS:
            return _of_workbook(path, form, options)
        with _opened(path) as file:
            if kind in JSON:
                return scores_of_json(file, options)
            return scores_of_rows(_rows_of(file, form.delimiter), options, form.decimal)
    except OSError as error:
        raise UnreadableFileError(f"cannot be read: {reason_of(error)}") from None


@contextmanager
def _opened(path):
    if path != "-":
        with opened_regular(path) as file:
            yield file
        return
    stdin = getattr(sys.stdin, "buffer", None)
    content = stdin.read(MOST_BYTES + 1) if stdin else sys.stdin.read(MOST_BYTES + 1).encode()
    yield io.BytesIO(content)


def _rows_of(file, delimiter):
    """Return an iterator over the rows of a CSV file: (line, cells)."""
    taken = Lines(utf8(file).readline, LONGEST_ROW, MOST_LINES, MOST_BYTES, "line {}: ",
                  "; write a large table as Parquet or .npy")
    lines, blank = decoded(taken), 0
    first = []
    for line in lines:
        taken.begin_row()
        named = separator_of(line) if not first and not blank else None
        if named is not None:
            delimiter = delimiter or named
        if named is not None or not first and not line.strip():
            blank += 1
            continue
        first.append(line)
        if len(first) == SAMPLE or len(line) > LONGEST_ROW // SAMPLE:
            break
    if not first:
        return iter(())
    filled = [line for line in first if line.strip()]
    return csv_rows(_chained(first, lines), taken, delimiter or delimiter_of(filled), blank)


def _chained(first, rest):
    yield from first
    yield from rest


def _of_workbook(path, form, options):
    from pybandit.tables._xlsx import rows_of_workbook

    form = form._replace(decimal=".")
    with rows_of_workbook(path, (), form) as rows:
        return scores_of_rows(rows, options, ".")
