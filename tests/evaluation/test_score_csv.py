"""CSV files of scores: the line with model names, and the column with item labels."""

import numpy as np
import pytest

import pybandit as pb
from pybandit.errors import UnreadableFileError
from pybandit.tables._read_scores import read_scores

SCORES = np.random.default_rng(1).normal([20.0, 30.0, 40.0], 5.0, (40, 3)).clip(0, 100)


def written(tmp_path, text):
    path = tmp_path / "scores.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize("index", [None, [f"q{i}" for i in range(40)], range(100, 140),
                                   np.random.default_rng(2).permutation(40)])
@pytest.mark.parametrize("columns", [None, [2019, 2020, 2021], list("abc")])
def test_csv_written_by_pandas_is_read(tmp_path, index, columns):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(SCORES, index=index, columns=columns)
    path = tmp_path / "scores.csv"
    frame.to_csv(path)
    if columns == [2019, 2020, 2021] and index is not None and not isinstance(index, list):
        with pytest.raises(UnreadableFileError, match="header or an item"):
            read_scores(path)
        return
    read = read_scores(path)
    assert np.array_equal(read.values, SCORES)
    assert list(read.columns) == [str(name) for name in frame.columns]
    assert list(read.index) == [str(label) for label in frame.index]
    found = pb.best_of(str(path), value_range=(0, 100), rng=1)
    assert found.n_arms == 3 and found.name(found.best) == str(frame.columns[2])


@pytest.mark.parametrize("head", ["id", "Item", "index", "question_id", "task id", "Unnamed: 0"])
def test_first_column_with_label_header_is_labels(tmp_path, head):
    rows = "".join(f"{80 + i},{i % 2},{i % 3 / 2},{i // 5 / 2}\n" for i in range(9))
    read = read_scores(written(tmp_path, f"{head},a,b,c\n{rows}"))
    assert read.columns == list("abc") and read.index == [str(80 + i) for i in range(9)]


@pytest.mark.parametrize("text, words", [
    ("0,1,2\n" + "0.1,0.5,0.7\n" * 9, ["header or an item", "'0', '1', '2'", "names"]),
    ("number,a,b\n" + "".join(f"{i},0.5,0.7\n" for i in range(9)), ["'number'", "'item'"]),
    ("number,a,b\n" + "".join(f"{i},0.5,0.7\n" for i in range(1, 9)), ["'number'", "'item'"]),
    ("number,a,b\n" + "".join(f"{7 * i % 20},0.5,1\n" for i in range(20)), ["'number'", "'item'"]),
    (",0.5,0.7\n" + "0.3,0.5,0.7\n" * 3, ["header or an item", "names"]),
    ("q1,0,1\n" + "q2,0.5,0.7\n" * 3, ["header or an item", "'item'"]),
    # scores of 0 and 1, of which the first is missing
    (",0,1\n1,1,0\n0,1,1\n1,0,1\n1,1,1\n", ["header or an item", "names"]),
    (",0,1\n1,1,0\n0,1,1\n", ["header or an item", "names"]),
    ("".join(f"{7 * i % 20},0.5,1\n" for i in range(20)), ["the first column", "'item'"]),
])
def test_ambiguous_first_column_is_refused(tmp_path, text, words):
    with pytest.raises(UnreadableFileError) as caught:
        read_scores(written(tmp_path, text))
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("text, n_models, n_items", [
    ("0,1\n1,0\n0,0\n", 2, 3), ("0,1,1\n1,0,0\n", 3, 2), ("a,b\n0,1\n1,0\n", 2, 2),
    ("a,b\n3,1\n1,0\n2,2\n", 2, 3), (",1,0\n1,0,1\n,1,1\n", 3, 3)])
def test_first_column_is_read_as_labels_or_scores(tmp_path, text, n_models, n_items):
    assert read_scores(written(tmp_path, text)).values.shape == (n_items, n_models)
