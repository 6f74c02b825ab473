"""The store of paid scores: a mapping or a file."""

import os
from collections.abc import MutableMapping

from pybandit._shared.checks import shown
from pybandit.evaluation._paid import Paid


def store_of(store, source, race, calls, options):
    """Return the `Paid` scores of a source; None for a table, whose scores cost nothing."""
    if calls.version is not None and not isinstance(store, (str, os.PathLike)):
        raise ValueError("version must be left out without a store in a file; got "
                         f"{shown(calls.version)}")
    if source.paid is None:
        if store is not None:
            raise ValueError("store must be left out beside a table of scores, which cost nothing; "
                             f"got {shown(store)}")
        return None
    if store is None or isinstance(store, MutableMapping):
        return Paid(store, source.paid.parts, source.keys)
    if not isinstance(store, (str, os.PathLike)):
        raise TypeError("store must be the path of a file, or a mapping that can be written to, "
                        f"of scores by (model, item); got {shown(store)}")
    return Paid(_opened(store, source, race, calls, options), source.paid.parts, source.keys)


def _opened(store, source, race, calls, options):
    """Return the `Cells` of a file, which must be of this evaluation."""
    from pybandit.evaluation._cell_names import Names
    from pybandit.evaluation._cells import Cells  # SQLite, loaded only if there is a file

    name = os.fsdecode(store)
    if name in ("", ":memory:") or "\0" in name:  # not files for SQLite, or names it cuts
        raise ValueError("store must be the path of a file, which is on the disk; a mapping keeps "
                         f"scores in memory; got {shown(store)}")
    if source.keys.names is None:
        raise ValueError('models must be names beside a store on the disk, as ["a", "b", ...]: '
                         "numbers would change their meaning with the order; got "
                         f"{source.n_arms}")
    about = {"kind": source.paid.parts[0], "value_range": str(race.value_range),
             "version": calls.version or ""}
    return Cells(store, Names(source.keys.names, source.keys.labels, source.n_real_items),
                 len(source.paid.parts) == 2, None if options is None else options.failed, about)
