"""All readers give the same scores, or the same refusal, for the same table."""

import io
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pybandit.evaluation._opened import opened
from pybandit.tables._frames import scores_of_table
from pybandit.tables._scores import Options

pandas = pytest.importorskip("pandas")
arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

NAMES = ["gpt", "claude", "llama 3", "id", "item", "model", "k", "mean", "Average", "n_tokens"]


def numbers(n):
    return st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, None]), min_size=n, max_size=n)


def columns_of(n):
    return st.one_of(
        numbers(n), st.permutations(range(n)), st.just(list(range(1, n + 1))),
        st.lists(st.sampled_from([True, False]), min_size=n, max_size=n),
        st.lists(st.sampled_from(["yes", "no"]), min_size=n, max_size=n),
        st.lists(st.sampled_from(["pass", "no"]), min_size=n, max_size=n),
        st.permutations([f"q{i}" for i in range(n)]), st.just(["q1"] * n), st.just([7] * n),
        st.just([f"q{i}" for i in range(n - 1)] + ["total"]))


@st.composite
def tables(draw):
    n = draw(st.integers(3, 12))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=5, unique=True))
    table = {name: draw(columns_of(n)) for name in names}
    assume(any(cells[-1] is not None for cells in table.values()))  # blank last lines are no items
    return table


def outcome(call):
    """Return the scores as lists and the warnings, or the refusal without its place."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            table = call()
        except ValueError as error:
            return kind_of(str(error)), None
    values = [[None if cell != cell else float(cell) for cell in row]
              for row in np.asarray(table.values).tolist()]
    return ([str(name) for name in table.columns], [str(label) for label in table.index],
            values), sorted(str(one.message) for one in caught)


REFUSALS = ["numbers the items", "has names of models", "is not a number", "stands in a column",
            "twice, in", "is not a label", "at least 2 models", "second score",
            "must not be empty", "one column of"]


def kind_of(message):
    return next((one for one in REFUSALS if one in message), message)


def doors(table, folder):
    frame = pandas.DataFrame(table)
    yield "pandas", lambda: scores_of_table(frame)
    yield "object", lambda: scores_of_table(frame.astype(object))
    yield "nullable", lambda: scores_of_table(frame.convert_dtypes())
    yield "categories", lambda: scores_of_table(frame.astype("category"))
    yield "Arrow", lambda: scores_of_table(arrow.table(table))
    parquet.write_table(arrow.table(table), folder / "t.parquet")
    yield "Parquet", lambda: opened(folder / "t.parquet")
    text = io.StringIO()
    frame.to_csv(text, index=False)
    for name, content in (("t.csv", text.getvalue().encode()),
                          ("u.csv", text.getvalue().replace(",", ";").encode("utf-16"))):
        (folder / name).write_bytes(content)
        yield name, lambda name=name: opened(folder / name)
    lines = frame.astype(object).where(frame.notna(), None).to_json(orient="records", lines=True)
    (folder / "t.jsonl").write_text(lines)
    yield "JSON", lambda: opened(folder / "t.jsonl")
    try:
        import polars
    except ImportError:
        return
    yield "polars", lambda: scores_of_table(polars.DataFrame(table))


@settings(max_examples=40, deadline=None, derandomize=True,
          suppress_health_check=list(HealthCheck))
@given(tables())
def test_all_readers_give_same_scores_or_refusal(tmp_path, table):
    found = {name: outcome(call) for name, call in doors(table, tmp_path)}
    expected = found["pandas"]
    for name, one in found.items():
        assert one == expected, (name, one, expected, table)


def test_shuffled_file_has_columns_of_its_table(tmp_path):
    from pybandit.tables import shuffle

    rng = np.random.default_rng(1)
    table = {"question_id": [f"q{i}" for i in range(500)], "a": rng.random(500),
             "b": rng.random(500), "mean": rng.random(500)}
    parquet.write_table(arrow.table(table), tmp_path / "s.parquet")
    with pytest.warns(UserWarning, match="columns 'mean' left out"):
        plain = opened(tmp_path / "s.parquet")
    with pytest.warns(UserWarning, match="columns 'mean' left out"):
        shuffle(tmp_path / "s.parquet", tmp_path / "t.parquet", rng=1)
    with pytest.warns(UserWarning, match="columns 'mean' left out"):
        blocks = opened(tmp_path / "t.parquet")
    assert list(blocks.names) == plain.columns == ["a", "b"]
    chosen = opened(tmp_path / "t.parquet", Options(columns=["a", "mean"]))
    assert list(chosen.names) == ["a", "mean"]
