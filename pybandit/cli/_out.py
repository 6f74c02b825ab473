"""Output of the commands: text or JSON, and files that are written completely or not at all."""

import csv
import io
import json
import secrets
from contextlib import contextmanager, suppress
from pathlib import Path

from pybandit._shared.cells import unguarded
from pybandit._shared.files import check_regular, opened_regular
from pybandit.tables._sheet import is_workbook


def say(arguments, known, text="", file=None):
    if arguments.json:
        print(json.dumps(known, indent=1, allow_nan=False))
    else:
        print(text, file=file)


def batch_as_json(batch, plates):
    """Return a batch and the contents of its wells as plain values."""
    labels, n_wells = plates.labels(batch.id, batch.names), plates.layout.n_wells
    names = plates.names(batch.id, len(batch.names))
    wells = [[plate, well, label]
             for plate, at in zip(names, range(0, len(labels), n_wells), strict=True)
             for well, label in zip(plates.layout.wells, labels[at:at + n_wells], strict=True)
             if label]
    return {"done": False, "batch": batch.id, "plates": names, "wells": wells}


def content_of(path, text):
    """Return CSV text as the bytes of a file: a workbook if `path` names one."""
    if not is_workbook(path):
        return text.encode()
    from pybandit.tables._xlsx import workbook_of

    head, *rows = ([unguarded(cell) for cell in row] for row in csv.reader(io.StringIO(text)))
    numbers = [at for at, name in enumerate(head) if name in ("value", "reward")]
    for row in rows:
        for at in numbers:
            row[at] = float(row[at]) if row[at] else row[at]
    return workbook_of([head, *rows])


def put(path, content, force):
    """Write a file completely or not at all; `force` replaces one with other content."""
    file = Path(path)
    if file.exists():
        check_regular(file)
    if file.exists() and not force:
        if file.read_bytes() == content:
            return
        raise FileExistsError(f"{path} exists with other content, perhaps results; "
                              "--overwrite replaces it")
    with _drafted(file) as draft:
        draft.write_bytes(content)


def written(path, write_to):
    """Write a file or a workbook by `write_to(write)`, which writes CSV in parts.

    Returns what `write_to` returns.
    """
    with _drafted(Path(path)) as draft:
        if is_workbook(path):
            text = io.StringIO()
            found = write_to(text.write)
            draft.write_bytes(content_of(path, text.getvalue()))
            return found
        with draft.open("w", encoding="utf-8", newline="") as file:
            return write_to(file.write)


def check_no_database(path):
    """Raise ValueError if a database, perhaps a study, would be overwritten."""
    with suppress(FileNotFoundError), opened_regular(path) as file:
        if file.read(13) == b"SQLite format":
            raise ValueError(f"{path} is a database, perhaps a study, and is not overwritten")


@contextmanager
def _drafted(file):
    """Yield a temporary file that replaces `file` on success; a study is never replaced."""
    check_no_database(file)
    draft = file.with_name(f"{file.name}.{secrets.token_hex(8)}.new")
    try:
        yield draft
        draft.replace(file)
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()
