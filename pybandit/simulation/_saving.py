"""Comparisons in files, and the streams of their runs."""

import contextlib
import json
import os
import tempfile

import numpy as np

from pybandit._shared.checks import shown
from pybandit._shared.files import checked_archive, opened_regular, parsed_json, replace

FORMAT, FORMAT_OF_ONE = "pybandit comparison 1", "pybandit simulation 1"
ONE = "policy"  # name of the only result in a file of one result
# Maximum size of an expanded file: 256 MiB, or for large files a multiple of their size.
LEAST_EXPANDED, MOST_EXPANDED = 1 << 28, 1 << 40
# arrays of a result: dtype, and the dimension of their columns, if any
ARRAYS = {
    "errors": (bool, None), "stopped": (bool, None), "regrets": (float, None),
    "cumulative_regrets": (float, None), "pulls": (np.int64, None), "batches": (np.int64, None),
    "checkpoint_errors": (bool, "checkpoints"), "checkpoint_regrets": (float, "checkpoints"),
    "checkpoint_cumulative_regrets": (float, "checkpoints"),
    "checkpoint_leaders": (np.int64, "checkpoints"), "arm_pulls_by_run": (np.int64, "arms")}
# fields that a simulation has only if they were requested
WANTED = ("checkpoints", "checkpoint_errors", "checkpoint_regrets",
          "checkpoint_cumulative_regrets", "checkpoint_leaders", "arm_pulls_by_run")
STREAMS = {"words": list, "pool_size": int, "first": int, "n_runs": int}


def merged_streams(one, two):
    """Return the streams of both, adjacent ranges joined; raise if they overlap."""
    for mine in one:
        for other in two:
            if _is_same_seed(mine, other) and (
                    max(mine["first"], other["first"])
                    < min(_end(mine), _end(other))):
                raise ValueError("streams must differ in comparisons that are merged: both have "
                                 f"run {max(mine['first'], other['first'])} of the same seed; "
                                 "use another rng")
    merged = [dict(one[0])]
    for stream in (*one[1:], *two):
        last = merged[-1]
        if _is_same_seed(last, stream) and _end(last) == stream["first"]:
            last["n_runs"] += stream["n_runs"]
        else:
            merged.append(dict(stream))
    return tuple(merged)


def _is_same_seed(one, two):
    return all(one[name] == two[name] for name in ("words", "pool_size"))


def _end(stream):
    return stream["first"] + stream["n_runs"]


def save(comparison, path):
    """Write a `Comparison` to a file, atomically."""
    _write(comparison.results, {"format": FORMAT, "names": comparison.names,
                                "options": comparison.options, "streams": comparison.streams},
           path)


def save_one(result, path):
    """Write a `SimulationResult`. Its streams are unknown, so that it cannot be merged."""
    streams = [{"words": [], "pool_size": 0, "first": 0, "n_runs": result.n_runs}]
    _write({ONE: result}, {"format": FORMAT_OF_ONE, "names": [ONE], "options": {},
                           "streams": streams}, path)


def load_one(path, make):
    """Return the result of a file that `save_one` wrote; see `load`."""
    return load(path, make, FORMAT_OF_ONE, "SimulationResult")[0][ONE]


def _write(results, header, path):
    """Write to a temporary file in the same folder, then rename it to `path`."""
    path = checked_path(path)
    arrays = {}
    for j, result in enumerate(results.values()):
        columns, _, totals = result._parts()
        arrays |= {f"{j}.{name}": array for name, array in columns.items()}
        arrays[f"{j}.arm_totals"] = totals
    marks = next(iter(results.values())).checkpoints
    header = header | {"checkpoints": [] if marks is None else marks.tolist()}
    folder = os.path.dirname(os.path.abspath(path))
    handle, beside = tempfile.mkstemp(dir=folder, suffix=".npz")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, header=np.array(json.dumps(header)), **arrays)
        os.umask(mask := os.umask(0))
        os.chmod(beside, 0o666 & ~mask)  # default permissions of a new file
        replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise


def checked_path(path):
    """Return a path as text."""
    try:
        return os.fspath(path)
    except TypeError:
        raise TypeError(f"path must be a str or path-like object; got {shown(path)}") from None


def load(path, make, form=FORMAT, kind="Comparison"):
    """Return results, options and streams of a file that `save` wrote.

    `make` is `SimulationResult._of`.
    """
    path = checked_path(path)
    with opened_regular(path) as raw:
        try:
            checked_archive(raw, "comparison", LEAST_EXPANDED, MOST_EXPANDED).close()
            raw.seek(0)
            with np.load(raw, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            return _parsed(parsed_json(str(arrays.pop("header"))), arrays, form, make)
        except Exception as error:  # damaged files may raise any exception
            raise ValueError(f"path must be a file that {kind}.save wrote; got {shown(path)}: "
                             f"{str(error)[:500]}") from error


def _parsed(header, arrays, form, make):
    if header["format"] != form:
        raise ValueError(f"its format is {header['format']!r} instead of {form!r}")
    names, marks, streams = header["names"], header["checkpoints"], tuple(header["streams"])
    options = {str(name): str(words) for name, words in header["options"].items()}
    if not names or len(set(names)) < len(names) or not all(isinstance(n, str) for n in names):
        raise ValueError(f"its names {names!r} are invalid")
    if not all(type(one) is int and one >= 0 for one in marks) or sorted(set(marks)) != marks:
        raise ValueError(f"its checkpoints {marks!r} are invalid")
    if not streams:
        raise ValueError("it has no streams")
    for stream in streams:
        if set(stream) != set(STREAMS) or not all(
                type(stream[name]) is kind for name, kind in STREAMS.items()) or not (
                stream["first"] >= 0 and stream["n_runs"] >= 1):
            raise ValueError(f"its stream {stream!r} is invalid")
    n_runs = sum(stream["n_runs"] for stream in streams)
    results = {name: _result(j, arrays, marks, n_runs, make) for j, name in enumerate(names)}
    return results, options, streams


def _result(j, arrays, marks, n_runs, make):
    totals = arrays[f"{j}.arm_totals"]
    columns = {}
    for name, (kind, across) in ARRAYS.items():
        if f"{j}.{name}" not in arrays:
            if name not in WANTED or across == "checkpoints" and marks:
                raise ValueError(f"it has no {name} of policy {j}")
            continue
        array = arrays[f"{j}.{name}"]
        width = {"checkpoints": (len(marks),), "arms": totals.shape, None: ()}[across]
        if array.dtype != kind or array.shape != (n_runs, *width):
            raise ValueError(f"{name} of policy {j} has dtype {array.dtype} and shape "
                             f"{array.shape}")
        if kind is np.int64 and array.min(initial=0) < -(name == "checkpoint_leaders"):
            raise ValueError(f"{name} of policy {j} has the value {array.min()}")
        columns[name] = array
    if totals.dtype != np.int64 or totals.ndim != 1 or totals.min(initial=0) < 0 or (
            totals.sum() != columns["pulls"].sum()):
        raise ValueError(f"arm_totals of policy {j} do not add up to its pulls")
    return make(marks, columns, {}, totals)
