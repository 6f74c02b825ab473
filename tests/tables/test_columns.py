"""Meaning of the columns of a table of scores: models, labels, aggregates, words, orientation."""

import json

import numpy as np
import pytest

import pybandit as pb
from pybandit import cli
from pybandit.errors import UnreadableFileError
from pybandit.tables._frames import scores_of_table
from pybandit.tables._read_scores import Form, read_scores
from pybandit.tables._scores import Options

pandas = pytest.importorskip("pandas")


def read(tmp_path, text, name="scores.csv", form=Form(), **options):  # noqa: B008
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_scores(path, form, Options(**options))


def refused(tmp_path, text, *words, **options):
    with pytest.raises(UnreadableFileError) as caught:
        read(tmp_path, text, **options)
    for word in words:
        assert word in str(caught.value), caught.value


def frame_refused(frame, *words, **options):
    with pytest.raises(ValueError) as caught:
        scores_of_table(frame, Options(**options))
    for word in words:
        assert word in str(caught.value), caught.value


# -- words -----------------------------------------------------------------------


@pytest.mark.parametrize("yes, no", [("True", "False"), ("yes", "no"), ("pass", "fail"),
                                     ("Correct", "INCORRECT"), ("Passed", "failed"), ("Y", "N")])
def test_words_are_scores(tmp_path, yes, no):
    table = read(tmp_path, f"gpt,claude,llama\n{yes},1,0\n{no},0,1\n{yes},0,0\n {yes} ,0,1\n")
    assert table.columns == ["gpt", "claude", "llama"]
    assert table.values.mean(axis=0).tolist() == [0.75, 0.25, 0.5]


def test_best_of_keeps_model_with_word_scores(tmp_path, capsys):
    (tmp_path / "s.csv").write_text(
        "gpt,claude,llama\nTrue,1,0\nFalse,0,1\nTrue,0,0\nTrue,0,1\n")
    assert cli.main(["best-of", str(tmp_path / "s.csv"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["best_name"] == "gpt" and found["n_arms"] == 3 and found["means"][0] == 0.75


@pytest.mark.parametrize("cells, words", [
    (["yes", "True", "no"], ["line 3, column 'b'", "'True'", "one pair"]),
    (["1", "True", "0"], ["line 3, column 'b'", "'True'", "numbers"]),
    (["True", "0.5", "False"], ["line 2, column 'b'", "'True'", "numbers"]),
    (["pass", "no", "fail"], ["line 3, column 'b'", "'no'"]),
    (["83%", "1%", "2%"], ["line 2, column 'b'", "'83%'", "83 or 0.83"]),
    (['"1,234,567"', "1", "2"], ["line 2, column 'b'", "'1,234,567'", "thousands"]),
])
def test_mixed_words_and_odd_numbers_are_refused(tmp_path, cells, words):
    rows = "".join(f"q{i},{i % 2},{cell}\n" for i, cell in enumerate(cells))
    refused(tmp_path, "item,a,b\n" + rows, *words)
    if '"' not in cells[0]:
        frame = pandas.DataFrame({"item": ["q0", "q1", "q2"], "a": [0, 1, 0], "b": cells})
        frame_refused(frame, words[1], "column 'b'")


@pytest.mark.parametrize("cells", [["83%", "70%", "1%"], ["3/4", "1/4", "2/4"], ["-", "x", "+"],
                                   ["<0.1", "0.5", "1"], ["1.234,5", "2", "3"], ["$1", "$2", "$3"]])
def test_first_column_like_numbers_is_refused(tmp_path, cells):
    rows = "".join(f"{cell};{i % 2};1\n" for i, cell in enumerate(cells))
    refused(tmp_path, "gpt;claude;llama\n" + rows, "column 'gpt'", repr(cells[0]))
    frame_refused(pandas.DataFrame({"gpt": cells, "claude": [0, 1, 0], "llama": [1, 1, 0]}),
                  "column 'gpt'", repr(cells[0]))


def test_text_table_is_not_cut_short(tmp_path):
    """Reading stops at text, but text in a column that is left out does not end it."""
    text = "item,a,b,mean\nq1,1,0,?\nq2,0,1,?\nq3,1,1,?\n"
    with pytest.warns(UserWarning, match="columns 'mean' left out"):
        assert read(tmp_path, text).index == ["q1", "q2", "q3"]


# -- labels ------------------------------------------------------------------------


IDS = ["id", "ID", " Index ", "Unnamed: 0", "item", "question_id", "qid", "doc_id", "Sample ID",
       "row", "item-id", "example_idx", "uuid", "name"]


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("place", [0, 2])
def test_identifier_columns_are_labels_for_all_readers(tmp_path, name, place):
    n = 30
    columns = {"a": [30.0, 40.0] * 15, "b": [35.0, 41.0] * 15}
    items = list(columns.items())
    items.insert(place, (name, list(range(100, 100 + n))))
    frame = pandas.DataFrame(dict(items))
    frame.to_csv(tmp_path / "s.csv", index=False)
    tables = [scores_of_table(frame), read_scores(tmp_path / "s.csv")]
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table(dict(items)), tmp_path / "s.parquet")
    tables.append(scores_of_table(arrow.table(dict(items))))
    for table in tables:
        assert table.columns == ["a", "b"]
        assert list(table.index) == [str(label) for label in range(100, 100 + n)]
    options = dict(value_range=(0, 100), rng=1)
    assert pb.best_of(frame, **options).names == ("a", "b")
    assert pb.best_of(tmp_path / "s.parquet", **options).names == ("a", "b")
    pb.tables.shuffle(tmp_path / "s.parquet", tmp_path / "t.parquet", rng=1)
    assert pb.best_of(tmp_path / "t.parquet", **options).names == ("a", "b")


def numbered(name, numbers):
    return {"a": [30.0, 40.0] * 15, name: list(numbers), "b": [35.0, 41.0] * 15}


@pytest.mark.parametrize("numbers", [
    range(30), range(1, 31), range(30, 0, -1), np.random.default_rng(1).permutation(30),
    np.arange(30.0), range(500, 530)])
def test_numbering_columns_are_refused_by_all_readers(tmp_path, numbers):
    columns = numbered("k", numbers)
    frame = pandas.DataFrame(columns)
    frame.to_csv(tmp_path / "s.csv", index=False)
    frame_refused(frame, "column 'k' numbers the items", "columns=", "--drop", "items=")
    with pytest.raises(UnreadableFileError, match="column 'k' numbers the items"):
        read_scores(tmp_path / "s.csv")
    for options in (dict(columns=["a", "b"]), dict(drop=["k"]), dict(items="k")):
        assert scores_of_table(frame, Options(**options)).columns == ["a", "b"]
        assert read_scores(tmp_path / "s.csv", options=Options(**options)).columns == ["a", "b"]
    chosen = pb.best_of(pb.evaluation.read_scores(frame, columns=["b", "k"]),
                        value_range=(0, 600), rng=1)
    assert chosen.names == ("b", "k")
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table(columns), tmp_path / "s.parquet")
    with pytest.raises(ValueError, match="column 'k' numbers the"):
        pb.best_of(tmp_path / "s.parquet", value_range=(0, 600))
    if min(numbers) < 2:
        with pytest.warns(UserWarning, match="columns 'k' are written, but left out"):
            blocks = pb.tables.shuffle(tmp_path / "s.parquet", tmp_path / "t.pq", rng=1)
        assert blocks.names == ("a", "b")
        with pytest.raises(ValueError, match="column 'k' numbers the rows"):
            pb.best_of(tmp_path / "t.pq", value_range=(0, 600))
        found = pb.best_of(pb.evaluation.read_scores(tmp_path / "t.pq", columns=["a", "b"]),
                           value_range=(0, 600), rng=1)
        assert found.names == ("a", "b")


def test_identifier_with_fractions_is_refused(tmp_path):
    refused(tmp_path, "id,a,b\n0.3,1,0\n0.7,0,1\n", "line 2, column 'id'", "0.3", "columns=")


def test_repeated_labels_are_refused_unless_groups(tmp_path):
    text = "doc_id,a,b\n1,1,0\n2,0,1\n2,0,1\n2,0,1\n"
    refused(tmp_path, text, "item '2' twice", "lines 3 and 4", "--groups")
    assert read(tmp_path, text, repeated=True).index == ["1", "2", "2", "2"]
    frame = pandas.DataFrame({"a": [1, 0, 0], "b": [0, 1, 1]}, index=["q1", "q2", "q2"])
    with pytest.raises(ValueError, match="item 'q2' twice, in rows 1 and 2"):
        pb.best_of(frame, value_range=(0, 1))
    weights = pb.evaluation.group_weights(pandas.Series(["x", "y", "y"], index=frame.index))
    weighted = pb.best_of(frame, value_range=(0, 1), items=pb.Items(weights=weights), rng=1)
    assert weighted.n_items == 3


@pytest.mark.parametrize("label", ["mean", "Average", "TOTAL", "Grand Total", "overall"])
def test_aggregates_are_left_out_with_a_warning(tmp_path, label):
    text = f"item,a,b,{label}\nq1,1,0,.5\nq2,0,1,.5\n{label},.5,.5,.5\n"
    with pytest.warns(UserWarning) as caught:
        table = read(tmp_path, text)
    assert table.columns == ["a", "b"] and table.index == ["q1", "q2"]
    assert {str(one.message).split(" left out")[0] for one in caught} == {
        f"columns {label!r}", f"rows {label!r}"}
    frame = pandas.DataFrame({"a": [1, 0, .5], "b": [0, 1, .5], label: [.5, .5, .5]},
                             index=["q1", "q2", label])
    with pytest.warns(UserWarning, match="left out"):
        assert scores_of_table(frame).values.tolist() == [[1, 0], [0, 1]]


# -- orientation ---------------------------------------------------------------------


ROWS = "Model,q1,q2,q3,q4\nA,1,0,1,1\nB,0,0,1,0\n"


@pytest.mark.parametrize("head", ["model", "Model", "system", "Model Name", "name of models"])
def test_models_in_rows_need_an_option(tmp_path, head):
    text = ROWS.replace("Model", head)
    refused(tmp_path, text, 'models="rows"', "--models rows", repr(head))
    table = read(tmp_path, text, models="rows")
    assert table.columns == ["A", "B"] and table.index == ["q1", "q2", "q3", "q4"]
    assert table.values.tolist() == [[1, 0], [0, 0], [1, 1], [1, 0]]
    path = tmp_path / "scores.csv"
    assert pb.best_of(path, models="rows", value_range=(0, 1), rng=1).best_name == "A"
    frame = pandas.read_csv(path)
    frame_refused(frame, 'models="rows"')
    frame_refused(frame.set_index(head), 'models="rows"', repr(head))
    for one in (frame, frame.set_index(head)):
        assert scores_of_table(one, Options(models="rows")).values.tolist() == table.values.tolist()
    arrow = pytest.importorskip("pyarrow")
    frame_refused(arrow.Table.from_pandas(frame), 'models="rows"')


def test_average_of_leaderboard_is_left_out(tmp_path):
    text = "Model,Average,ARC,MMLU\nA,.5,.4,.6\nB,.4,.5,.3\n"
    refused(tmp_path, text, 'models="rows"')
    with pytest.warns(UserWarning, match="columns 'Average' left out"):
        table = read(tmp_path, text, models="rows")
    assert table.columns == ["A", "B"] and table.index == ["ARC", "MMLU"]
    assert table.values.tolist() == [[.4, .5], [.6, .3]]


def test_dimensions_of_xarray_are_read_by_name():
    xarray = pytest.importorskip("xarray")
    values = np.array([[1, 0], [1, 1], [0, 0.5]])
    array = xarray.DataArray(values, dims=("item", "model"),
                             coords={"item": ["q1", "q2", "q3"], "model": ["A", "B"]})
    table = scores_of_table(array)
    assert table.columns == ["A", "B"] and table.index == ["q1", "q2", "q3"]
    found = pb.best_of(array, value_range=(0, 1), rng=1)
    assert found.names == ("A", "B")
    frame_refused(array.T, 'models="rows"', "'model'")
    table = scores_of_table(array.T, Options(models="rows"))
    assert table.columns == ["A", "B"] and np.array_equal(table.values, values)
    bare = xarray.DataArray(values, dims=("item", "model"))
    assert pb.best_of(bare, value_range=(0, 1), rng=1).names == ("0", "1")
    frame_refused(xarray.DataArray(values.T, dims=("model", "item")), 'models="rows"')


# -- columns that are not scores ---------------------------------------------------------


@pytest.mark.parametrize("name, values", [
    ("n_tokens", [512] * 5), ("n_tokens", [512, 730, 90, 441, 2000]), ("level", [1] * 5),
    ("level", [1, 3, 2, 5, 4.5]), ("temperature", [0.7] * 5)])
def test_unusual_columns_cause_warning(tmp_path, name, values):
    frame = pandas.DataFrame({"a": [1, 0, 1, 1, 0], "b": [0.5, 0, 1, 0, 0.2], name: values})
    frame.to_csv(tmp_path / "s.csv", index=False)
    for call in (lambda: scores_of_table(frame), lambda: read_scores(tmp_path / "s.csv")):
        with pytest.warns(UserWarning, match=rf"column '{name}' is .*--columns.*--drop"):
            call()
    assert scores_of_table(frame, Options(columns=["a", "b"])).columns == ["a", "b"]


def test_warnings_point_to_the_call():
    frame = pandas.DataFrame({"a": [1, 0, 1], "b": [0.5, 0, 1], "level": [1, 1, 1]})
    with pytest.warns(UserWarning, match="'level'") as caught:
        pb.best_of(frame, value_range=(0, 1), rng=1)
    assert caught[0].filename == __file__


def test_command_line_options_select_columns(tmp_path, capsys):
    path = tmp_path / "s.csv"
    path.write_text("key,a,b,text,n_tokens\nq1,1,0,x,80\nq2,1,0,y,90\nq3,0,1,z,99\n")

    def names(*options):
        status = cli.main(["best-of", str(path), "--json", *options])
        out, err = capsys.readouterr()
        return (json.loads(out)["names"] if status == 0 else status), err

    found, error = names()
    assert found == 2 and "column 'text': 'x' is not a number" in error and "--drop" in error
    found, error = names("--drop", "text", "--value-range", "0", "100")
    assert found == ["a", "b", "n_tokens"]
    assert error.startswith("pybandit best-of: warning: column 'n_tokens' is in [80, 99]")
    assert names("--drop", "text,n_tokens") == (["a", "b"], "")
    assert names("--columns", "b,a") == (["b", "a"], "")
    found, error = names("--columns", "a,c")
    assert found == 2 and "got 'c': they are 'key', 'a', 'b', 'text', 'n_tokens'" in error
    path.write_text(ROWS)
    assert names()[0] == 2 and names("--models", "rows") == (["A", "B"], "")


# -- names -----------------------------------------------------------------------------------


def test_columns_of_one_name_are_refused():
    frame_refused(pandas.DataFrame(np.eye(3), columns=["a", "a", "b"]), "must differ", "'a'")


def test_inapplicable_table_options_are_refused(tmp_path):
    frame = pandas.DataFrame({"a": [1, 0], "b": [0, 1]})
    options = dict(value_range=(0, 1), rng=1)
    with pytest.raises(ValueError, match="models must be one of 'rows', 'columns'; got 'sideways'"):
        pb.best_of(frame, models="sideways", **options)
    with pytest.raises(ValueError, match="items must name columns of the table; got 'qid'"):
        pb.best_of(frame, items="qid", **options)
    with pytest.raises(TypeError, match="source must be a path, a list of paths or a table"):
        pb.evaluation.read_scores(lambda model, items: items, columns=["a"])
    assert pb.best_of(pb.evaluation.read_scores(np.eye(4), columns=[3, 1]), **options).n_arms == 2
    assert pb.best_of(np.ones((2, 5)), models="rows", **options).n_items == 5
    with pytest.raises(ValueError, match="items must be left out for a table without names"):
        pb.best_of(np.eye(4), items="a", **options)


def test_blocks_refuse_names_of_labels():
    values = np.random.default_rng(1).random((10, 3))
    blocks = pb.tables.Blocks(lambda block, columns: values[:, columns], [10], 3, shuffled=True,
                              names=["id", "a", "b"])
    with pytest.raises(ValueError, match="got a column 'id'"):
        pb.best_of(blocks, value_range=(0, 1))


# -- files from other sources ------------------------------------------------------------------


@pytest.mark.parametrize("head", ["name,q1,q2,q3", ",q1,q2,q3", "task,Question 1,Question 2,q3",
                                  "Name,ARC (25-shot),MMLU,HellaSwag"])
def test_columns_named_as_items_are_refused(tmp_path, head):
    text = f"{head}\ngpt,1,0,1\nclaude,1,1,1\n"
    refused(tmp_path, text, "are named as items", "--models rows", "--models columns")
    assert read(tmp_path, text, models="columns").columns == head.split(",")[1:]
    frame = pandas.read_csv(tmp_path / "scores.csv")
    frame_refused(frame, "are named as items")
    frame_refused(frame.set_index(frame.columns[0]), "are named as items")
    chosen = frame.columns[1:].tolist()
    assert scores_of_table(frame, Options(columns=chosen)).columns == chosen


@pytest.mark.parametrize("head", ["Modell", "modèle", "Classifier", "Model:", "LLM"])
def test_models_of_other_languages_are_recognised(tmp_path, head):
    refused(tmp_path, f"{head},a,b\ngpt,1,0\nclaude,1,1\n", "has names of models")


@pytest.mark.parametrize("label", ["Moyenne", "Mittelwert", " MEAN: ", "Average ⬆️", "Mean (%)",
                                   "promedio", "平均"])
def test_aggregates_of_other_languages_are_left_out(tmp_path, label):
    with pytest.warns(UserWarning, match="left out"):
        table = read(tmp_path, f"item,a,b,{label}\nq1,1,0,.5\nq2,1,0,.5\n{label},1,0,.5\n")
    assert table.index == ["q1", "q2"] and table.columns == ["a", "b"]


@pytest.mark.parametrize("name", ["latency", "Cost", "weight", "difficulty", "n_words",
                                  "output_tokens", "time_ms"])
def test_measurement_columns_cause_warning(tmp_path, name):
    with pytest.warns(UserWarning, match=f"column '{name}' is named as a measurement"):
        read(tmp_path, f"item,a,b,{name}\nq1,1,0,.4\nq2,0,1,.3\nq3,1,0,.9\n")


def test_increasing_integers_cause_warning(tmp_path):
    numbers = [i for i in range(40) if i % 7]
    lines = [f"{k},{k % 2 * 10},{k % 3 * 10}" for k in numbers]
    with pytest.warns(UserWarning, match="column 'k' has whole numbers that grow"):
        read(tmp_path, "\n".join(["k,a,b", *lines]))


@pytest.mark.parametrize("kind, last", [("sum", "60,90"), ("mean", "20,30")])
def test_last_row_of_sums_or_means_causes_warning(tmp_path, kind, last):
    with pytest.warns(UserWarning, match=f"the last row is the {kind} of the others"):
        read(tmp_path, f"a,b\n30,10\n20,30\n10,50\n{last}\n")


def test_empty_label_is_refused(tmp_path):
    refused(tmp_path, "item,a,b\nq1,1,0\nq2,0,1\n,1,1\n", "labels must not be empty", "line 4")


def test_unnamed_numbering_column_is_refused(tmp_path):
    refused(tmp_path, "1,1,0\n2,1,0\n3,1,0\n", "the first column numbers the items")
