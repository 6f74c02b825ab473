"""Find the best of 100 columns of a table that may be larger than memory, and measure the time.

The script writes a table of float32 scores (by default 10 million rows of 100 columns, 4 GB),
shuffles it once, and finds the best column: from the shuffled file by blocks, and from the original
array row by row. For comparison, DuckDB and Polars compute the mean of every column, if they are
installed. Each method runs in a separate process; memory is the peak of that process.

    python examples/tables/larger_than_memory.py --folder /some/disk
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

# Difference of the two best means; all means lie between 0.45 and 0.5.
GAP = 0.001
MISSING = 3  # exit status if a package is missing


def make(path, n_rows, n_columns, seed=1, step=100_000):
    """Write a table of scores: (effect of the item + noise) * skill of the column."""
    rng = np.random.default_rng(seed)
    skill = np.linspace(1.0 - 2 * GAP, 0.9, n_columns).astype(np.float32)
    skill[0] = 1.0
    rng.shuffle(skill)
    table = np.lib.format.open_memmap(path, "w+", np.float32, (n_rows, n_columns))
    for start in range(0, n_rows, step):
        part = table[start:start + step]
        item = rng.random((len(part), 1), dtype=np.float32)
        part[:] = (rng.random(part.shape, dtype=np.float32) + item) * np.float32(0.5) * skill
    table.flush()
    return int(skill.argmax())


def by_blocks(folder):
    import pybandit as pb

    result = pb.best_of(folder / "shuffled.parquet", value_range=(0, 1), rng=1)
    return f"column {result.best_name}, {100 * result.fraction_read:.2g} % of the cells read"


def by_rows(folder):
    import pybandit as pb

    result = pb.best_of(folder / "table.npy", value_range=(0, 1), rng=1)
    return f"column {result.best}, {100 * result.fraction_read:.2g} % of the cells read"


def race(folder):
    import pybandit as pb

    result = pb.race(pb.tables.Blocks.open(folder / "shuffled.parquet"),
                     bound=pb.racing.BettingBound(value_range=(0, 1)), rng=1)
    pairs = 1e-2 * np.load(folder / "table.npy", mmap_mode="r").size
    return f"state {result.best}, {result.n_evaluations / pairs:.2g} % of the factors read"


def duckdb(folder):
    import duckdb

    duckdb.execute("set threads = 2")
    means = duckdb.sql(f"select avg(columns(*)) from '{folder / 'shuffled.parquet'}'").fetchall()[0]
    return f"column {int(np.argmax(means))}, all read"


def polars(folder):
    os.environ["POLARS_MAX_THREADS"] = "2"
    import polars

    means = polars.scan_parquet(folder / "shuffled.parquet").mean().collect(engine="streaming")
    return f"column {int(np.argmax(means.row(0)))}, all read"


WAYS = {"best_of, shuffled blocks": by_blocks, "best_of, rows of a memmap": by_rows,
        "race, shuffled blocks": race, "DuckDB, mean of all columns": duckdb,
        "Polars, mean of all columns": polars}


def measure(way, folder):
    """Return seconds, peak megabytes and the result; None if a package is missing."""
    began = time.perf_counter()
    done = subprocess.run([sys.executable, __file__, "--one", way, "--folder", str(folder)],
                          text=True, stdout=subprocess.PIPE, check=False)
    seconds = time.perf_counter() - began
    if done.returncode == MISSING:
        return None
    done.check_returncode()
    megabytes, _, found = done.stdout.strip().splitlines()[-1].partition(" ")
    return seconds, float(megabytes), found


def peak():
    """Return the peak megabytes of this process; on Linux, getrusage includes its parent."""
    try:
        status = Path("/proc/self/status").read_text("utf-8")
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024
    except OSError:
        if sys.platform == "win32":
            return float("nan")  # not measured
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # macOS counts bytes


def one(way, folder):
    """Run one method and print its result, in a separate process."""
    try:
        found = WAYS[way](folder)
    except ImportError:
        sys.exit(MISSING)
    print(f"{peak():.0f} {found}")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, help="folder for the files, which are kept")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--quick", action="store_true", help="50,000 rows of 20 columns")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        return one(options.one, options.folder)
    if options.quick:
        options.rows, options.columns = 50_000, 20
    folder = options.folder or Path(tempfile.mkdtemp())
    try:
        table, shuffled = folder / "table.npy", folder / "shuffled.parquet"
        if not table.exists():
            print(f"the best column is {make(table, options.rows, options.columns)}")
        if not shuffled.exists():
            subprocess.run([sys.executable, "-m", "pybandit", "shuffle", table, shuffled,
                            "--seed", "1"], check=True)
        print(f"{'':30} {'seconds':>8} {'MB':>6}")
        for way in WAYS:
            found = measure(way, folder)
            print(f"{way:30} " + ("not installed" if found is None else
                                  f"{found[0]:8.2f} {found[1]:6.0f}  {found[2]}"))
    finally:
        if options.folder is None:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
