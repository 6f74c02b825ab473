"""A file is refused by its own kind of error, or read as it is: never another error.

What a person writes, CSV, is any bytes. What a program writes, SQLite, Parquet and arrays, is a
whole file of which bytes or rows were changed, and signed again as a forger would.
"""

import atexit
import functools
import hashlib
import os
import re
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import numpy as np

import pybandit as pb
from fuzz.source import Choices
from fuzz.states import change
from pybandit._shared.cells import BadFile
from pybandit.cli._study_arms import read_arms
from pybandit.evaluation._score_csv import read_scores
from pybandit.studies import Study, StudyError
from pybandit.studies._cells import Cells
from pybandit.studies._codec import decode, encode
from pybandit.studies._journal import START, chained
from pybandit.studies._plate_read import read_plates
from pybandit.studies.plates import Layout, Plates
from pybandit.tables import Blocks

from policies.every_class import EVERY
from policies.mutations import assert_keeps_its_promises
from studies.cases import make, measured

ROWS = [None, -1, 0, 1, 2, 3, 2**31, 2**53, 2**63 - 1, -2**63, 0.5, 1e308, "", "x", "open",
        "complete", "abandoned", "ask", b"", b"x", b"N", b"i" + bytes(8), b"d" + bytes(8)]


@functools.cache
def folder():
    """Where the files are, in memory where there is such a place."""
    made = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)


def written(name, content):
    path = folder() / name
    path.write_bytes(content)
    return str(path)


def refused(error):
    """It says why."""
    assert len(str(error)) >= 8, repr(error)


# text

def scores(content):
    """A table of scores."""
    path = written("scores.csv", content)
    try:
        read = read_scores(path)
    except BadFile as error:
        return refused(error)
    n_items, n_models = read.values.shape
    assert n_items == len(read.index) == len(read.lines) >= 1 and n_models == len(read.columns) >= 2
    assert read.values.dtype == np.float64 and len(set(read.columns)) == n_models
    kept = read.without_lost()
    assert not np.isnan(kept.values).any()
    assert all(read.place(n_items - 1, column) for column in range(n_models))


def arms(content):
    """Names of arms, and variances."""
    path = written("arms.csv", content)
    try:
        names, variances, *_ = read_arms(path)
    except BadFile as error:
        return refused(error)
    assert names and all(names) and len(set(names)) == len(names)
    assert variances is None or (variances.size == len(names) and not (variances <= 0).any())


PLATES = [Plates(Layout(2, 3)), Plates(Layout(2, 3), (0, 5)), Plates(Layout(1, 1)),
          Plates(Layout(3, 4), (3,), normalise=True)]
BATCHES = {0: ["tea", "coffee", "milk", "tea"], 7: [str(arm) for arm in range(11)]}


def arms_of(number):
    if number not in BATCHES:
        raise ValueError(f"batch must be 0 or 7; got {number}")
    return BATCHES[number]


def plates(content):
    """Readings of plates; the first byte says of which layout, and whether the batch is known."""
    first = content[:1] or b"0"
    path, layout = written("plate.csv", content[1:]), PLATES[first[0] % len(PLATES)]
    batch = [None, 0, 7][first[0] // 4 % 3]
    try:
        reading = read_plates(path, layout, arms_of, batch)
    except BadFile as error:
        assert path in str(error)
        return refused(error)
    assert reading.batch in BATCHES and reading.names == BATCHES[reading.batch]
    n_wells = layout.layout.n_wells
    assert reading.values.size == reading.lines.size == n_wells * layout.n_plates(
        len(reading.names))
    assert not np.isinf(reading.values).any() and reading.parts
    assert all(reading.where(well, layout) for well in range(reading.values.size))


def codec(content):
    """Bytes of a value, as studies keep them."""
    try:
        value = decode(content)
    except ValueError as error:
        return refused(error)
    again = encode(value)
    assert encode(decode(again)) == again


# SQLite

@functools.cache
def study_file():
    """A study with batches that are complete, closed and open, and late results; its bytes."""
    path = str(folder() / "whole.db")
    make(path).close()
    return Path(path).read_bytes()


@functools.cache
def scores_file(told):
    """A store of some scores, claims and failures; its bytes."""
    path = str(folder() / f"whole-{told}.cells")
    store = Cells(path, 5, told, (0.0, 1.0 if told else None))
    cells = {(model, item): (0.25 * item, 1.0 + model) if told else 0.25 * item
             for model in range(3) for item in range(4)}
    store.update(cells, {(2, 3)})
    store.claim([(1, 4), (2, 4)])
    store.keep_running([(1, 4)])
    store.close()
    store.ended((0, 0))
    content = Path(path).read_bytes()
    store.ended((1, 4))
    return content


def damaged(bits, content):
    """Bytes that are changed, put in, taken out, or cut."""
    made = bytearray(content)
    for _ in range(1 + bits.below(4)):
        at = int.from_bytes(bits.take(3), "little") % max(1, len(made))
        kind = bits.below(8)
        if kind == 0:
            del made[at:]
        elif kind == 1:
            page = made[at // 512 * 512:at // 512 * 512 + 512]
            to = bits.below(2**16) % max(1, len(made)) // 512 * 512
            made[to:to + len(page)] = page
        elif kind == 2:
            made[at:at] = bits.take(1 + bits.below(8))
        elif kind == 3:
            made[at:at + 8] = bits.integer().to_bytes(16, "big", signed=True)[-8:]
        else:
            made[at:at + 1] = bits.take(1)
    return bytes(made)


def with_rows_changed(bits, path, tables):
    """One to three values of a database, each of any type."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for _ in range(1 + bits.below(3)):
            table = bits.of(tables)
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            key, column = columns[0], bits.of(columns)
            keys = [row[0] for row in db.execute(f"SELECT {key} FROM {table}")]
            if not keys:
                continue
            chosen, kind = bits.of(keys), bits.below(12)
            ((old,),) = db.execute(f"SELECT {column} FROM {table} WHERE {key} IS ? LIMIT 1",
                                   (chosen,))
            value = another_value(bits, old)
            try:
                if kind == 0:
                    db.execute(f"DELETE FROM {table} WHERE {key} IS ?", (chosen,))
                else:
                    db.execute(f"UPDATE {table} SET {column} = ? WHERE {key} IS ?",
                               (value, chosen))
            except (sqlite3.IntegrityError, OverflowError):
                pass  # not even SQLite takes it


def another_value(bits, old):
    """Bytes of a value that was changed, something near, or anything."""
    kind = bits.below(6)
    if isinstance(old, bytes) and kind < 4:
        try:
            value = {"": decode(old)}
        except ValueError:
            return damaged(bits, old)
        if kind == 3:
            return damaged(bits, old)
        change(bits, value, [value])
        try:
            return encode(value.get(""))
        except TypeError:
            return None
    if isinstance(old, (int, float)) and kind < 3:
        return old + bits.of([-1, 1, 2, 100])
    return bits.of(ROWS)


def signed_again(path):
    """The chain of the log and the digest of the state, as they would be."""
    with closing(sqlite3.connect(path)) as db, db:
        before, rows = START, db.execute("SELECT * FROM log ORDER BY number").fetchall()
        for number, kind, time, who, body, _ in rows:
            try:
                before = chained(before, number, kind, time, who, body)
            except Exception:  # of values of other types
                return
            db.execute("UPDATE log SET digest = ? WHERE number = ?", (before, number))
        parts = {part: hashlib.sha256(body).digest()
                 for part, body in db.execute("SELECT part, body FROM state")
                 if isinstance(body, bytes) and isinstance(part, str)}
        db.execute("UPDATE head SET digest = ?, state = ?",
                   (before, hashlib.sha256(encode(parts)).digest()))


def with_study(path):
    """Everything that a study can be asked, and what it may record."""
    try:
        study = Study.open(path)
    except StudyError as error:
        assert path in str(error)
        return
    except ValueError as error:  # of a policy of the user's own
        assert "policy_type must be the class" in str(error), error
        return
    with study:
        asked = [study.verify, study.status, study.history, study.recommend,
                 lambda: list(study.log()), lambda: repr(study), lambda: study.policy,
                 lambda: study.settings, lambda: [study.batch(number) for number in range(5)],
                 lambda: study.ask(), lambda: study.close_batch(4), lambda: study.ask(),
                 lambda: study.tell(5, measured(5, np.zeros(8, int))), study.verify]
        for ask in asked:
            try:
                ask()
            except StudyError as error:
                assert path in str(error)
            except ValueError as error:
                # no such batch, of another size, or forged as one that the policy did not ask for
                assert re.search("batch|results|arms must be those of ask", str(error)), error
        try:
            policy = study.policy
        except StudyError:
            return
    assert_keeps_its_promises(policy)


def studies(content):
    """The file of a study, of which bytes were changed."""
    path = fresh("study.db")
    Path(path).write_bytes(damaged(Choices(content), study_file()))
    with_study(path)


def journals(content):
    """Rows of a study that were changed; half of them signed again."""
    bits, path = Choices(content), fresh("study.db")
    Path(path).write_bytes(study_file())
    is_signed = bits.below(2)
    with_rows_changed(bits, path, ["log", "log", "head", "state", "batches", "late"])
    if is_signed:
        signed_again(path)
    with_study(path)


def fresh(name):
    """A path where nothing is, no log of SQLite either."""
    path = str(folder() / name)
    for end in ("", "-wal", "-shm", "-journal"):
        if os.path.exists(path + end):
            os.unlink(path + end)
    return path


def stores(content):
    """A file of scores, of which bytes or rows were changed, and a race that goes on with it."""
    bits, path = Choices(content), fresh("scores.cells")
    told = bool(bits.below(2))
    whole = scores_file(told)
    if bits.below(2):
        Path(path).write_bytes(damaged(bits, whole))
    else:
        Path(path).write_bytes(whole)
        with_rows_changed(bits, path, ["cells", "cells", "claims", "owners", "about"])
    try:
        store = Cells(path, 5, told, (0.0, 1.0 if told else None))
    except StudyError as error:
        assert path in str(error)
        return
    except ValueError as error:
        assert "store must be of the same evaluation" in str(error), error
        return
    new = {(0, 4): (0.5, 1.0) if told else 0.5}
    for ask in (lambda: len(store), lambda: check_cells(store, told), lambda: store.update(new),
                lambda: store.claim([(1, 4), (2, 4), (5, 5)]), lambda: store.release([(1, 4)]),
                lambda: store.drop(3), store.beat, store.close):
        try:
            ask()
        except StudyError as error:
            assert path in str(error)


def check_cells(store, told):
    """What is known are numbers, by model and item."""
    for place in store:
        assert all(type(one) is int for one in place), place
        cell = store.get(place)
        for number in cell if told else (cell,):
            assert cell is None or isinstance(number, float), (place, cell)


# tables

@functools.cache
def table_file(kind):
    """A table of scores as Parquet, or as an array; its bytes."""
    values = np.random.default_rng(1).random((40, 3)).astype(np.float32)
    path = folder() / f"whole.{kind}"
    if kind == "npy":
        np.save(path, values)
    else:
        import pyarrow
        import pyarrow.parquet

        table = pyarrow.table({"item": [str(i) for i in range(40)],
                               **{f"m{i}": values[:, i] for i in range(3)}})
        pyarrow.parquet.write_table(table, path, row_group_size=15)
        if kind == "shuffled.parquet":
            made = folder() / "made.parquet"
            pb.tables.shuffle(path, made, seed=1, block_rows=10)
            path = made
    return Path(path).read_bytes()


def blocks(content):
    """A table of blocks, of which bytes were changed."""
    bits = Choices(content)
    kind = bits.of(["npy", "parquet", "shuffled.parquet"])
    path = written("table." + kind, damaged(bits, table_file(kind)))
    try:
        table = Blocks.open(path)
    except (ValueError, TypeError) as error:
        return refused(error)
    rows = np.unique(np.minimum([0, 14, 15, 39], table.n_rows - 1))
    columns = np.arange(min(3, table.n_columns))
    try:
        values = table.values(rows, columns)
    except (ValueError, TypeError) as error:
        return refused(error)
    assert values.shape == (rows.size, columns.size) and values.dtype == np.float64


def forged(content):
    """A state of a policy in a study's file, changed and signed."""
    bits, path = Choices(content), fresh("forged.db")
    name = bits.of(["batch sar", "shadavar", "thompson", "ugap", "bayes gap"])
    Path(path).write_bytes(forged_file(name))
    with_rows_changed(bits, path, ["state"])
    signed_again(path)
    with_study(path)


@functools.cache
def forged_file(name):
    path = str(folder() / "source.db")
    with Study.create(path, EVERY[name](), overwrite=True) as study:
        for _ in range(4):
            batch = study.ask()
            study.tell(batch.id, measured(batch.id, batch.arms))
        study.ask()
    return Path(shutil.copy(path, path + ".copy")).read_bytes()
