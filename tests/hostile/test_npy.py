"""Hostile arrays of NumPy: named files, as scores and as blocks."""

import io
import os
import pickle
import struct
import subprocess
import sys

import numpy as np
import pytest

import pybandit as pb
from pybandit.errors import UnreadableFileError
from pybandit.tables._open import open_array

from hostile.driver import TESTS, attack
from hostile.special import attacked, check_refused


class Payload:
    """Write a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def with_header(header, body=b"", version=(1, 0), length=None):
    """Return an .npy file with this header, valid or not."""
    text = header.encode() if isinstance(header, str) else header
    code = "<H" if version == (1, 0) else "<I"
    size = len(text) if length is None else length
    return b"\x93NUMPY" + bytes(version) + struct.pack(code, size) + text + body


def told(shape, dtype="'<f8'", is_transposed=False):
    return f"{{'descr': {dtype}, 'fortran_order': {is_transposed}, 'shape': {shape}}}\n"


def saved(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def hostile_files(folder):
    body = bytes(80)
    objects = np.empty((2, 2), dtype=object)
    objects[:] = Payload(folder / "ran")
    return {
        "pickled objects": (saved(objects, allow_pickle=True), "real numbers"),
        "plain pickle": (pickle.dumps(Payload(folder / "ran")), "cannot be read"),
        "object dtype": (with_header(told("(2, 5)", "'|O'"), body), "real numbers"),
        "structured": (with_header(told("(2, 5)", "[('a', '<f8')]"), body), "real numbers"),
        "nested dtype": (with_header(told("(2, 5)", "[('a', [('b', '|O')])]"), body), "dtype"),
        "text": (saved(np.array([["a", "b"]])), "real numbers"),
        "complex": (saved(np.ones((2, 2), complex)), "real numbers"),
        "huge shape": (with_header(told("(1099511627776, 1048576)"), body), "shape"),
        "overflowing shape": (with_header(told("(4611686018427387904, 8)"), body), "shape"),
        "product of 0 mod 2**64": (with_header(told("(4294967296, 4294967296)"), body), "shape"),
        "negative shape": (with_header(told("(-2, -5)"), body), "shape"),
        "shape of floats": (with_header(told("(2.0, 5.0)"), body), "shape"),
        "truths as shape": (with_header(told("(True, True)"), b""), "bytes of numbers"),
        "short body": (saved(np.ones((100, 5)))[:-1], "bytes of numbers"),
        "one dimension": (saved(np.ones(5)), "two dimensions"),
        "ten dimensions": (saved(np.ones((1,) * 10)), "two dimensions"),
        "deep header": (with_header("(" * 9000 + ")" * 9000, body), "cannot be read"),
        "unary header": (with_header("-" * 9000 + "1", body), "cannot be read"),
        "call in header": (with_header(f"open({str(folder / 'ran')!r}, 'w')\n", body),
                           "cannot be read"),
        "long header": (with_header(told("(2, 5)"), b" " * (1 << 20), (2, 0), 1 << 20), "header"),
        "header of 4 GB": (with_header(told("(2, 5)"), body, (2, 0), (1 << 32) - 1), "header"),
        "version 3": (with_header(told("(2, 5)"), body, (3, 0)), "format"),
        "version 255": (with_header(told("(2, 5)"), body, (255, 255)), "format"),
        "only the magic": (b"\x93NUMPY", "cannot be read"),
        "empty": (b"", "cannot be read"),
    }


def test_hostile_arrays_are_refused(tmp_path):
    with open(tmp_path / "sparse.npy", "wb") as file:
        file.write(with_header(told("(100, 5)"), b"", (2, 0), (1 << 32) - 1))
        file.truncate(1 << 33)
    check_refused(attacked(tmp_path, "best_of blocks shuffle", hostile_files(tmp_path), ".npy"),
                  least=90)
    found = attack(tmp_path, "hostile.calls:best_of", [tmp_path / "sparse.npy"])
    found["sparse.npy"].refused("UnreadableFileError", "header")


def truncate_then_read(path):
    """Open tables, truncate the file, and read on: with a memory map, the process would end."""
    tables = [pb.tables.Blocks.open(path, shuffled=True), open_array(path)]
    os.truncate(path, 100_000)
    errors = []
    for read in (lambda: tables[0].values([0, 900_000], [0, 1]),
                 lambda: tables[1].cells(np.array([5, 900_000]), np.array([1]))):
        with pytest.raises(UnreadableFileError) as caught:
            read()
        errors.append(str(caught.value))
    raise UnreadableFileError("; ".join(errors))


def test_files_truncated_during_reads_are_refused(tmp_path):
    array = np.random.default_rng(1).random((1_000_000, 8))
    for name, saved_array in (("rows.npy", array), ("columns.npy", np.asfortranarray(array))):
        np.save(tmp_path / name, saved_array)
    # the driver compares folders, and this reader changes its own
    for name in ("rows.npy", "columns.npy"):
        out = subprocess.run(
            [sys.executable, "-c", "import sys; from hostile.test_npy import truncate_then_read\n"
             "truncate_then_read(sys.argv[1])", tmp_path / name], cwd=TESTS, text=True,
            capture_output=True, timeout=60)
        assert out.returncode == 1 and out.stderr.count("was truncated while it was open") == 2
        assert f"UnreadableFileError: {tmp_path / name}" in out.stderr
