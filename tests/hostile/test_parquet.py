"""Hostile files of Parquet: metadata, declared sizes, pages that expand, and schemas of Arrow."""

import base64
import io
import json
import pickle
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from pybandit.tables._parquet import MARK, checksum, make_mark

from hostile.special import attacked, check_refused, is_missing
from hostile.test_npy import Payload

SMALL = {"a": np.linspace(0, 1, 40), "b": np.linspace(0, 0.5, 40)}


def written(columns=None, metadata=None, **options):
    table = pa.table(SMALL if columns is None else columns)
    if metadata is not None:
        table = table.replace_schema_metadata(metadata)
    file = io.BytesIO()
    parquet.write_table(table, file, **options)
    return file.getvalue()


def changed(old, new, content=None):
    """Return a file with bytes of its footer replaced."""
    content = written() if content is None else content
    footer = len(content) - 8 - struct.unpack("<I", content[-8:-4])[0]
    assert old in content[footer:]
    return content[:footer] + content[footer:].replace(old, new)


def rows_as(n, content):
    """Return a file whose metadata state n rows, as a Thrift number of ten bytes."""
    def number(value):
        value, encoded = value << 1, b""
        while value > 127:
            encoded, value = encoded + bytes([value & 127 | 128]), value >> 7
        return encoded + bytes([value])

    footer = len(content) - 8 - struct.unpack("<I", content[-8:-4])[0]
    body = content[footer:-8].replace(b"\x16" + number(40), b"\x16" + number(n))
    return content[:footer] + body + struct.pack("<I", len(body)) + b"PAR1"


def constant(n_rows, n_columns=1, metadata=None, row_group_size=1 << 27):
    """Return a file of equal numbers, which takes a few bytes: a valid bomb."""
    column = pa.array([0.5]).take(pa.array(np.zeros(n_rows, np.int8)))
    return written({f"m{i}": column for i in range(n_columns)}, metadata,
                   row_group_size=row_group_size)


def mark_of(content, column):
    """Return the mark that a shuffle would write to this file."""
    n_rows = parquet.ParquetFile(io.BytesIO(content)).metadata.num_rows
    crc = checksum(pa.chunked_array([column]))
    return make_mark(1, n_rows, crc, crc)


def marks():
    return {f"mark {name}": (written(metadata={MARK: mark}), "sorted, removed or added since")
            for name, mark in {
                "deep": b"[" * 200_000, "deep object": b'{"a":' * 200_000, "long": b"1" * 500_000,
                "list": b"[]", "number": b"1e999", "not text": b"\xff\xfe\0", "empty": b"",
                "lies": json.dumps({"version": 1, "rows": 40, "first": 0, "last": 0}).encode(),
                "no numbers": b'{"version": 1, "rows": "40", "first": [], "last": {}}'}.items()}


def forged():
    whole = written()
    return {
        "2**40 rows": (rows_as(1 << 40, whole), "rows"),
        "2**62 rows": (rows_as(1 << 62, whole), "rows"),
        "footer of 4 GB": (whole[:-8] + struct.pack("<I", (1 << 32) - 1) + b"PAR1", "read"),
        "footer beyond": (whole[:-8] + struct.pack("<I", len(whole)) + b"PAR1", "read"),
        "deep footer": (b"PAR1" + b"\x1c" * 100_000 + struct.pack("<I", 100_000) + b"PAR1", "read"),
        "only the magic": (b"PAR1PAR1", "read"),
        "encrypted": (whole[:-4] + b"PARE", "read"),
        "half": (whole[:len(whole) // 2], "read"),
        "pages of zeros": (whole[:4] + bytes(400) + whole[404:], "read"),
        "empty": (b"", "read"),
        "text": (b"a,b\n1,2\n" * 100, "read"),
    }


def tables():
    """Return files without a table of numbers, or with one much larger than the file."""
    nested = pa.array([1])
    for _ in range(60):
        nested = pa.array([[]], pa.list_(nested.type))
    return {
        "text": (written({"a": ["x"], "b": ["y"]}), "column"),
        "nested": (written({"a": [1.0], "b": nested}), "too deeply nested"),
        "no rows": (written({"a": np.empty(0), "b": np.empty(0)}), "must have rows"),
        "one name twice": (_named(["a", "a"]), "different names"),
        "100,000 letters": (written({"x" * 100_000: ["x"], "b": ["y"]}), "column"),
        "deep index of pandas": (written(metadata={b"pandas": b"[" * 200_000}), "pandas"),
        "long index of pandas": (written(metadata={b"pandas": b"[]," * 2_000_000}), "pandas"),
        "a block of 100 million rows": (constant(100_000_000), "cells"),
        "a block of 40 columns": (constant(1 << 20, 40), "cells"),
    }


def _named(names):
    file = io.BytesIO()
    parquet.write_table(pa.Table.from_arrays([pa.array([1.0])] * 2, names), file)
    return file.getvalue()


def arrow_schema(change):
    """Return a file whose stored Arrow schema, which pyarrow decodes, is changed."""
    content = written(metadata={b"k" * 40: b"v" * 400})
    kept = parquet.ParquetFile(io.BytesIO(content)).metadata.metadata[b"ARROW:schema"]
    encoded = base64.b64encode(change(bytearray(base64.b64decode(kept))))
    assert len(encoded) == len(kept)
    return changed(kept, encoded, content)


def schemas(folder):
    """Return files with changed Arrow schemas; pyarrow refuses them, or reads the columns."""
    def put(at, body):
        def change(message):
            message[at:at + len(body)] = body
            return message
        return change

    rng = np.random.default_rng(1)
    pickled = pickle.dumps(Payload(folder / "ran"))
    extension = pa.schema([pa.field("a", pa.float64(), metadata={
        b"ARROW:extension:name": b"arrow.py_extension_type",
        b"ARROW:extension:metadata": pickled}), pa.field("b", pa.float64())])
    file = io.BytesIO()
    parquet.write_table(pa.table(SMALL).cast(extension), file)
    found = {"pickled type": file.getvalue(),
             "length of 2 GB": arrow_schema(put(4, b"\xff\xff\xff\x7f")),
             "negative length": arrow_schema(put(4, b"\xff\xff\xff\xff")),
             "offset of the root": arrow_schema(put(8, b"\xff\xff\xff\x7f")),
             "zeros": arrow_schema(lambda message: bytes(len(message)))}
    for i in range(20):
        found[f"random {i}"] = arrow_schema(put(8 + int(rng.integers(200)), rng.bytes(4)))
    return {name: (content,) for name, content in found.items()}


def test_hostile_tables_are_refused(tmp_path):
    found = attacked(tmp_path, "best_of blocks", tables(), ".parquet")
    check_refused(found, "Exception", least=30)  # columns of text raise TypeError
    for name in ("text", "100,000 letters"):
        models, numbers = (one.text for one, _ in found if Path(one.path).stem == name)
        assert "at least 2 models; got 1: 'b'" in models
        assert "must hold real numbers; column 'b' holds string" in numbers


def test_forged_files_are_refused(tmp_path):
    check_refused(attacked(tmp_path, "best_of blocks shuffle", forged(), ".parquet"), least=48)


def test_forged_marks_are_refused(tmp_path):
    check_refused(attacked(tmp_path, "best_of", marks(), ".parquet"), least=15)


def test_large_blocks_with_forged_mark_are_refused(tmp_path):
    column = np.full(1 << 22, 0.5)
    mark = mark_of(constant(1 << 22), column)
    files = {"9 columns": (constant(1 << 22, 9, {MARK: mark}), "cells")}
    check_refused(attacked(tmp_path, "best_of blocks", files, ".parquet"), least=14)


def test_arrow_schemas_run_no_code(tmp_path):
    """pyarrow before 14 ran pickled extension types; pybandit requires at least 16."""
    for outcome, _ in attacked(tmp_path, "best_of blocks", schemas(tmp_path), ".parquet"):
        assert not outcome.errors or is_missing(outcome) or {
            "UnreadableFileError", "TypeError"} & set(outcome.errors), outcome


def test_arrow_files_are_refused(tmp_path):
    found = attacked(tmp_path, "best_of", {"table": (pickle.dumps(Payload(tmp_path / "ran")),
                                                     ".parquet")}, ".arrow")
    (outcome, words), *_ = found
    outcome.refused("ValueError", *words)
