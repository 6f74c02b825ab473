"""The tables of a file as they were made, and nothing in it that computes.

SQLite runs views, triggers and indexes of expressions where tables are read or written: in a
file of somebody else's they are programs, which may run for ever.
"""

from pybandit._shared.errors import StudyDamagedError


def check_tables(path, db, made, kind="study"):
    """Raises where a database has not the tables of `made`, or anything beside them but tables.

    `made` are the statements that made it; what is an index may be missing. Who keeps tables of
    their own in the file may.
    """

    def refuse(what):
        raise StudyDamagedError(f"{path} is damaged or not a {kind}: {what}")

    missing = {_plain(statement) for statement in made} - {""}
    for type_, name, statement in db.execute("SELECT type, name, sql FROM sqlite_master"):
        statement = _plain(statement)
        if statement in missing:
            missing.remove(statement)
        # the statement is what SQLite goes by, whatever the type says
        elif statement and not statement.upper().startswith("CREATE TABLE "):
            refuse(f"it has the {type_} {name}, which is none of a {kind}")
    for statement in sorted(missing):
        if statement.startswith("CREATE TABLE "):
            refuse(f"it has no table {statement.split()[2]} as it was made")


def _plain(statement):
    """As SQLite keeps it, in one line; of an index that follows from a table it keeps none."""
    return " ".join(str(statement or "").replace("IF NOT EXISTS ", "").split())
