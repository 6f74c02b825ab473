"""Twelve typical files of users, each processed up to the answer and the report."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import pybandit as pb
from pybandit import cli

from cli import webtest_commands as webtest
from cli.screen_commands import ok, refused, rows_of

pytestmark = pytest.mark.usefixtures("folder")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def best_of(capsys, *arguments):
    """Return the answer and the warnings of `best-of`, which reads nearly every score."""
    status = cli.main(["best-of", *arguments, "--delta", "1e-9", "--json"])
    out, err = capsys.readouterr()
    assert status == 0, err
    return json.loads(out), err


def refused_best_of(capsys, *arguments):
    assert cli.main(["best-of", *arguments]) == 2
    return capsys.readouterr().err


def check_means(found, values, within=1e-9):
    """Compare an answer with the means of `values`, a dict of scores by model."""
    means = {name: np.mean(scores) for name, scores in values.items()}
    assert found["best_name"] == max(means, key=means.get)
    assert dict(zip(found["names"], found["means"], strict=True)) == pytest.approx(
        means, abs=within)


# -- tables of scores ------------------------------------------------------------------


def test_words_as_scores_with_an_id_column(capsys):
    rng = np.random.default_rng(7)
    models = {name: rng.random(60) < p for name, p in
              (("gpt-x", .55), ("claude-y", .8), ("llama z", .6))}
    lines = [f"{1000 + i},{x},{y},{str(z).upper()}" for i, (x, y, z) in
             enumerate(zip(*models.values(), strict=True))]
    Path("words.csv").write_text("\n".join(["id," + ",".join(models), *lines]))
    found = best_of(capsys, "words.csv")[0]
    check_means(found, models, 0.02)
    assert found["n_items"] == 60 and found["item_labels"][0].startswith("10")


def test_a_leaderboard_with_models_in_rows(capsys):
    Path("board.csv").write_text(
        "Model,Average ⬆️,ARC,HellaSwag,MMLU,TruthfulQA\nMistral-7B,65.0,60.0,80.0,64.0,56.0\n"
        "Qwen-7B,66.5,58.0,82.0,70.0,56.0\nLlama-3-8B,64.25,62.0,81.0,66.0,48.0\n",
        encoding="utf-8")
    percent = "--value-range", "0", "100"
    assert "--models rows" in refused_best_of(capsys, "board.csv", *percent)
    found, said = best_of(capsys, "board.csv", *percent, "--models", "rows")
    check_means(found, {"Mistral-7B": 65.0, "Qwen-7B": 66.5, "Llama-3-8B": 64.25})
    assert found["n_items"] == 4 and "'Average ⬆️' left out" in said


def test_a_long_table_with_epochs_and_decimal_commas(capsys):
    rng, models, lines = np.random.default_rng(7), {}, []
    for model, p in (("alpha", .4), ("beta", .6), ("gamma", .5)):
        models[model] = rng.normal(p, .2, (12, 3)).clip(0, 1).round(2)
        lines += [f"{model};{item:02d};{epoch};{str(score).replace('.', ',')}"
                  for (item, epoch), score in np.ndenumerate(models[model])]
    Path("long.csv").write_text("\r\n".join(["model;question_id;epoch;score", *lines]),
                                encoding="utf-8-sig")
    found = best_of(capsys, "long.csv")[0]
    check_means(found, models)
    assert found["n_items"] == 12


def test_packed_json_lines(capsys):
    rng = np.random.default_rng(7)
    models = {"m1": rng.random(30) < .5, "m2": rng.random(30) < .8}
    with gzip.open("runs.jsonl.gz", "wt") as file:
        for model in models:
            for item in rng.permutation(30).tolist():
                print(json.dumps({"model": model, "prompt": f"Question, {item}?", "passed":
                                  bool(models[model][item]), "latency_ms": item * 7}), file=file)
    found = best_of(capsys, "runs.jsonl.gz")[0]
    check_means(found, models, 0.02)
    assert found["n_items"] == 30


def test_a_workbook_of_ratings(capsys):
    openpyxl, rng = pytest.importorskip("openpyxl"), np.random.default_rng(7)
    models = {f"Team {name}": rng.integers(low, 6, 20) for name, low in zip("ABC", (1, 3, 1),
                                                                            strict=True)}
    book = openpyxl.Workbook()
    book.active.title = "About"
    book.active.append(["ratings by the panel, 1 to 5"])
    sheet = book.create_sheet("Ratings")
    sheet.append(["Question", *models])
    for item, row in enumerate(zip(*models.values(), strict=True)):
        sheet.append([f"Q{item}", *map(int, row)])
    book.save("ratings.xlsx")
    scale = "--value-range", "1", "5"
    assert "--sheet" in refused_best_of(capsys, "ratings.xlsx", *scale)
    check_means(best_of(capsys, "ratings.xlsx", *scale, "--sheet", "Ratings")[0], models)


def test_a_frame_with_labels_that_occur_twice():
    pandas, rng = pytest.importorskip("pandas"), np.random.default_rng(3)
    frame = pandas.DataFrame({"A": rng.random(12) * .5, "B": rng.random(12)},
                             index=[*(f"t{i}" for i in range(10)), "t3", "t7"])
    with pytest.raises(ValueError, match="item 't3' twice, in rows 3 and 10.*weights="):
        pb.best_of(frame, value_range=(0, 1))
    found = pb.best_of(frame, value_range=(0, 1), delta=1e-9, rng=1,
                       items=pb.Items(weights=pb.evaluation.group_weights(frame.index.to_series())))
    assert found.best_name == "B" and np.allclose(
        found.means, frame.groupby(level=0).mean().mean())


# -- files of laboratories ----------------------------------------------------------------


def screen(capsys, n, plate, *options):
    """Start a screen of n compounds, and return the arms of its first plate by well."""
    Path("library.csv").write_text("\n".join(["compound", *(f"CPD-{i}" for i in range(n))]))
    ok(capsys, "new", "study.db", "--policy", "batch-screening", "--arms", "library.csv",
       "--k", "3", "--batches", "3", "--plate", plate, *options)
    ok(capsys, "next", "-o", "plate.csv")
    return {row[1]: row[2] for row in rows_of("plate.csv")[1:] if row[2] != "control"}


def check_wells(capsys, compounds, readings, reward=lambda reading: reading):
    """Compare export, status and report with readings by well, without lost wells."""
    ok(capsys, "export", "wells.csv")
    rows = [dict(zip(rows_of("wells.csv")[0], row, strict=True)) for row in
            rows_of("wells.csv")[1:]]
    known = {row["well"]: float(row["value"]) for row in rows if row["value"]}
    assert known == readings
    assert {row["well"]: row["arm"] for row in rows if row["arm"] != "control"} == compounds
    assert "already known" in ok(capsys, "record", "wells.csv", "--lost")
    rewards = {compounds[well]: reward(value) for well, value in readings.items()
               if well in compounds}
    best = sorted(rewards, key=rewards.get, reverse=True)[:3]
    with pb.Study.open("study.db") as study:
        assert study.recommend().best_names == best
    ok(capsys, "report", "-o", "report.html")
    assert best[0] in Path("report.html").read_text()


def test_a_grid_of_a_reader_with_title_and_footer(capsys):
    compounds = screen(capsys, 88, "8x12", "--controls", "col:12", "--normalise")
    values = np.random.default_rng(1).integers(500, 4000, (8, 12))
    Path("reader.txt").write_text("\r\n".join([
        "Reader 2.0.10.0\tSerial number: 18120", "Date:\t25.11.2026", "Gain\t85\tManual", "",
        "Plate 17 (cells, dye 2)", "<>\t" + "\t".join(map(str, range(1, 13))),
        *("\t".join([LETTERS[i], *map(str, row)]) for i, row in enumerate(values.tolist())),
        "", "Temperature: 24.3 °C", "End Time:\t25.11.2026 10:14:02"]), encoding="utf-16")
    assert "or give --plate" in refused(capsys, "record", "reader.txt")
    assert "plate 0: 88 new" in ok(capsys, "record", "reader.txt", "--plate", "0")
    readings = {f"{LETTERS[i]}{j + 1}": float(value) for (i, j), value in np.ndenumerate(values)}
    control = values[:, 11].mean()
    check_wells(capsys, compounds, readings, lambda reading: reading / control)


@pytest.mark.parametrize("late", ["AA AB AC AD AE AF", "Aa Ab Ac Ad Ae Af", "a b c d e f"])
def test_a_list_of_1536_wells(capsys, late):
    compounds = screen(capsys, 1536, "1536", "--flip")
    values = np.random.default_rng(2).normal(100, 20, (32, 48)).round(2)
    rows = [*LETTERS, *late.split()]
    lines = [f"P00017;{rows[i]}{j + 1:02d};{value}".replace(".", ",")
             for (j, i), value in np.ndenumerate(values.T)]
    Path("list.csv").write_text("\n".join(["Barcode;Well;Signal [RFU]", *lines]))
    options = "--plate", "0", "--value-column", "Signal [RFU]"
    assert "--decimal , reads it" in refused(capsys, "record", "list.csv", *options)
    assert "1,536 new" in ok(capsys, "record", "list.csv", *options, "--decimal", ",")
    rows[26:] = ["AA", "AB", "AC", "AD", "AE", "AF"]
    readings = {f"{rows[i]}{j + 1}": value for (i, j), value in np.ndenumerate(values)}
    check_wells(capsys, compounds, readings, lambda reading: -reading)


def test_a_list_with_markers_and_a_second_barcode(capsys):
    compounds = screen(capsys, 96, "8x12")
    cells = dict(zip(compounds, map(str, np.random.default_rng(5).uniform(.05, 3.9, 96).round(3)),
                     strict=True))
    cells |= {"A6": "OVRFLW", "A10": ">4.000", "B9": "<LOD"}
    lines = [f"BC0091,{well},{compounds[well]},{cell},{'BC0092' if well > 'G' else 'BC0091'}"
             for well, cell in cells.items()]
    Path("od.csv").write_text("\n".join(["Plate ID,Well Position,Sample,OD450,Second Barcode",
                                         *lines]))
    assert "--well-column" in refused(capsys, "record", "od.csv", "--plate", "0")
    options = ("--plate", "0", "--well-column", "Well Position", "--arm-column", "Sample",
               "--value-column", "OD450")
    assert "'OVRFLW'" in refused(capsys, "record", "od.csv", *options)
    assert "'BC0091' and 'BC0092'" in refused(
        capsys, "record", "od.csv", *options, "--plate-column", "Second Barcode", "--lost")
    said = ok(capsys, "record", "od.csv", *options, "--lost", "--take-limits")
    assert "94 new, 2 lost" in said and "OVRFLW 1" in said and "at a limit: >4.000 1" in said
    readings = {well: float(cell.strip(">")) for well, cell in cells.items()
                if cell not in ("OVRFLW", "<LOD")}
    check_wells(capsys, compounds, readings)


# -- exports of web tests -------------------------------------------------------------------

RATES = {"Original": .04, "Variant A": .05, "Variant B": .044}
DAYS = [str(day) for day in np.arange("2026-10-28", "2026-11-11", dtype="datetime64[D]")]


def history():
    """Return users and conversions by day and variant."""
    rng, days = np.random.default_rng(11), {}
    for day in DAYS:
        for variant, rate in RATES.items():
            users = int(rng.binomial(6000, 1 / 3))
            days[day, variant] = users, int(rng.binomial(users, rate))
    return days


def export(path, days):
    lines = [f"{day},{variant},{users},{orders},{orders * 39.9:.2f}"
             for (day, variant), (users, orders) in days.items()]
    users, orders = np.sum(list(days.values()), axis=0)
    Path(path).write_text("\n".join([
        "# -----", "# Landing page test", "# -----", "day,variant,users,conversions,revenue",
        *lines, f",Grand total,{users},{orders},{orders * 39.9:.2f}"]))
    return path


def check_counts(capsys, days, winner):
    """Compare all counts with those by day and variant, and the answer with the winner."""
    rows = webtest.as_json(capsys, "counts")["counts"]
    assert {(row["key"], row["name"]): (row["trials"], row["sum"]) for row in rows} == days
    with pb.webtests.WebTest.open("study.db") as study:
        assert study.status().done and study.recommend().best_names == [winner]
    webtest.ok(capsys, "verify")
    webtest.ok(capsys, "report", "-o", "report.html")
    assert winner in Path("report.html").read_text()


def new_test(capsys):
    webtest.ok(capsys, "new", "--arms", ",".join(RATES))


def test_an_export_by_day_and_the_same_with_two_revised_days(capsys):
    new_test(capsys)
    days = history()
    first = export("export.csv", {at: row for at, row in days.items() if at[0] < "2026-11-09"})
    said = webtest.refused(capsys, "counts", first)
    assert "line 41, column 2: 'Grand total' is a row of totals" in said
    skip = "--skip", "Grand total"
    assert "12 new, 0 already known" in webtest.ok(capsys, "counts", first, *skip)
    days |= {at: (users - 17, orders - 1) for at, (users, orders) in days.items()
             if at[0] in DAYS[3:5]}
    again = export("export (1).csv", days)
    assert "--revised REASON amends them" in webtest.refused(capsys, "counts", again, *skip)
    said = webtest.ok(capsys, "counts", again, *skip, "--revised", "late refunds")
    assert "2026-11-01: Variant B" in said and "2 new, 10 already known, 2 amended" in said
    check_counts(capsys, days, "Variant A")


def test_an_export_of_running_totals(capsys):
    new_test(capsys)
    days, totals, lines = history(), dict.fromkeys(RATES, (0, 0)), []
    for (day, variant), row in days.items():
        totals[variant] = tuple(np.add(totals[variant], row).tolist())
        users, orders = (f"{one:,}".replace(",", ".") for one in totals[variant])
        lines.append(f"{day[8:]}.{day[5:7]}.{day[:4]};{variant};{users};{orders}")
    Path("totals.csv").write_text("\n".join(["Date;Variation;Visitors;Orders", *lines]))
    assert "pass --decimal , --thousands ." in webtest.refused(capsys, "counts", "totals.csv")
    assert "14 new" in webtest.ok(capsys, "counts", "totals.csv", "--decimal", ",",
                                  "--thousands", ".", "--cumulative")
    check_counts(capsys, days, "Variant A")
