"""Tables of ratios on the page of numbers are written from the JSON of `make bench`."""

import sys
from pathlib import Path

BENCH = Path(__file__).parents[1] / "bench"
sys.path.append(str(BENCH))
import write_tables  # noqa: E402

PAGE = """before
<!-- make bench: racing -->
old text

| read per draw | a | b |
| --- | --- | --- |
| .5 % of the rows at every draw | 1/49 | 1.2 |
<!-- end -->
after
"""
GROUP = "0.5% read at each draw"


def found(draw, shuffled):
    return {(GROUP, "draw", write_tables.EXACT): draw,
            (GROUP, "draw, shuffled layout", write_tables.EXACT): shuffled}


def test_table_is_replaced_by_the_ratios():
    text, moved = write_tables.written(PAGE, found(1 / 15.2, 1.66), 32 << 20)
    assert "| .5 % of the rows at every draw | 1/15 | 1.7 |\n<!-- end -->\nafter\n" in text
    assert "32 MiB" in text and "134 MB" in text and "old text" not in text
    assert moved == ["racing"]  # 1/49 became 1/15
    assert write_tables.written(text, found(1 / 20, 1.4), 32 << 20)[1] == []


def test_rows_that_were_not_measured_are_left_out():
    text, moved = write_tables.written(PAGE, {}, 8 << 20)
    assert ".5 %" not in text and moved == ["racing"]


def test_page_has_the_table():
    assert "<!-- make bench: racing -->" in write_tables.PAGE.read_text()
