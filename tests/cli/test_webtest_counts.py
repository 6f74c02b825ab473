"""pybandit webtest counts: files of analytics programs, corrections, running totals."""

import json
from pathlib import Path

import numpy as np
import pytest

import pybandit as pb
from pybandit.cli import main
from pybandit.lab import Dialect
from pybandit.webtests._count_file import read_counts

from cli.webtest_commands import as_json, ok, refused

pytestmark = pytest.mark.usefixtures("folder")
GA4 = """\
# ----------------------------------------
# Free form 1
# Shop - GA4
# 20250101-20250131
# ----------------------------------------

Variant,Total users,Key events,
home,1660,83
price,1655,97
{}
# End
"""


def new(capsys, *options, arms="home,price"):
    ok(capsys, "new", "--arms", arms, *options)


def put(text, name="day.csv", encoding="utf-8"):
    Path(name).write_text(text, encoding=encoding)
    return name


def recorded(capsys):
    return [(row["key"], row["name"], row["trials"], row["sum"])
            for row in as_json(capsys, "counts")["counts"]]


def warned(capsys, *words):
    """Return the stderr of a command that succeeds."""
    assert main(["webtest", *map(str, words)]) == 0
    return capsys.readouterr().err


@pytest.mark.parametrize("head", [
    "variant,users,conversions", "Variation,Visitors,Orders", "group,sessions,successes",
    "Variant name,exposures,Purchases", "experiment_variant,total_users,key_events",
    "page,VISITS,Sign-ups", "bucket,Active users,transactions"])
def test_names_of_columns_are_recognised(head, capsys):
    new(capsys)
    ok(capsys, "counts", put(f"{head}\nprice,1655,97\nhome,1660,83\n"))
    assert recorded(capsys) == [("day.csv", "home", 1660, 83), ("day.csv", "price", 1655, 97)]


def test_columns_may_be_named_in_python():
    path = put("cell,seen,bought,spent,when,users\nhome,9,3,12.5,2025-01-03,1\n")
    columns = {"arm": "Cell", "trials": "seen", "key": "when"}
    dialect = Dialect(columns=columns | {"sum": "bought"})
    assert read_counts(path, dialect=dialect) == {"2025-01-03": {"home": (9, 3)}}
    dialect = Dialect(columns=columns | {"sum": "spent"})
    assert read_counts(path, dialect=dialect, value_range=(0, 30)) == {
        "2025-01-03": {"home": (9, 12.5)}}


def test_columns_may_be_named_by_options(capsys):
    new(capsys)
    path = put("cell,seen,bought\nhome,1660,83\nprice,1655,97\n")
    assert "no column 'arm'" in refused(capsys, "counts", path)
    assert "--arm-column" in refused(capsys, "counts", path)
    columns = ["--arm-column", "cell", "--trials-column", "seen", "--sum-column", "bought"]
    ok(capsys, "counts", path, *columns)
    assert len(recorded(capsys)) == 2
    assert "no column 'gone'" in refused(capsys, "counts", path, *columns[:-1], "gone")
    two = put("arm,users,sessions,orders\nhome,9,9,3\n")
    error = refused(capsys, "counts", two)
    assert "'sessions' and 'users' are both the trials" in error and "--trials-column" in error
    ok(capsys, "counts", two, "--trials-column", "users", "--key", "b")


def test_revenue_is_read_by_tests_of_values(capsys):
    text = "arm,users,orders,revenue\nhome,100,4,120.5\nprice,101,5,133\n"
    path = put(text)
    assert read_counts(path)["day.csv"]["home"] == (100, 4)
    assert read_counts(path, value_range=(0, 60))["day.csv"]["home"] == (100, 120.5)
    assert read_counts(put("arm,users,revenue,orders\nhome,100,120.5,4\n"))["day.csv"] == {
        "home": (100, 4)}


def test_revenue_alone_is_rejected_by_tests_of_successes(capsys):
    path = put("arm,users,revenue\nhome,1000,500.5\nprice,1010,610\n")
    with pytest.raises(ValueError, match="line 1, column 3: 'revenue' has amounts.*--values LOW"):
        read_counts(path)
    new(capsys)
    assert "'revenue' has amounts" in refused(capsys, "counts", path)
    assert "1 new" in ok(capsys, "counts", path, "--sum-column", "revenue")


def test_squares_are_read(capsys):
    new(capsys, "--values", 0, 30)
    path = put("arm,users,sum,squares\nhome,100,300.5,1200.25\nprice,101,320,1300\n")
    ok(capsys, "counts", path)
    assert ok(capsys, "counts").splitlines()[:2][0] == "key,arm,trials,sum,squares,who"
    assert as_json(capsys, "counts")["counts"][0]["squares"] == 1200.25
    ok(capsys, "export", "all.csv")
    new(capsys, "--values", 0, 30, "--study", "again.db")
    ok(capsys, "counts", "again.db", "all.csv")
    open_test = pb.webtests.WebTest.open
    with open_test("study.db") as study, open_test("again.db") as again:
        assert again.policy.get_state()["squares"].tolist() == [[1200.25 / 900, 1300 / 900]]
        assert again.policy.capital.tolist() == study.policy.capital.tolist()
    assert "squares" in refused(capsys, "counts", put(
        "arm,users,sum,squares\nhome,100,300,900.5\nprice,100,300,1\n"), "--key", "b")


def test_comments_of_ga4_are_skipped(capsys):
    new(capsys)
    ok(capsys, "counts", put(GA4.format("")))
    assert recorded(capsys)[0] == ("day.csv", "home", 1660, 83)


@pytest.mark.parametrize("total", ["Grand total,3315,180", ",3315,180,Grand total",
                                   "Total,3315,180,", "All users,3315,180", ",3315,180"])
def test_rows_of_totals_are_named(total, capsys):
    new(capsys)
    error = refused(capsys, "counts", put(GA4.format(total)))
    assert "day.csv: line 10, column" in error
    word = total.strip(",").split(",")[-1 if total[0] == "," else 0]
    if word[0].isalpha():
        assert f"{word!r} is a row of totals" in error and "--skip" in error
        ok(capsys, "counts", "day.csv", "--skip", word)
        assert len(recorded(capsys)) == 2


def test_unknown_arms_are_named(capsys):
    new(capsys)
    error = refused(capsys, "counts", put("variant,users,orders\nControl,1660,83\nprice,9,1\n"))
    assert "day.csv: line 2, column 1: 'Control' is not an arm" in error and "'home'" in error
    ok(capsys, "counts", put("variant,users,orders\nHOME,1660,83\nPrice,1655,97\n"))
    assert recorded(capsys)[0][1] == "home"
    new(capsys, "--study", "b.db", arms="Control,Total")
    ok(capsys, "counts", "b.db", put("variant,users,orders\nControl,1660,83\nTotal,1655,97\n"))


@pytest.mark.parametrize(("cell", "options"), [
    ('"1,660"', ["--thousands", ","]), ("1.660", ["--thousands", ".", "--decimal", ","]),
    ("1 660", ["--thousands", " "]), ("1'660", ["--thousands", "'"])])
def test_separators_of_thousands_are_read(cell, options, capsys):
    new(capsys)
    path = put(f"arm,users,orders\nhome,{cell},83\nprice,1655,97\n")
    error = refused(capsys, "counts", path)
    assert "day.csv: line 2, column" in error and "--thousands" in error
    ok(capsys, "counts", path, *options)
    assert recorded(capsys)[0][2] == 1660


def test_invalid_counts_are_rejected(capsys):
    new(capsys)
    for row, words in [("home,-5,1", "trials must be at least 0"),
                       ("home,100,-1", "got -1 for 100"),
                       ("home,100,101", "got 101 for 100"), ("home,10.5,1", "whole numbers")]:
        error = refused(capsys, "counts", put(f"arm,users,orders\nprice,9,1\n{row}\n"))
        assert "day.csv: line 3, column" in error and words in error
    ok(capsys, "counts", put("arm,users,orders\nhome,1660.0,83.0\nprice,1655,97\n"))


def test_dates_are_recognised_by_the_whole_file(capsys):
    """The file determines if the day or the month is first; days are recorded in order."""
    new(capsys)
    rows = [("14/01/2025", 1012, 41, 1001, 50), ("03/01/2025", 990, 38, 1003, 52)]
    text = "date,arm,users,orders\n" + "".join(
        f"{day},home,{a},{b}\n{day},price,{c},{d}\n" for day, a, b, c, d in rows)
    ok(capsys, "counts", put(text))
    assert [row[0] for row in recorded(capsys)][::2] == ["2025-01-03", "2025-01-14"]
    same = put("date,arm,users,orders\n2025-01-03,home,990,38\n2025-01-03,price,1003,52\n")
    assert "0 new, 1 already known" in ok(capsys, "counts", same)
    both = put("date,arm,users,orders\n2025-01-20,home,9,1\n20/01/2025,home,9,1\n")
    assert "line 3" in refused(capsys, "counts", both)
    open_ = put("date,arm,users,orders\n03/02/2025,home,90,7\n03/02/2025,price,91,8\n")
    error = refused(capsys, "counts", open_)
    assert "line 2, column 1" in error and "--dates" in error
    assert "2025-02-03 or 2025-03-02" in error
    ok(capsys, "counts", open_, "--dates", "month-first")
    assert recorded(capsys)[-1][0] == "2025-03-02"
    for text, words in [("13/01/2025,home,9,1\n01/13/2025,home,9,2\n", "'13/01/2025' and '01/13"),
                        ("2025-01-03 14:00,home,9,1\n2025-01-03T15:00Z,home,9,2\n", "time zone"),
                        ("31/02/2025,home,9,1\n", "exist"), (",home,9,1\n", "must have a key")]:
        assert words in refused(capsys, "counts", put("hour,arm,users,orders\n" + text))


def test_equal_hours_in_different_zones_are_one_batch(capsys):
    new(capsys)
    for hour in ("2025-01-03T14:00:00+01:00", "2025-01-03 13:00 UTC"):
        ok(capsys, "counts", put(f"hour,arm,users,orders\n{hour},home,90,7\n{hour},price,91,8\n"))
    assert {row[0] for row in recorded(capsys)} == {"2025-01-03T13:00Z"}


def test_same_export_under_two_names_is_rejected(capsys):
    new(capsys)
    text = "arm,users,orders\nhome,1660,83\nprice,1655,97\n"
    ok(capsys, "counts", put(text, "export.csv"))
    error = refused(capsys, "counts", put(text, "export (1).csv"))
    assert "recorded once" in error and "'export.csv'" in error and "--repeated" in error
    assert "1 new" in ok(capsys, "counts", "export (1).csv", "--repeated")
    # also within one file of several batches: none of them is recorded
    day = "{0},home,1500,83\n{0},price,1520,97\n"
    twice = put("day,arm,users,orders\n" + day.format("a") + day.format("b"))
    assert "recorded once" in refused(capsys, "counts", twice)
    assert len(recorded(capsys)) == 4


def totals_of(n):
    days = np.array([[1003, 51, 1009, 54], [1001, 49, 1011, 56], [1004, 52, 1006, 53],
                     [1002, 50, 1008, 55], [1005, 53, 1007, 52]]).cumsum(axis=0)
    return "day,arm,users,orders\n" + "".join(
        f"2025-01-0{d},home,{days[d - 1][0]},{days[d - 1][1]}\n"
        f"2025-01-0{d},price,{days[d - 1][2]},{days[d - 1][3]}\n" for d in range(n, 0, -1))


def test_running_totals_are_recorded_with_an_option(capsys):
    """There is a warning without --cumulative, for both orders of days."""
    new(capsys)
    assert "warning: no count fell in three batches" in warned(capsys, "counts", put(totals_of(3)))
    new(capsys, "--study", "c.db")
    assert warned(capsys, "counts", "c.db", put(totals_of(5))).count("no count fell") == 1
    new(capsys, "--study", "b.db")
    assert "4 new" in ok(capsys, "counts", "b.db", put(totals_of(4)), "--cumulative")
    assert "1 new, 4 already known" in ok(capsys, "counts", "b.db", put(totals_of(5)),
                                          "--cumulative")
    rows = as_json(capsys, "counts", "b.db")["counts"]
    assert [row["trials"] for row in rows[::2]] == [1003, 1001, 1004, 1002, 1005]
    assert [row["sum"] for row in rows[1::2]] == [54, 56, 53, 55, 52]
    fallen = put("day,arm,users,orders\n2025-01-06,home,4000,200\n2025-01-06,price,9000,400\n")
    assert "must not fall" in refused(capsys, "counts", "b.db", fallen, "--cumulative")


def history(home=41, more=""):
    return (f"date,arm,users,orders\n2025-01-03,home,1012,{home}\n2025-01-03,price,994,48\n"
            f"2025-01-04,home,990,38\n2025-01-04,price,1003,52\n{more}")


def test_revised_history_is_amended_with_an_option(capsys):
    """Changes are printed; changes and the new day are recorded, or nothing is."""
    new(capsys)
    ok(capsys, "counts", put(history()))
    again = put(history(39, "2025-01-05,home,985,33\n2025-01-05,price,1008,58\n"))
    error = refused(capsys, "counts", again)
    assert "2025-01-03: home 41 of 1,012 -> 39 of 1,012" in error and "--revised" in error
    assert len(recorded(capsys)) == 4
    said = ok(capsys, "counts", again, "--revised", "2 orders returned").splitlines()
    assert said[0] == "2025-01-03: home 41 of 1,012 -> 39 of 1,012"
    assert "1 new, 1 already known, 1 amended" in said[1]
    assert recorded(capsys)[0] == ("2025-01-03", "home", 1012, 39) and len(recorded(capsys)) == 6
    assert "0 new, 3 already known; " in ok(capsys, "counts", again, "--revised", "again")
    status = as_json(capsys, "status")
    assert status["n_amendments"] == 1 and status["split"]["mismatch"] is False
    ok(capsys, "verify")
    ok(capsys, "report", "-o", "page.html")
    assert "2 orders returned" in Path("page.html").read_text("utf-8")
    new(capsys, "--study", "right.db")
    ok(capsys, "counts", "right.db", again)
    open_test = pb.webtests.WebTest.open
    with open_test("study.db") as study, open_test("right.db") as right:
        assert study.policy.capital.tolist() == right.policy.capital.tolist()


def test_amend_accepts_counts(capsys):
    new(capsys)
    ok(capsys, "counts", put(history()))
    said = ok(capsys, "amend", "--key", "3 Jan 2025", "--counts", "home=1010,39", "--reason",
              "bots")
    assert said == "2025-01-03: home 41 of 1,012 -> 39 of 1,010\n1 counts amended\n"
    assert ok(capsys, "amend", "--file", put(history(40)), "--reason", "late").endswith(
        "1 counts amended\n")
    assert ok(capsys, "amend", "--file", "day.csv", "--reason", "late") == "nothing to amend\n"
    known = as_json(capsys, "amend", "--key", "2025-01-04", "--counts", "price=1003,50",
                    "--reason", "late")
    assert known["changes"] == [{"key": "2025-01-04", "arm": "price", "before": [1003, 52.0],
                                 "after": [1003.0, 50.0]}]
    for words, options in [
        ("--key", ["--counts", "home=9,1"]), ("ARM=TRIALS,SUM", ["--key", "2025-01-04"]),
        ("ARM=TRIALS,SUM", ["--key", "2025-01-04", "--counts", "home=9"]),
        ("'hom'", ["--key", "2025-01-04", "--counts", "hom=9,1"]),
        ("record a new key with", ["--key", "2025-01-09", "--counts", "home=9,1"])]:
        assert words in refused(capsys, "amend", *options, "--reason", "x")


def test_split_that_differs_from_the_shares_is_reported(capsys):
    new(capsys)
    path = put("arm,users,orders\nhome,5400,83\nprice,4600,97\n")
    assert "visits are not split by the shares" in warned(capsys, "counts", path)
    assert "\nsplit   visits are not split" in ok(capsys, "status")
    assert as_json(capsys, "status")["split"]["mismatch"] is True
    ok(capsys, "report", "-o", "page.html")
    assert "Sample-ratio mismatch" in Path("page.html").read_text("utf-8")
    new(capsys, "--study", "b.db", "--shares", "54,46")
    ok(capsys, "counts", "b.db", path)
    assert as_json(capsys, "split", "100", "--study", "b.db")["split"] == {"home": 54, "price": 46}
    assert "\nsplit   visits are split" in ok(capsys, "status", "b.db")
    put("arm,users,orders\nhome,5000,83\nprice,9,0\n", "b.csv")
    main(["webtest", "counts", "b.db", "b.csv", "--json"])
    assert "not split by the shares" in json.loads(capsys.readouterr().out)["warnings"][0]
