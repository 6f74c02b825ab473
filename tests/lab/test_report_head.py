"""The top of the report of a screen: the answer first, the controls, and the state of each arm."""

import csv
import io
import re

import numpy as np
import pytest

import pybandit as pb
from lab.report_page import page_of
from pybandit.lab import Layout, Plates, Screen
from pybandit.lab.report import page_text

HITS = {f"gene{i}": 0.15 + 0.05 * j for j, i in enumerate(range(7, 200, 25))}


def screen(tmp_path, batches=5, normalise=True, **options):
    """Return a screen of 200 genes on plates with controls in two columns; plate 2 is abandoned."""
    column = [tuple(12 * row + at for row in range(8)) for at in (0, 11)]
    plates = Plates(Layout(8, 12), controls=column[0], positives=column[1],
                    positive_label="drug", normalise=normalise, **options)
    policy = pb.policies.BatchSAR(200, 8, batch_size=80, max_batches=8, max_repeats=4)
    one, rng = Screen.create(tmp_path / "s.db", policy, [f"gene{i}" for i in range(200)],
                             plates=plates), np.random.default_rng(3)
    for number in range(batches):
        batch = one.ask()
        if number == 2:
            one.abandon(batch.id)
            continue
        [(name, text)] = one.plate_texts(batch).items()
        rows, lamp = list(csv.reader(io.StringIO(text))), rng.uniform(800, 1200)
        for well in rows[1:]:
            light = 0.1 if well[2] == "drug" else HITS.get(well[2], 1.0)
            well[3] = f"{lamp * light * rng.lognormal(0, 0.1):.1f}"
        with open(tmp_path / f"{name}.csv", "w", newline="") as file:
            csv.writer(file).writerows(rows)
        one.record(tmp_path / f"{name}.csv")
    return one


def test_the_answer_comes_before_the_tiles(tmp_path):
    text = page_text(screen(tmp_path, log=True, flip=True))
    places = [text.index(word) for word in ('class="headline"', "Controls read", 'class="tiles"',
                                            'id="answer"', 'id="plates"')]
    assert places == sorted(places)


def test_arms_have_their_state(tmp_path):
    one = screen(tmp_path, log=True, flip=True)
    page, status = page_of(one.study, tmp_path), one.status()
    head = page.rows[0]
    assert head[:6] == ["", "sample", "state", "results", "mean", "reading"]
    rows = {row[1]: row for row in page.rows[1:19]}
    best, left = one.recommend().best_names, {one.names[arm] for arm in status.survivors}
    for name, row in rows.items():
        assert row[2] == ("still tested" if name in left else
                          "accepted" if name in best else "dropped"), name
    assert {row[2] for row in rows.values()} == {"still tested", "accepted", "dropped"}
    assert set(best) == {name for name, row in rows.items() if row[0]}


def test_words_of_policies_are_in_the_details(tmp_path):
    text = page_text(screen(tmp_path, batches=9, log=True, flip=True))
    text = re.sub("<style>.*?</style>|<details.*?</details>", "", text, flags=re.DOTALL)
    found = re.findall(r"\b(arms?|pulls?|rewards?|policy|MAD|z-scores?|delta)\b", text)
    assert not found and "of the controls' mean" in text


def test_a_finished_screen_has_no_states(tmp_path):
    one = screen(tmp_path, batches=9, log=True, flip=True)
    page = page_of(one.study, tmp_path)
    assert one.status().done and page.rows[0][:4] == ["", "sample", "results", "mean"]
    first, last = page.rows[1], page.rows[8]
    assert (first[0], first[2], last[0], last[2]) == ("1", "2", "8", "20")
    assert f"{first[1]} has fewer results than {last[1]}: the method stops" in page.text


@pytest.mark.parametrize("normalise, words", [
    (True, "Controls read, in parts of the controls' mean: control 1; drug {share} (mean of all"),
    ("percent", "in per cent of the controls' mean: control 100; drug {percent} (mean of all"),
    ("inhibition", "in per cent of inhibition: control 0; drug 100."),
    (False, "Controls read: control {control} (mean of all plates); drug {drug} (mean of all")])
def test_controls_are_in_the_answer(tmp_path, normalise, words):
    one = screen(tmp_path, batches=2, normalise=normalise)
    means = np.array([[plate.controls.mean, plate.positives.mean] for plate in one.readings()])
    share = (means[:, 1] / means[:, 0]).mean()
    wanted = words.format(share=f"{share:.4g}", percent=f"{100 * share:.4g}",
                          control=f"{means[:, 0].mean():.4g}", drug=f"{means[:, 1].mean():.4g}")
    text = page_of(one.study, tmp_path).text
    assert wanted in text
    quality = [plate.z_prime for plate in one.readings()]
    assert f"Z\N{PRIME} is {min(quality):.2g} to {max(quality):.2g}." in text


def test_plates_have_the_same_numbers_everywhere(tmp_path):
    """Plates 0, 1, 3 and 4 were recorded: the plot over time names them, as tables and maps do."""
    text = page_text(screen(tmp_path, log=True, flip=True))
    drift = text[:text.index("plate, in order of request")].rpartition("<svg")[2]
    ticks = re.findall(r'class="tick"[^>]*>(\d+)</text>', drift)
    assert ticks == ["0", "1", "3", "4"]
    assert re.findall(r"<figcaption>Plate (\d+)<", text) == ["4", "3", "1", "0"]
