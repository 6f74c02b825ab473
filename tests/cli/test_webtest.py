"""pybandit webtest: web tests by counts from the command line."""

import re
from pathlib import Path

import numpy as np
import pytest

import pybandit as pb
from pybandit import cli
from pybandit.webtests._count_file import read_counts

from cli.screen_commands import digest
from cli.webtest_commands import as_json, ok, refused

pytestmark = pytest.mark.usefixtures("folder")
NEW = ["new", "--arms", "home,price,video"]
RATES = np.array([0.04, 0.05, 0.09])


def day(number, split, rates=RATES):
    """Write the file of a day with these visits."""
    came = np.random.default_rng(number).binomial(list(split.values()), rates)
    rows = [f"{name},{n},{s}" for (name, n), s in zip(split.items(), came, strict=True)]
    Path(f"day_{number}.csv").write_text("\n".join(["page,visits,conversions", *rows]))
    return f"day_{number}.csv"


def test_web_test_equals_python(capsys):
    race = pb.CountRace(3)
    assert ok(capsys, *NEW) == "study.db: CountRace, 3 arms; next: split, and counts\n"
    for number in range(40):
        split = as_json(capsys, "split", 3000)["split"]
        assert list(split.values()) == race.split(3000).tolist()
        path = day(number, split)
        said = ok(capsys, "counts", path)
        assert said.startswith(f"{path}: 1 new, 0 already known; ")
        assert ok(capsys, "counts", path).startswith(f"{path}: 0 new, 1 already known; ")
        rows = [line.split(",") for line in Path(path).read_text().splitlines()[1:]]
        race.tell_counts([int(row[1]) for row in rows], [int(row[2]) for row in rows])
        if race.done:
            break
    assert said.endswith("the best is video\n")
    assert as_json(capsys, "status")["best"][0]["name"] == "video"
    with pb.webtests.WebTest.open("study.db") as study:
        assert study.policy.capital.tolist() == race.capital.tolist()
        assert study.verify().head == as_json(capsys, "verify")["head"]
    lines = ok(capsys, "counts").splitlines()
    assert lines[0] == "key,arm,trials,successes,who"
    assert lines[1].startswith("day_0.csv,home,1000,")
    lines = ok(capsys, "status").splitlines()
    assert not any(line.startswith("plates") for line in lines)
    assert any(line.split() == ["best", "mean", "trials"] for line in lines)
    for action in (["status"], ["report", "-o", "page.html"], ["export", "wells.csv"]):
        ok(capsys, *action)


def test_pages_are_added_and_retired(capsys):
    ok(capsys, *NEW, "--delta", "0.1", "--values", "0", "30")
    ok(capsys, "counts", day(0, {"home": 100, "price": 90, "video": 80}), "--key", "monday")
    assert "now     run split to divide the next trials" in ok(
        capsys, "status").splitlines()
    assert ok(capsys, "add-arm", "form") == "form is in the test from now on\n"
    assert ok(capsys, "retire", "video", "--reason", "broken") == (
        "video is out; left: home, price, form\n")
    assert as_json(capsys, "split", 9)["split"] == {"home": 3, "price": 3, "video": 0, "form": 3}
    assert as_json(capsys, "counts")["counts"][0]["key"] == "monday"
    with pb.webtests.WebTest.open("study.db") as study:
        assert study.policy.value_range == (0.0, 30.0) and study.policy.delta == 0.1


def test_printed_sums_of_values_are_read_exactly(capsys):
    ok(capsys, *NEW, "--values", "0", "30")
    Path("sums.csv").write_text("arm,trials,sum\nhome,10,81.5\nprice,10,79\nvideo,9,3\n")
    ok(capsys, "counts", "sums.csv", "--key", "monday")
    Path("again.csv").write_text(ok(capsys, "counts"))
    assert "key,arm,trials,sum,who" in Path("again.csv").read_text()
    assert "0 new, 1 already known" in ok(capsys, "counts", "again.csv")


def test_option_named_by_the_error_reads_decimal_commas(capsys):
    """With decimal commas, points may separate thousands."""
    ok(capsys, *NEW, "--values", "0", "90")
    Path("de.csv").write_text("arm;trials;sum\nhome;1.000;812,5\nprice;990;700\nvideo;995;3\n")
    assert "--decimal ," in refused(capsys, "counts", "de.csv")
    assert "1 new" in ok(capsys, "counts", "de.csv", "--decimal", ",", "--thousands", ".")
    assert as_json(capsys, "counts")["counts"][0]["trials"] == 1000
    assert "must differ" in refused(capsys, "counts", "de.csv", "--thousands", ".")


def test_header_of_the_pages_is_printed(capsys):
    Path("pages.csv").write_text("sample\nhome\nprice\n")
    said = ok(capsys, "new", "--arms", "pages.csv")
    assert "2 arms under 'sample'; next: split" in said


def test_thompson_sends_more_traffic_to_better_pages(capsys):
    Path("pages.csv").write_text("page one\npage two\n")
    ok(capsys, "new", "--arms", "pages.csv", "--thompson", 400, "--seed", 1)
    Path("all.csv").write_text("day,arm,trials,successes\n1,page one,200,5\n1,page two,200,30\n"
                               "2,page one,90,1\n2,page two,300,40\n")
    assert ok(capsys, "counts", "all.csv") == (
        "1, 2: 2 new, 0 already known; page two leads 2 remaining arms\n")
    split = as_json(capsys, "split", 400)["split"]
    assert sum(split.values()) == 400 and split["page two"] > 350


def test_invalid_files_are_rejected(capsys):
    ok(capsys, *NEW)
    ok(capsys, "counts", day(0, {"home": 100, "price": 90, "video": 80}))
    for text, *words in [
        ("arm,trials\nhome,3\n", "line 1", "'successes'"),
        ("arm,trials,successes\n", "no counts below it"),
        ("arm,trials,successes\nhome,3\n", "line 2, column 3", "2 cells"),
        ("arm,trials,successes\nhome,3,x\n", "line 2, column 'successes'", "'x'"),
        ("arm,trials,successes\nhome,3,\n", "line 2", "successes"),
        ("arm,trials,successes\nhome,3,4\n", "4 for 3 trials of arm 'home'"),
        ("arm,trials,successes\nhome,3.5,1\n", "line 2, column 2", "whole", "'3.5'"),
        ("arm,trials,successes\nhome,3,1\nhome,3,1\n", "line 3", "occurs twice"),
        ("arm,trials,successes\nhom,3,1\n", "'hom'"),
        ("arm,trials,successes,key\nhome,3,1,a\n", "omit --key"),
        ("page,visits,conversions,sum\nhome,9,4,81.5\n", "column 4", "'sum' and 'conversions'"),
        ("day,date,arm,trials,sum\n1,2,home,9,4\n", "'date' and 'day' are both the key"),
        ("page,visits,conversions\nhome,1000,0.04\n", "line 2, column 3", "not rates", "'0.04'"),
        ("page;visits;conversions\nhome;120.000;4.812\n", "must be whole numbers", "'120.000'",
         "--thousands ."),
    ]:
        Path("bad.csv").write_text(text)
        more = ["--key", "b"] if "key" in text else []
        error = refused(capsys, "counts", "bad.csv", *more)
        assert all(word in error for word in words), error
    Path("day_0.csv").write_text("arm,trials,successes\nhome,100,99\n")
    assert "day_0.csv: home 5 of 100 -> 99 of 100" in refused(capsys, "counts", "day_0.csv")
    assert "none.csv: cannot be read" in refused(capsys, "counts", "none.csv")
    assert "'form'" in refused(capsys, "retire", "form", "--reason", "gone")
    assert "exists" in refused(capsys, *NEW)


@pytest.mark.parametrize("arguments", [
    ["new", "--arms", "a,b", "--delta", "2"],
    ["plan", "--rates", "4%", "--visits", "9", "--lifts", "0"],
    ["plan", "--rates", "4%,140%", "--visits", "9"], ["split", "-1"], ["retire", "a"]])
def test_invalid_options_are_rejected(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["webtest", *arguments])
    assert end.value.code == 2 and digest() is None
    assert re.search("must be|invalid|required|expected", capsys.readouterr().err)


def test_plan_prints_days_and_errors(capsys):
    said = ok(capsys, "plan", "--rates", "4%,5%,.07", "--visits", 5000, "--runs", 40)
    assert re.search(r"^days +10% by day \d+, 50% by day \d+, 90% by day \d+$", said, re.MULTILINE)
    assert re.search(r"^wrong +0 of 40 tests: 0\.0% to 8\.8%, promised at most 0\.05$", said,
                     re.MULTILINE)
    assert "z-test      2 days" in said
    known = as_json(capsys, "plan", "--rates", "4%,4%", "--visits", 500, "--runs", 20, "--days",
                    20)
    assert known["n_wrong"] + known["n_undecided"] == 20 and known["z_test_days"] is None


def test_counts_in_a_workbook_are_read(tmp_path):
    pytest.importorskip("openpyxl")
    from pybandit.tables._xlsx import workbook_of

    path = tmp_path / "monday.xlsx"
    path.write_bytes(workbook_of([["page", "visits", "conversions"], ["home", 1000, 40],
                                  ["=video", 900, 51]]))
    assert read_counts(path) == {"monday.xlsx": {"home": (1000, 40), "=video": (900, 51)}}


def test_names_in_a_list_are_without_the_spaces_around_them(capsys):
    ok(capsys, "new", "--arms", "home, price ,video")
    assert list(as_json(capsys, "split", 3)["split"]) == ["home", "price", "video"]


def test_options_without_effect_are_rejected(capsys):
    """Thompson sampling has no delta, and a test no seed."""
    for option in (["--delta", "0.1"], ["--values", "0", "30"]):
        error = refused(capsys, "new", "--arms", "a,b", "--thompson", 9, *option)
        assert f"{option[0]} must be left out with --thompson" in error and digest() is None
    assert "--seed" in refused(capsys, "new", "--arms", "a,b", "--seed", 9)
    assert "--values" in refused(capsys, "new", "--arms", "a,b", "--values", 5, 0)


@pytest.mark.parametrize("arguments", [["new", "--arms", "a,b", "--delta", "x"],
                                       ["plan", "--rates", "4x,5", "--visits", "9"]])
def test_text_instead_of_a_number_is_named(arguments, capsys):
    with pytest.raises(SystemExit):
        cli.main(["webtest", *arguments])
    assert re.search(r"argument --\w+: must be [a-z ,]*above 0", capsys.readouterr().err)


def test_the_study_may_be_the_first_word_of_counts(capsys):
    ok(capsys, *NEW)
    ok(capsys, "new", "other.db", "--arms", "home,price,video")
    path = day(0, {"home": 100, "price": 90, "video": 80})
    assert ok(capsys, "counts", "other.db", path).startswith("day_0.csv: 1 new")
    assert ok(capsys, "counts", "other.db") == ok(capsys, "counts", "--study", "other.db")
    assert len(ok(capsys, "counts", "other.db").splitlines()) == 4
    assert len(ok(capsys, "counts").splitlines()) == 1
    assert "none.db" in refused(capsys, "counts", "none.db", path)
    assert "named once" in refused(capsys, "counts", "other.db", path, "--study", "study.db")


def test_error_of_invalid_counts_names_the_page(capsys):
    ok(capsys, *NEW)
    Path("bad.csv").write_text("arm,trials,successes\nprice,3,4\n")
    assert "arm 'price'" in refused(capsys, "counts", "bad.csv")


def test_study_actions_on_batches_are_rejected(capsys):
    ok(capsys, *NEW)
    ok(capsys, "counts", day(0, {"home": 100, "price": 90, "video": 80}))
    for action in ("close", "abandon"):
        assert cli.main(["study", action, "0"]) == 2
        assert "has no batches of wells: amend corrects its counts" in capsys.readouterr().err


def test_export_of_counts_is_read_again(capsys):
    ok(capsys, *NEW, "--values", "0", "30")
    ok(capsys, "counts", day(0, {"home": 100, "price": 90, "video": 80}), "--key", "=monday")
    ok(capsys, "counts", day(1, {"home": 0, "price": 3, "video": 2}))
    assert ok(capsys, "export", "all.csv") == "5 rows of counts: all.csv\n"
    lines = Path("all.csv").read_text().splitlines()
    assert lines[0] == "key,arm,trials,sum,told_at,who" and len(lines) == 6
    ok(capsys, *NEW, "--values", "0", "30", "--study", "again.db")
    ok(capsys, "counts", "again.db", "all.csv")
    assert ok(capsys, "counts", "again.db") == ok(capsys, "counts")
    open_test = pb.webtests.WebTest.open
    with open_test("study.db") as study, open_test("again.db") as again:
        assert again.policy.capital.tolist() == study.policy.capital.tolist()


def test_file_of_several_days_is_recorded_completely_or_not_at_all(capsys):
    ok(capsys, *NEW)
    Path("all.csv").write_text("day,arm,trials,successes\n1,home,3,1\n2,home,2,1\n2,prize,2,1\n")
    assert "'prize'" in refused(capsys, "counts", "all.csv")
    Path("all.csv").write_text("day,arm,trials,successes\n1,home,3,1\n2,home,2,1\n2,price,2,1\n")
    assert ok(capsys, "counts", "all.csv").startswith("1, 2: 2 new")
