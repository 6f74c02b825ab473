"""Hostile files of comparisons (.npz), and hostile JSON."""

import io
import json
import pickle
import zipfile

import numpy as np
import pytest

import pybandit as pb
from pybandit._shared.files import MOST_JSON, parsed_json

from hostile.special import attacked, check_refused
from hostile.test_npy import Payload, told, with_header
from hostile.test_xlsx import directory_of

ARMS = pb.environments.BernoulliBandit([0.1, 0.5, 0.9])


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Return the parts of a file written by `save`, by name."""
    path = tmp_path_factory.mktemp("whole") / "whole.npz"
    out = pb.compare({"uniform": pb.policies.Uniform(3, budget=12)}, ARMS, n_runs=20, rng=1)
    out.save(path)
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def packed(parts, method=zipfile.ZIP_DEFLATED, **changes):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method, compresslevel=1) as new:
        for name, body in (parts | changes).items():
            new.writestr(name, body)
    return out.getvalue()


def text(value):
    """Return an array of text as NumPy saves it."""
    file = io.BytesIO()
    np.save(file, np.array(value if isinstance(value, str) else json.dumps(value)))
    return file.getvalue()


def comparisons(parts, folder):
    header = json.loads(str(np.load(io.BytesIO(parts["header.npy"]))))
    name = next(name for name in parts if name.endswith("pulls.npy"))
    objects = io.BytesIO()
    np.save(objects, np.array([Payload(folder / "ran")], dtype=object), allow_pickle=True)

    def with_head(**changes):
        return packed(parts, **{"header.npy": text(header | changes)})

    def with_part(body):
        return packed(parts, **{name: body})

    return {
        "pickled objects": (with_part(objects.getvalue()), "allow_pickle"),
        "pickled header": (packed(parts, **{"header.npy": objects.getvalue()}), "allow_pickle"),
        "plain pickle": (pickle.dumps(Payload(folder / "ran")), "archive"),
        "deep header": (packed(parts, **{"header.npy": text("[" * 200_000)}), "nested deeply"),
        "deep object": (packed(parts, **{"header.npy": text('{"a":' * 200_000)}), "nested"),
        "long header": (packed(parts, **{"header.npy": text("[" + "[]," * 2_000_000)}), "at most"),
        "huge shape": (with_part(with_header(told("(1099511627776, 1048576)"))), "comparison"),
        "huge array": (with_part(with_header(told("(2147483648,)"), bytes(80))), "comparison"),
        "deep array header": (with_part(with_header("(" * 9000)), "comparison"),
        "bomb": (packed(parts, **{"a.npy": with_header(told("(1,)"), bytes(300 << 20))}), "expand"),
        "many runs": (with_head(streams=[{"words": [1], "pool_size": 4, "first": 0,
                                          "n_runs": 1 << 62}]), "comparison"),
        "negative runs": (with_head(streams=[{"words": [1], "pool_size": 4, "first": 0,
                                              "n_runs": -1}]), "stream"),
        "names of a megabyte": (with_head(names=["x" * (1 << 20)] * 2), "names"),
        "many checkpoints": (with_head(checkpoints=list(range(100_000))), "comparison"),
        "numbers as names": (with_head(names=[1, 2]), "names"),
        "list of lists": (packed(parts, **{"header.npy": text([[]])}), "comparison"),
        "no header": (packed({name: body for name, body in parts.items() if "header" not in name}),
                      "header"),
        "directory of 4 GB": (directory_of(1 << 22), "directory"),
        "other parts": (packed(parts, **{"../../ran": b"x"}), "comparison"),
        "half": (packed(parts)[:-100], "archive"),
        "empty": (b"", "archive"),
    }


def test_hostile_comparisons_are_refused(parts, tmp_path):
    files = comparisons(parts, tmp_path)
    files.pop("other parts")
    found = attacked(tmp_path, "comparison", files, ".npz")
    read = [one for one in found if "npz" in one[0].path]
    assert check_refused(read, "Exception", 20) == len(read) <= len(found)


def test_whole_comparison_is_read(parts, tmp_path):
    (tmp_path / "whole.npz").write_bytes(packed(parts))
    assert pb.simulation.Comparison.load(tmp_path / "whole.npz").names == ["uniform"]


@pytest.mark.parametrize("content, word", [
    ("[" * 100_000, "nested"), ('{"a":' * 100_000, "nested"), ("[" * 900 + "]" * 900, ""),
    ("1" * 5000, "digits"), (" " * (MOST_JSON + 1), "at most"), ("[1,", ""), ("", ""),
    (b"\xff\xfe", ""), ("nan", ""), ("\0", "")])
def test_json_is_refused_or_parsed(content, word):
    """Every text gives a value or a ValueError; deep nesting must not cause a RecursionError."""
    try:
        parsed_json(content)
    except ValueError as error:
        assert word in str(error)
    else:
        assert not word
