"""A file of rows, text or a workbook, as rows of cells; errors name the file."""

from contextlib import contextmanager
from pathlib import Path

from pybandit._shared.errors import UnreadableFileError
from pybandit._shared.files import opened_regular
from pybandit.tables._sheet import PLAIN, rows_of

WORKBOOKS = (".xlsx", ".xlsm")


def is_workbook(path):
    """Whether a file of this name is a workbook."""
    return Path(path).suffix.casefold() in WORKBOOKS


@contextmanager
def opened(path, headers=(), dialect=PLAIN, above=None):
    """Rows of a file, (line, cells) each, from its header on.

    Cells that cannot be read, such as dates, are refused when they are used. The list `above`
    receives the text of the lines before the header.

    Raises
    ------
    UnreadableFileError
        Where the file cannot be read; what is raised within has the file's name before it.
    """
    try:
        if is_workbook(path):
            from pybandit.tables._xlsx import rows_of_workbook

            with rows_of_workbook(path, headers, dialect, above) as rows:
                yield rows
        else:
            with opened_regular(path) as file:
                yield rows_of(file, headers, dialect, above)
    except OSError as error:
        raise UnreadableFileError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnreadableFileError as error:
        raise UnreadableFileError(f"{path}: {error}") from None
