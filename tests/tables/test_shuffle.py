"""The shuffle: order, whole rows, mark, invalid arguments, interrupts."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import pybandit as pb
from pybandit import cli
from pybandit.tables import _shuffle, shuffle
from pybandit.tables._parquet import MARK, read_mark

from tables.conftest import SCORES
from tables.reference.shuffle import shuffled_rows

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def rows_of(path):
    return parquet.read_table(path).to_pydict()


@pytest.mark.parametrize("piles", [1, 3, 200])
@pytest.mark.parametrize("source", ["npy", "parquet", "blocks"])
def test_shuffle_equals_reference_for_any_memory(source, piles, folder, tmp_path, monkeypatch):
    """This holds for all sources of rows and all batch sizes."""
    row_bytes = 16 + 4 * 4
    monkeypatch.setattr(_shuffle, "PILE_SHARE",
                        (piles - 0.5) * _shuffle.LEAST_MEMORY / (6000 * row_bytes))
    monkeypatch.setattr(_shuffle, "BATCH_SHARE", _shuffle.LEAST_MEMORY // (row_bytes * 777))
    table = folder / "table.npy"
    if source == "parquet":
        table = tmp_path / "table.parquet"
        parquet.write_table(arrow.table({str(i): SCORES[:, i] for i in range(4)}), table)
    if source == "blocks":
        table = pb.tables.Blocks(lambda block, columns: SCORES[1500 * block:][:1500][:, columns],
                                 [1500] * 4, 4)
    result = shuffle(table, tmp_path / "out.parquet", rng=11, memory=_shuffle.LEAST_MEMORY)
    assert result.shuffled and result.sizes.tolist() == [256] * 23 + [112]
    found = result.values(np.arange(6000), np.arange(4))
    assert np.array_equal(found, SCORES[shuffled_rows(11, 6000)])
    assert parquet.read_schema(tmp_path / "out.parquet").field(0).type == arrow.float32()
    assert os.listdir(tmp_path).count("out.parquet") == 1
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".pybandit")]


def test_rows_of_all_types_and_metadata_are_kept(tmp_path):
    n = 3000
    columns = {"id": [f"q{i}" for i in range(n)], "a": [i / n for i in range(n)],
               "b": [None if i % 7 == 0 else i % 2 == 0 for i in range(n)],
               "tags": [["x"] * (i % 3) for i in range(n)], "key": list(range(n)),
               "low": [0] * n}
    table = arrow.table(columns).replace_schema_metadata({"who": "us"})
    parquet.write_table(table, tmp_path / "in.parquet")
    with pytest.warns(UserWarning, match="columns 'key' are written, but left out of the Blocks"):
        result = shuffle(tmp_path / "in.parquet", tmp_path / "out.parquet", rng=5)
    assert result.names == ("a", "b", "low")
    with pytest.raises(TypeError, match="column 'tags' holds list.*Blocks.open"):
        pb.best_of(tmp_path / "out.parquet", value_range=(0, 1))
    found, order = rows_of(tmp_path / "out.parquet"), shuffled_rows(5, n)
    assert found == {name: [values[row] for row in order] for name, values in columns.items()}
    assert parquet.read_schema(tmp_path / "out.parquet").metadata[b"who"] == b"us"
    blocks = pb.tables.Blocks.open(tmp_path / "out.parquet", columns=["a", "b"])
    assert blocks.shuffled and blocks.names == ("a", "b")


def test_text_and_times_are_written_but_not_models(tmp_path, capsys):
    """A table without numbers is refused."""
    n = 600
    columns = {"id": [f"q{i}" for i in range(n)], "kind": ["x"] * n,
               "when": arrow.array([i * 10**9 for i in range(n)], arrow.timestamp("ns")),
               "a": [i / n for i in range(n)], "b": [0.5] * n}
    parquet.write_table(arrow.table(columns), tmp_path / "in.parquet")
    assert cli.main(["shuffle", str(tmp_path / "in.parquet"), str(tmp_path / "out.parquet")]) == 0
    assert "600 rows of 2 columns" in capsys.readouterr().out
    assert parquet.read_schema(tmp_path / "out.parquet").names == list(columns)
    assert pb.best_of(pb.tables.Blocks.open(tmp_path / "out.parquet", columns=["a", "b"]),
                      value_range=(0, 1)).n_items == n
    told = b'{"index_columns": ["a"]}'  # an index of pandas: a label
    only = arrow.table({name: columns[name] for name in ("kind", "a")})
    parquet.write_table(only.replace_schema_metadata({"pandas": told}), tmp_path / "only.parquet")
    with pytest.raises(ValueError, match="columns of numbers"):
        shuffle(tmp_path / "only.parquet", tmp_path / "new.parquet")
    assert sorted(os.listdir(tmp_path)) == ["in.parquet", "only.parquet", "out.parquet"]


def test_other_byte_orders_are_written(tmp_path):
    np.save(tmp_path / "big.npy", SCORES.astype(">f4"))
    result = shuffle(tmp_path / "big.npy", tmp_path / "out.parquet", rng=3)
    assert np.array_equal(result.values(np.arange(6000), np.arange(4)),
                          SCORES[shuffled_rows(3, 6000)])


def test_all_orders_of_four_rows_are_equally_likely():
    """24,000 seeds of the reference; chi-square with 23 degrees of freedom, p = 1e-4."""
    orders, counts = np.unique([shuffled_rows(seed, 4) for seed in range(24_000)], axis=0,
                               return_counts=True)
    assert len(orders) == 24 and ((counts - 1000)**2 / 1000).sum() < 57.8


def test_seed_is_written_to_metadata(folder, tmp_path):
    mark = read_mark(parquet.ParquetFile(folder / "shuffled.parquet").metadata.metadata)
    assert (mark["version"], mark["entropy"], mark["rows"]) == (1, 7, 6000)
    seeds = set()
    for name in ("a.parquet", "b.parquet"):
        shuffle(folder / "table.npy", tmp_path / name)
        mark = read_mark(parquet.ParquetFile(tmp_path / name).metadata.metadata)
        assert mark["entropy"] > 2**64  # drawn from the operating system; it reproduces the order
        seeds.add(mark["entropy"])
    assert len(seeds) == 2
    result = shuffle(folder / "table.npy", tmp_path / "again.parquet", rng=mark["entropy"])
    again = result.values(range(6000), range(4))
    assert np.array_equal(again, pb.tables.Blocks.open(tmp_path / "b.parquet").values(range(6000),
                                                                              range(4)))


@pytest.mark.parametrize("change", [
    lambda table: table.sort_by("0"), lambda table: table.sort_by([("3", "descending")]),
    lambda table: table.filter(arrow.compute.greater(table["1"], 0.4)),
    lambda table: arrow.concat_tables([table, table.slice(0, 5)])])
def test_changed_shuffled_file_is_refused(change, folder, tmp_path):
    """Programs that sort, cut or extend a file may keep its metadata."""
    table = parquet.read_table(folder / "shuffled.parquet")
    mark = parquet.ParquetFile(folder / "shuffled.parquet").metadata.metadata[MARK]
    path = tmp_path / "changed.parquet"

    def write(changed):
        parquet.write_table(changed.replace_schema_metadata({MARK: mark}), path,
                            row_group_size=256)

    write(table)
    assert pb.tables.Blocks.open(path).shuffled
    write(change(table))
    for call in (pb.tables.Blocks.open, lambda path: pb.best_of(path, value_range=(0, 1))):
        with pytest.raises(ValueError, match="sorted, removed or added since"):
            call(path)
    assert pb.tables.Blocks.open(path, shuffled=True).shuffled
    # another shuffle makes it valid
    result = shuffle(path, tmp_path / "good.parquet", rng=1)
    assert result.shuffled and result.n_rows == len(change(table))


@pytest.mark.parametrize("mark", [b"", b"[1]", b'"text"', b'{"version": 2}', b"\xff"])
def test_invalid_mark_is_refused(mark, folder, tmp_path):
    table = parquet.read_table(folder / "shuffled.parquet")
    parquet.write_table(table.replace_schema_metadata({MARK: mark}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="since"):
        pb.tables.Blocks.open(tmp_path / "t.parquet")


@pytest.mark.parametrize("options, name", [
    ({"rng": -1}, "rng"), ({"rng": 0.5}, "rng"), ({"rng": 2**128}, "rng"),
    ({"memory": 5}, "memory"), ({"block_rows": 0}, "block_rows"),
                                           ({"overwrite": "no"}, "overwrite"),
    ({"overwrite": 1}, "overwrite"), ({"table": np.ones((3, 2), np.longdouble)}, "table"),
    ({"path": "out.csv"}, "path"), ({"path": 3}, "path"), ({"path": "none/out.parquet"}, "path"),
    ({"table": 3}, "table"), ({"table": "none.parquet"}, "none.parquet"),
    ({"table": np.ones((3, 2)) * 1j}, "table"),
    ({"table": pb.tables.Blocks(lambda *_: np.ones((5, 2)), [5], 2, names=("a", "a"))}, "names"),
    ({"table": pb.tables.Blocks(lambda *_: np.ones((5, 2)), [5], 2, names=(1, "1"))}, "names")])
def test_refused(options, name, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = dict(dict(table=folder / "table.npy", path="out.parquet"), **options)
    with pytest.raises((TypeError, ValueError), match=f"^{name}"):
        shuffle(**given)
    assert not os.listdir(tmp_path)


def test_existing_file_is_kept_unless_overwrite(folder, tmp_path):
    path = tmp_path / "out.parquet"
    first = shuffle(folder / "table.npy", path, rng=1)
    with pytest.raises(ValueError, match="path must be a file that does not exist"):
        shuffle(folder / "table.npy", path)
    with pytest.raises(ValueError, match="path must be another file than the table"):
        shuffle(path, path, overwrite=True)
    second = shuffle(folder / "table.npy", path, rng=2, overwrite=True)
    assert not np.array_equal(*(one.values([0, 1], [0]) for one in (first, second)))


def test_more_piles_than_open_files(folder, tmp_path):
    """Files are not all open at once; otherwise this fails and leaves the folder behind."""
    pytest.importorskip("resource")
    code = ("import resource, sys; from pybandit.tables import _shuffle\n"
            "_shuffle.PILE_SHARE = 300 * 2**24 / (6000 * 32)\n"
            "resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))\n"
            "_shuffle.shuffle(sys.argv[1], sys.argv[2], rng=7, memory=2**24, block_rows=256)")
    path = tmp_path / "out.parquet"
    subprocess.run([sys.executable, "-c", code, folder / "table.npy", path], check=True)
    assert os.listdir(tmp_path) == ["out.parquet"]
    assert path.read_bytes() == (folder / "shuffled.parquet").read_bytes()


@pytest.mark.parametrize("piles", [1, 50])
def test_categories_differing_between_row_groups_are_kept(piles, tmp_path, monkeypatch):
    monkeypatch.setattr(_shuffle, "PILE_SHARE", piles)
    monkeypatch.setattr(_shuffle, "BATCH_SHARE", 1 << 10)  # some batches
    n, size = 200_000, 50_000
    kinds = [f"{i // size}-{i % 3}" if i % 5 else None for i in range(n)]
    parts = [arrow.array(kinds[i:i + size]).dictionary_encode() for i in range(0, n, size)]
    parquet.write_table(arrow.table({"kind": arrow.chunked_array(parts), "x": range(n)}),
                        tmp_path / "in.parquet", row_group_size=size)
    result = shuffle(tmp_path / "in.parquet", tmp_path / "out.parquet", rng=5, memory=1 << 24)
    order, found = shuffled_rows(5, n), parquet.read_table(tmp_path / "out.parquet")
    assert result.names == ("x",) and np.array_equal(found["x"].to_numpy(), order)
    assert found["kind"].to_pylist() == [kinds[row] for row in order]
    assert arrow.types.is_dictionary(found.schema.field("kind").type)


def test_wide_rows_take_limited_disk_space(tmp_path):
    """Arrow takes 48 bytes per column and message, which small messages would make large."""
    table = np.random.default_rng(1).random((1000, 400), dtype=np.float32)
    piles = _shuffle._Piles(_shuffle.open_rows(table), tmp_path, 1 << 20)
    piles.fill(np.random.PCG64(1), (1 << 20) // _shuffle.BATCH_SHARE)
    taken = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert table.nbytes < taken < 3 * table.nbytes
    assert sum(part.num_rows for part in piles.sorted()) == 1000 and not os.listdir(tmp_path)


def test_ctrl_c_leaves_nothing(folder, tmp_path):
    """This holds at any time after the imports: importlib suppresses exceptions in callbacks."""
    code = ("import sys; from pybandit.tables import shuffle\n"
            "def run(): shuffle(sys.argv[1], sys.argv[2], overwrite=True, rng=1)\n"
            "run(); print('on', flush=True)\n"
            "try:\n    while True: run()\nexcept KeyboardInterrupt:\n    pass")
    for wait in (0.05, 0.2, 0.4):
        child = subprocess.Popen([sys.executable, "-c", code, folder / "table.npy",
                                  tmp_path / "out.parquet"], stdout=subprocess.PIPE)
        child.stdout.readline()
        time.sleep(wait)
        child.send_signal(signal.SIGINT)
        try:
            child.communicate(timeout=60)
        finally:
            child.kill()
        assert set(os.listdir(tmp_path)) <= {"out.parquet"}


@pytest.mark.parametrize("name", ["rmdir", "unlink", "mkdir"])
@pytest.mark.parametrize("is_done", [False, True])
def test_ctrl_c_during_cleanup_leaves_nothing(name, is_done, folder, tmp_path, monkeypatch):
    """The first such call raises KeyboardInterrupt, before or after its work."""
    call, left = getattr(os, name), [1]

    def interrupted(*args, **options):
        if not left:
            return call(*args, **options)
        left.pop()
        if is_done:
            call(*args, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, name, interrupted)
    if name == "unlink":  # a successful shuffle has no file left to unlink
        monkeypatch.setattr(_shuffle, "_write", failing_with_a_file)
    with pytest.raises(KeyboardInterrupt):
        shuffle(folder / "table.npy", tmp_path / "out.parquet", rng=1)
    assert not left and set(os.listdir(tmp_path)) <= {"out.parquet"}


def failing_with_a_file(piles, path, *_):
    Path(path).touch()
    raise OSError("no room")


def test_shuffle_command_writes_file(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = str(folder / "table.npy")
    assert cli.main(["shuffle", table, "out.parquet", "--seed", "7", "--block-rows", "256"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("out.parquet: 6,000 rows of 4 columns in 24 blocks, in ")
    for name in ("table.npy", "shuffled.parquet"):
        assert (folder / name).exists()
    assert rows_of("out.parquet") == rows_of(folder / "shuffled.parquet")
    assert cli.main(["shuffle", table, "out.parquet"]) == 2
    assert "path must be a file that does not exist" in capsys.readouterr().err
    assert cli.main(["shuffle", table, "out.parquet", "--overwrite", "--memory", "16"]) == 0
    assert cli.main(["shuffle", "none.npy", "new.parquet"]) == 2
    assert "No such file or directory: 'none.npy'" in capsys.readouterr().err
    assert not os.path.exists("new.parquet")
    with pytest.raises(SystemExit):
        cli.main(["shuffle", table])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert cli.main(["shuffle", table, "new.parquet"]) == 1
    assert "pybandit-core[tables]" in capsys.readouterr().err


def shuffled_blocks(tmp_path, parts, **options):
    """Return shuffled blocks of these arrays, and the new order of their rows."""
    sizes = [len(part) for part in parts]
    blocks = pb.tables.Blocks(lambda block, columns: parts[block][:, columns], sizes,
                              parts[0].shape[1], **options)
    result = shuffle(blocks, tmp_path / "out.parquet", rng=4)
    return (result.values(range(sum(sizes)), range(result.n_columns)),
            shuffled_rows(4, sum(sizes)))


def test_opened_columns_keep_their_types(tmp_path):
    """Scores next to a column of 0 and 1 would become 0 in the dtype of that column."""
    n = 600
    columns = {"right": arrow.array([i % 2 for i in range(n)], arrow.int64()),
               "a": SCORES[:n, 0].astype(np.float64) * 1e300,
               "won": [i % 3 == 0 for i in range(n)],
               "late": arrow.array([i if i < 400 else None for i in range(n)], arrow.int32()),
               "id": ["x"] * n}
    parquet.write_table(arrow.table(columns), tmp_path / "in.parquet", row_group_size=200)
    names = ["right", "late", "won", "a"]
    blocks = pb.tables.Blocks.open(tmp_path / "in.parquet", columns=names)
    expected = blocks.values(range(n), range(4))[shuffled_rows(4, n)]
    result = shuffle(blocks, tmp_path / "out.parquet", rng=4)
    assert result.shuffled and result.names == tuple(names)
    assert np.array_equal(result.values(range(n), range(4)), expected, equal_nan=True)
    assert np.isnan(expected).sum() == 200
    assert [str(kind) for kind in parquet.read_schema(tmp_path / "out.parquet").types] == [
        "int64", "int32", "bool", "double"]
    # part of the columns, with other names
    renamed = pb.tables.Blocks(blocks.read, blocks.sizes, 2, names=["x", "y"])
    with pytest.raises(TypeError, match=r"read\(2, columns\) of Blocks must return.*float64"):
        shuffle(renamed, tmp_path / "other.parquet", rng=4)
    assert sorted(os.listdir(tmp_path)) == ["in.parquet", "out.parquet"]


def test_blocks_that_fit_first_dtype_are_written(tmp_path):
    parts = [np.arange(8.0).reshape(4, 2), np.array([[1, 2]], np.int32), np.ones((3, 2), bool)]
    found, order = shuffled_blocks(tmp_path, parts)
    assert np.array_equal(found, np.concatenate(parts)[order])


@pytest.mark.parametrize("first, later", [
    (np.ones((4, 2), int), np.full((3, 2), .5)), (np.ones((4, 2), "f4"), np.full((3, 2), 1e300)),
    (np.ones((4, 2), np.uint64), np.full((3, 2), -1)), (np.ones((4, 2), bool), np.ones((3, 2)))])
def test_block_that_does_not_fit_first_dtype_is_refused(first, later, tmp_path):
    with pytest.raises(TypeError, match=r"^read\(1, columns\) of Blocks must return numbers that "
                                        f"fit {first.dtype},.*got dtype {later.dtype}"):
        shuffled_blocks(tmp_path, [first, later])
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("block", [0, 1])
@pytest.mark.parametrize("part, error", [
    (np.ma.masked_array(np.ones((4, 2)), np.eye(4, 2)), "must not be masked"),
    (np.ones((3, 2)), r"must return shape \(rows, columns\) = \(4, 2\); got shape \(3, 2\)"),
    (np.ones((5, 2)), r"must return shape .*got shape \(5, 2\)"),
    (np.array([["a", "b"]] * 4), "must")])
def test_result_of_read_is_checked_for_each_block(part, error, block, tmp_path):
    parts = [np.ones((4, 2))] * 2
    parts[block] = part
    blocks = pb.tables.Blocks(lambda block, columns: parts[block], [4, 4], 2)
    with pytest.raises((TypeError, ValueError), match=error):
        shuffle(blocks, tmp_path / "out.parquet", rng=4)
    assert not os.listdir(tmp_path)
