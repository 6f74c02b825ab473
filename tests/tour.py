"""Use the whole interface once: every module, every golden draw, every kind of file, and commands.

    python tests/tour.py [windows]

prints `all of it works`. With `windows` the interpreter is made unlike Linux first
(`unlike_linux.py`). tests/test_machines.py runs this with options of Python.
"""

import contextlib
import importlib
import io
import json
import os
import pkgutil
import sys
import tempfile
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]


def check(holds, what):
    """Raise unless something holds, also under ``python -O``, which ignores `assert`."""
    if not holds:
        raise AssertionError(what)


def import_all(package):
    """Import every module of the package."""
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not found.name.endswith(("__main__", "._cython")):
            importlib.import_module(found.name)


def golden_draws():
    from golden_draws import GOLDEN, golden

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # as in test_golden.py
        found = json.loads(json.dumps(golden()))
    check(found == json.loads(GOLDEN.read_text("utf-8")), "other draws than in golden_draws.json")


def study(pb, path):
    """Create a study, replace it, open it again, record, and export it."""
    for overwrite in (False, True):
        pb.Study.create(path, pb.policies.Uniform(2, budget=4), arms=["tea", "模型"],
                        overwrite=overwrite).close()
    with pb.Study.open(path) as opened, pb.Study.open(path) as second:
        batch = opened.ask()
        second.tell(batch.id, [0.1, 0.4, 0.2, 0.6])
        check(opened.recommend().best_names == ["模型"] and opened.verify(), "study")


def screen(pb, path):
    from pybandit.lab import Layout, Plates, Screen, write_report

    with Screen.create(path, pb.policies.Uniform(4, budget=8), arms=list("abcd"),
                       plates=Plates(Layout.parse("2x4"))) as made:
        text = made.plate_texts(made.ask())["0"]
        rows = [line + "0.5" if line.endswith(",") else line for line in text.splitlines()]
        Path("plate0.csv").write_text("\n".join(rows), "utf-8")
        check(made.record("plate0.csv").n_new == 8, "screen")
        for _ in range(2):
            write_report(made, "screen.html")


def web_test(pb, path):
    with pb.webtests.WebTest.create(path, pb.CountRace(2), arms=["old", "new"]) as test:
        test.tell_counts({"old": (2500, 100), "new": (2500, 150)}, key="Monday")
        pb.webtests.write_report(test, "test.html")


def tables(pb, folder):
    """Keep scores in a store, shuffle a table twice, and save a simulation."""
    import numpy as np

    scores = np.random.default_rng(1).random((2000, 3)) * [0.7, 0.8, 1.0]
    for _ in range(2):
        result = pb.best_of(lambda m, i: scores[i, "abc".index(m)], ["a", "b", "c"], 2000,
                            value_range=(0, 1), store="scores.db", rng=1)
    check(result.best == 2, "store")
    np.savetxt("scores.csv", scores, delimiter=",", header="mild,medium,hot", comments="")
    np.save("scores.npy", scores)
    for overwrite in (False, True):
        blocks = pb.tables.shuffle("scores.npy", "shuffled.parquet", overwrite=overwrite, rng=7)
        del blocks
    check(pb.best_of("shuffled.parquet", value_range=(0, 1), rng=1).best == 2, "blocks")
    found = pb.simulate(pb.policies.UCB1(2), pb.environments.GaussianBandit([0.0, 1.0]), 10,
                        max_pulls=50, rng=1)
    for _ in range(2):
        found.save("runs.npz")
    check((type(found).load("runs.npz").errors == found.errors).all(), "saved runs")


def commands():
    from pybandit.cli import main

    Path("arms.csv").write_text("tea\ncoffee\nmilk\n", "utf-8")
    for line in ("best-of scores.csv", "shuffle scores.npy twice.parquet --seed 1",
                 "screen new c.db --policy batch-sar --arms arms.csv --k 1 --batches 3 "
                 "--plate 2x3 --repeats 4",
                 "screen next c.db -o plate.csv", "study status c.db", "study verify c.db",
                 "study export c.db results.csv", "study report c.db -o report.html",
                 "webtest new w.db --arms old,new", "config --cflags", "doctor"):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            check(main(line.split()) == 0, line)
        check(printed.getvalue() or " new " in line, line)


def main(windows):
    if windows:
        import unlike_linux

        unlike_linux.pretend()
    import pybandit as pb

    import_all(pb)
    if windows:
        unlike_linux.in_pybandit()
    golden_draws()
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        study(pb, "tea.study")
        screen(pb, "screen.db")
        web_test(pb, "test.db")
        tables(pb, folder)
        commands()
        left = [name for name in os.listdir(folder) if name.endswith(".new") or name[0] == "."]
        check(not left, left)
        os.chdir(before)
    print("all of it works")


if __name__ == "__main__":
    main("windows" in sys.argv[1:])
