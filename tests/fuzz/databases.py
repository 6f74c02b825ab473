"""Files of studies and stores (SQLite): rejected with a reason, or opened as a valid object.

The inputs are valid files in which bytes or rows were changed. Some are signed again, as a forger
would do.
"""

import functools
import hashlib
import os
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np

import pybandit as pb
from fuzz.files import damaged, folder
from fuzz.source import Choices
from fuzz.states import change
from pybandit.errors import PybanditWarning, StudyError
from pybandit.evaluation._store_file import StoreFile
from pybandit.evaluation._store_names import Names
from pybandit.lab._export import export
from pybandit.lab.controls import readings_of, were_kept, withdrawn_of
from pybandit.lab.plates import Layout, Plates
from pybandit.serving._study import export_of, open_any, report_of
from pybandit.studies import Study
from pybandit.studies._codec import decode, encode
from pybandit.studies._journal import START, chained
from pybandit.webtests import WebTest
from webtests.count_kills import NAMES, day

from betting.test_mutated_states import assert_counts_work
from policies.every_class import EVERY
from policies.mutations import assert_keeps_its_promises
from studies.cases import make, measured

ROWS = [None, -1, 0, 1, 2, 3, 2**31, 2**53, 2**63 - 1, -2**63, 0.5, 1e308, "", "x", "open",
        "complete", "abandoned", "ask", b"", b"x", b"N", b"i" + bytes(8), b"d" + bytes(8)]


def plain_study(path):
    """Write a study with complete, closed and open batches, and late results."""
    make(path).close()


def study_with_amendments(path):
    """Write a study with late results, some of them lost or amended."""
    with make(path) as study:
        study.tell(1, [0.25, np.nan], positions=[6, 7])
        study.amend(0, [0.75, np.nan], positions=[0, 1], reason="a typo")


def count_study(path, make_policy=lambda: pb.CountRace(3)):
    """Write a test with counts by day, an added arm and a retired one."""
    with WebTest.create(path, make_policy(), arms=NAMES) as study:
        for number in range(3):
            study.tell_counts(day(study, number, 60), key=f"day {number}", rng=number)
            if number == 1 and isinstance(study.policy, pb.CountRace):
                study.add_arm("form")
                study.retire("video", "it does not play")


def count_study_of_rewards(path):
    """Write a test like `count_study`, with a policy that takes rewards one by one."""
    count_study(path, lambda: pb.policies.UCB1(3))


def plate_study(path):
    """Write a study with results from files, whose readings are stored; one is amended."""
    with Study.create(path,
                      pb.policies.BatchSAR(12, 2, batch_size=12, max_batches=20, max_repeats=4),
                      settings=PLATES.settings()) as study:
        for number in range(3):
            batch, readings = study.ask(), np.arange(24.0) + number
            source = {"file": f"{number}.csv", "plates": {str(number): readings}}
            study.tell(batch.id, readings[:12], source=source)
        readings[5] = 0.5
        study.amend(number, [0.5], positions=[5], reason="a typo",
                    source=source | {"file": "again.csv"})
        study.ask()


PLATES = Plates(Layout(4, 6), controls=(0, 6, 12), positives=(18, 23), normalise="percent",
                fill="shuffled", fill_seed=3)
KINDS = [plain_study, study_with_amendments, count_study, count_study_of_rewards, plate_study]


@functools.cache
def study_file(kind):
    """Return the bytes of a study of one kind."""
    path = str(folder() / f"{kind.__name__}.db")
    kind(path)
    return Path(path).read_bytes()


@functools.cache
def scores_file(has_costs):
    """Return the bytes of a store with scores, claims and failures."""
    path = str(folder() / f"whole-{has_costs}.cells")
    store = StoreFile(path, Names("012345", None, 5), has_costs, (0.0, 1.0 if has_costs else None))
    cells = {(str(model), item): (0.25 * item, 1.0 + model) if has_costs else 0.25 * item
             for model in range(3) for item in range(4)}
    store.update(cells, {("2", 3)})
    store.claim([("1", 4), ("2", 4)])
    store.keep_running([("1", 4)])
    store.close()
    store.ended(("0", 0))
    content = Path(path).read_bytes()
    store.ended(("1", 4))
    return content


def with_rows_changed(bits, path, tables):
    """Change one to three values of a database to values of any type."""
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
            value = changed_value(bits, old)
            try:
                if kind == 0:
                    db.execute(f"DELETE FROM {table} WHERE {key} IS ?", (chosen,))
                else:
                    db.execute(f"UPDATE {table} SET {column} = ? WHERE {key} IS ?",
                               (value, chosen))
            except (sqlite3.IntegrityError, OverflowError):
                pass  # SQLite rejects the value


ENDLESS = ("ALTER TABLE {0} RENAME TO old; CREATE VIEW {0} AS WITH RECURSIVE r({1}) AS (SELECT {2} "
           "UNION ALL SELECT * FROM r) SELECT * FROM r")
NO_INDEX = "DROP INDEX IF EXISTS amendments; "
STATEMENTS = [
    NO_INDEX, NO_INDEX + "CREATE INDEX amendments ON batches (number)",
    NO_INDEX + "CREATE INDEX amendments ON log (number) WHERE kind = 'ask'",
    NO_INDEX + "CREATE TABLE amendments (x)", NO_INDEX + "CREATE VIEW amendments AS SELECT 1",
    NO_INDEX + "CREATE INDEX amendments ON log (number) WHERE kind = 'amend'",
    "CREATE UNIQUE INDEX more ON log (time)", "CREATE TABLE more (x)", "ANALYZE",
    *[f"PRAGMA user_version = {form}" for form in (-1, 0, 2, 3, 4)],
    *[f"CREATE TRIGGER more {moment} INSERT ON {table} BEGIN {what}; END"
      for moment in ("BEFORE", "AFTER") for table in ("log", "head")
      for what in ("DELETE FROM head", "DELETE FROM log", "SELECT raise(ABORT, 'no')",
                   "SELECT raise(IGNORE)", "SELECT raise(ROLLBACK, 'no')")],
    ENDLESS.format("late", "place, arms, results", "0, x'', x''"),
    ENDLESS.format("log", "number, kind, time, who, body, digest", "0, 'ask', 0.0, '', x'', x''"),
    *[f"ALTER TABLE {table} RENAME TO old; CREATE VIEW {table} AS SELECT * FROM old"
      for table in ("log", "head", "state", "batches", "late")],
    *[f"CREATE TABLE more AS SELECT * FROM {table}; DROP TABLE {table}; "
      f"ALTER TABLE more RENAME TO {table}" for table in ("log", "head", "state", "batches")],
    "ALTER TABLE log ADD COLUMN more", "ALTER TABLE late DROP COLUMN arms", "DROP TABLE late",
    "CREATE VIRTUAL TABLE more USING fts5(x)", "PRAGMA journal_mode = DELETE",
    "PRAGMA auto_vacuum = 1; VACUUM"]


def with_tables_changed(bits, path):
    """Change an index, the format, a trigger, a view or a table of a database."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        try:
            db.executescript(bits.of(STATEMENTS))
        except sqlite3.Error:
            pass  # the database has no such object


def with_counts_changed(bits, path):
    """Change the key or the numbers of an event of counts, also to other types."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        rows = db.execute("SELECT number, body FROM log WHERE kind = 'counts'").fetchall()
        if not rows:
            return
        number, body = bits.of(rows)
        entry, other = decode(body), decode(bits.of(rows)[1])
        name = bits.of(["key", "key", "trials", "sums", "seed"])
        if bits.below(4) == 0:
            change(bits, entry, [other])
        else:
            entry[name] = bits.of([*ODD_COUNTS, other[name]])
        try:
            body = encode(entry)
        except (TypeError, OverflowError):
            return  # pybandit could not write such an entry
        db.execute("UPDATE log SET body = ? WHERE number = ?", (body, number))


ODD_COUNTS = [None, "", "day 0", "day 9", 0, 1.5, True, b"day 0", ["day 0"], {"day": 0},
              np.array([1, 2, 3]), np.zeros(3), np.zeros(0), np.zeros((3, 1)), np.full(3, 2**62),
              np.full(3, np.nan), np.full(4, 2), np.array([-1, 5, 5])]


def changed_value(bits, old):
    """Return a changed value: encoded bytes with a change, a number nearby, or anything."""
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
    """Recompute the digests of the log and of the state, as a forger would."""
    with closing(sqlite3.connect(path)) as db, db:
        before, rows = START, db.execute("SELECT * FROM log ORDER BY number").fetchall()
        for number, kind, time, who, body, _ in rows:
            try:
                before = chained(before, number, kind, time, who, body)
            except Exception:  # the changed values have types that cannot be signed
                return
            db.execute("UPDATE log SET digest = ? WHERE number = ?", (before, number))
        parts = {part: hashlib.sha256(body).digest()
                 for part, body in db.execute("SELECT part, body FROM state")
                 if isinstance(body, bytes) and isinstance(part, str)}
        db.execute("UPDATE head SET digest = ?, state = ?",
                   (before, hashlib.sha256(encode(parts)).digest()))


def with_study(bits, path):
    """Open a study and make some of the calls that read it, report on it or record in it."""
    try:
        study = open_any(path)
    except StudyError as error:
        assert path in str(error)
        return
    except ValueError as error:  # a user-defined policy, or a kind of a newer version
        assert re.search("policy_type must be the class|is a file of a kind", str(error)), error
        return
    with study:
        calls, place = [*reading_calls(study), *recording_calls(study)], 0
        for _ in range(2 + bits.below(5)):
            place += 1 + bits.below(len(calls))  # made in order once the bytes are used up
            try:
                calls[place % len(calls)]()
            except StudyError as error:
                assert path in str(error)
            except (ValueError, TypeError) as error:
                assert re.search(ALLOWED, str(error)), error
        try:
            policy = study.policy
        except StudyError:
            return
        except ValueError as error:
            assert re.search(UNCOUNTED, str(error)), error
            return
    if isinstance(policy, pb.CountRace):
        assert_counts_work(policy)
    else:
        assert_keeps_its_promises(policy)


# message for a forged state with a count above the maximum
UNCOUNTED = r"n_(batches|pulls) in \[0, 9007199254740992\]"
# messages for an unknown batch or arm, a wrong size, a forged batch that the policy did not
# request, counts that contradict earlier ones, or calls that this policy does not have
ALLOWED = ("batch|results|positions|arms must be those of ask|^arm must|^counts|^name must|"
           "^key must|told counts|counts of|is told|policy must|" + UNCOUNTED)


def reading_calls(study):
    """Return all calls that read a study."""
    calls = [study.verify, study.status, study.recommend, study.amendments,
             lambda: list(study.log()), lambda: repr(study), lambda: study.policy,
             lambda: study.settings, lambda: study.names,
             lambda: report_of(study).write_report(study, folder() / "page")]
    if isinstance(study, WebTest):
        return [*calls, study.counts, study.study.history, lambda: study.split(9),
                lambda: export_of(study)(Path(os.devnull).write_text)]
    return [*calls, study.history, lambda: [study.batch(number) for number in range(5)],
            lambda: export_plates(study), lambda: withdrawn_of(study, 0),
            lambda: were_kept(study, 2, ["2"], np.arange(24.0))]


def export_plates(study):
    """Export all wells and read the stored readings, unless the settings have no plates."""
    try:
        plates = Plates.of(study.settings)
    except ValueError:
        return
    export(study, plates, Path(os.devnull).write_text)
    for one in readings_of(study):
        assert one.values.dtype == np.float64 and one.files


def recording_calls(study):
    """Return calls that record in a study."""
    if isinstance(study, WebTest):
        return [lambda: study.tell_counts(dict.fromkeys(study.names, (4, 2)), key="day 9", rng=1),
                lambda: study.amend_counts("day 0", {"home": (3, 1)}, reason="read again"),
                lambda: study.add_arm("more"), lambda: study.retire(study.names[0], "it is old")]
    return [lambda: study.ask(), lambda: study.close_batch(4),
            lambda: study.tell(4, measured(4, np.zeros(8, int))),
            lambda: study.tell(5, measured(5, np.zeros(8, int))),
            lambda: study.amend(0, [0.5], positions=[2], reason="read again")]


def studies(content):
    """Open the file of a study with changed bytes."""
    bits, path = Choices(content), fresh("study.db")
    Path(path).write_bytes(damaged(bits, study_file(bits.of(KINDS))))
    with_study(bits, path)


def journals(content):
    """Open a study with changed rows; half of the files are signed again."""
    bits, path = Choices(content), fresh("study.db")
    Path(path).write_bytes(study_file(bits.of(KINDS)))
    is_signed, kind = bits.below(2), bits.below(8)
    if kind in (2, 3):
        with_counts_changed(bits, path)
    if kind not in (1, 3):
        with_rows_changed(bits, path, ["log", "log", "head", "state", "batches", "late"])
    if is_signed:
        signed_again(path)
    if kind in (0, 1):  # done last, because a changed view may have infinitely many rows
        with_tables_changed(bits, path)
    with_study(bits, path)


def stores(content):
    """Open a file of scores with changed bytes or rows, as a race that resumes from it."""
    bits, path = Choices(content), fresh("scores.cells")
    has_costs = bool(bits.below(2))
    whole = scores_file(has_costs)
    if bits.below(2):
        Path(path).write_bytes(damaged(bits, whole))
    else:
        Path(path).write_bytes(whole)
        with_rows_changed(bits, path, ["cells", "cells", "claims", "owners", "about"])
    try:
        store = StoreFile(path, Names("012345", None, 5), has_costs,
                          (0.0, 1.0 if has_costs else None))
    except (StudyError, PybanditWarning) as error:  # the warning is about a lost SQLite log
        assert path in str(error)
        return
    except ValueError as error:
        assert "store must be of the same evaluation" in str(error), error
        return
    new = {("0", 4): (0.5, 1.0) if has_costs else 0.5}
    for ask in (lambda: len(store), lambda: check_cells(store, has_costs),
                lambda: store.update(new), lambda: store.claim([("1", 4), ("2", 4), ("5", 4)]),
                lambda: store.release([("1", 4)]),
                lambda: store.drop(3), store.beat, store.close):
        try:
            ask()
        except StudyError as error:
            assert path in str(error)


def check_cells(store, has_costs):
    """Check that the known scores are numbers, with keys of model and item."""
    for place in store:
        assert all(type(one) is str for one in place[:-1]) and type(place[-1]) is int, place
        cell = store.get(place)
        for number in cell if has_costs else (cell,):
            assert cell is None or isinstance(number, float), (place, cell)


def fresh(name):
    """Return a path with no file and no SQLite log."""
    path = str(folder() / name)
    for end in ("", "-wal", "-shm", "-journal"):
        if os.path.exists(path + end):
            os.unlink(path + end)
    return path


def forged(content):
    """Open a study in which the state of the policy was changed and signed again."""
    bits, path = Choices(content), fresh("forged.db")
    name = bits.of(["batch sar", "shadavar", "thompson", "ugap", "bayes gap"])
    Path(path).write_bytes(forged_file(name))
    with_rows_changed(bits, path, ["state"])
    signed_again(path)
    with_study(bits, path)


@functools.cache
def forged_file(name):
    path = str(folder() / "source.db")
    with Study.create(path, EVERY[name](), overwrite=True) as study:
        for _ in range(4):
            batch = study.ask()
            study.tell(batch.id, measured(batch.id, batch.arms))
        study.ask()
    return Path(shutil.copy(path, path + ".copy")).read_bytes()
