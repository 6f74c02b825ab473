"""Run the scripts of the papers and print one table: figure, command, agreement, time.

    python examples/papers/run.py [--full | --paper] [--jobs N] [--data FOLDER] [--keep FILE]
        [--plots FOLDER] [WORD ...] [-- OPTION ...]

Without `--full` every script runs its small version. `--full` runs the default sizes, which are
the paper's except for the scripts of `OPTIONS_OF_PAPER`; `--paper` adds those options, which take
about 160 hours of a processor, 90 of them for lil'UCB with a hundred states. Words select scripts
whose path contains one of them, and the options after `--` are passed to them: `--full
chen2016/figure_1 -- --runs 1000`. `--data FOLDER` names a folder with the files of `DATA`;
scripts whose file is missing use their stand-in. `--keep` adds the results, with the date, the
options and the number of runs, to a JSON file: `results.json` in this folder holds the last run
at full size and `quick.json` that of the small versions. `--plots` saves the plot of each script.
"""

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DATA = {  # script: name of its data file
    **{f"lalitha2023/figure_{n}.py": "u.data" for n in (4, 5, 6)},
    "hoffman2014/figure_2.py": "los_speed.csv.gz",
    "hoffman2014/figure_3.py": "winequality-red.csv",
    "hoffman2014/figure_4.py": "winequality-red.csv",
    "chen2016/figure_2.py": "prices.txt",
    "chen2016/figure_3.py": "cora_citations.tsv",
    "jun2016/figure_1.py": "genes.txt",
    "jun2016/figure_2.py": "users.txt",
    "neufeld2014/figure_3.py": "pima.csv",
}

# script: runs or draws per point in the paper, where it says how many
RUNS_OF_PAPER = {
    **{f"chen2016/figure_{n}.py": 10_000 for n in (1, 5, 6, 7)},
    "chen2016/figure_2.py": 5, "chen2016/figure_3.py": 7,
    "hoffman2014/figure_2.py": 840, "hoffman2014/figure_3.py": 100, "hoffman2014/figure_4.py": 100,
    "jun2016/figure_1.py": 20, "jun2016/figure_2.py": 10, "jun2016/table_1.py": 10,
    **{f"lalitha2023/figure_{n}.py": 5000 for n in (2, 3, 5, 6)},
    "neufeld2014/figure_1.py": 2000, "neufeld2014/figure_2.py": 1000,
    "neufeld2014/figure_3.py": 20,
}

# script: options of the paper's size that `--full` leaves out, with the hours of a processor that
# they take, estimated from single draws and short runs
OPTIONS_OF_PAPER = {
    "chen2016/figure_1.py": ("--lil", "10000"),  # 10
    "chen2016/figure_2.py": ("--sweeps", "100000"),  # 10
    "chen2016/figure_5.py": ("--lil", "10000"),  # 10
    "chen2016/figure_6.py": ("--lil", "10000"),  # 2
    "chen2016/figure_7.py": ("--lil", "10000"),  # 90
    "neufeld2014/figure_1.py": ("--all", "--runs", "2000"),  # 30
    "neufeld2014/figure_2.py": ("--runs", "1000"),  # 3
}


def scripts(words=()):
    """Return the scripts of the papers, in order, as paths relative to this folder."""
    found = sorted(path.relative_to(HERE) for kind in ("figure", "table", "section", "appendix")
                   for path in HERE.glob(f"*/{kind}_*.py"))
    return [path for path in found if not words or any(word in str(path) for word in words)]


def run(script, size, folder, plots, options=()):
    """Run one script; return its claims, or the end of its output if it failed.

    `size` is "quick", "full" or "paper".
    """
    if size == "paper":
        options = [*OPTIONS_OF_PAPER.get(str(script), ()), *options]
    command = [sys.executable, str(HERE / script), *["--quick"] * (size == "quick"), *options]
    name = DATA.get(str(script))
    if folder and name and (folder / name).exists():
        command += ["--data", str(folder / name)]
    with tempfile.TemporaryDirectory() as temporary:
        result = Path(temporary) / "claims.json"
        if plots:
            command += ["--save", str(plots / plot_of(script).name)]
        done = subprocess.run([*command, "--json", str(result)], capture_output=True, text=True,
                              timeout=600 if size == "quick" else None, check=False)
        if done.returncode or not result.exists():
            return {"failed": (done.stdout + done.stderr)[-2000:]}
        return {**json.loads(result.read_text()), "options": list(options)}


def agreement(result):
    """Return the cell of the table that says what agrees."""
    if "failed" in result:
        return "failed"
    claims = result["claims"]
    signs = sum(claim["sign"] for claim in claims)
    sizes = [claim["size"] for claim in claims if claim["size"] is not None]
    return (f"sign {signs} of {len(claims)}"
            + (f", size {sum(sizes)} of {len(sizes)}" if sizes else ""))


def name_of(script):
    """Return the name of a figure: ``chen2016/figure_1.py`` is "Chen 2016, Figure 1"."""
    paper, (kind, number) = script.parent.name, script.stem.split("_")
    return f"{paper[:-4].capitalize()} {paper[-4:]}, {kind.capitalize()} {number.upper()}"


def command_of(script, result):
    """Return the command that repeats a result."""
    words = ["python", f"examples/papers/{script}", *result.get("options", ())]
    if result.get("quick"):
        words.insert(2, "--quick")
    if result.get("data"):
        words += ["--data", DATA[script]]
    return " ".join(words)


def table(results):
    """Return the table in Markdown: seconds by the clock, and of processor time if recorded."""
    lines = ["| figure | command | agreement | runs | of the paper | seconds | of a processor |",
             "|---|---|---|---:|---:|---:|---:|"]
    for script, result in results.items():
        runs, of, clock, processor = (
            "" if value is None else f"{value:,.0f}" for value in (
                result.get("runs"), RUNS_OF_PAPER.get(script), result.get("seconds"),
                result.get("processor_seconds")))
        lines.append(f"| {name_of(Path(script))} | `{command_of(script, result)}` | "
                     f"{agreement(result)} | {runs} | {of} | {clock} | {processor} |")
    return "\n".join(lines)


def keep(results, path, seconds):
    """Add the results of scripts that did not fail to a JSON file.

    `seconds` is the time by the clock of all of them together.
    """
    kept = json.loads(path.read_text()) if path.exists() else {}
    today = datetime.date.today().isoformat()
    kept.update({script: {"date": today, "together": round(seconds, 1), **result}
                 for script, result in results.items() if "failed" not in result})
    path.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n")


PAGE = ROOT / "docs" / "explanation" / "figures.md"
INTRODUCTION = """\
# The figures of the papers

Each script of `examples/papers` reproduces one figure or table of a paper, and compares the \
paper's statements with what it finds. The *sign* agrees if the order or the direction is the \
paper's, the *size* if the number is close to the printed one. `make papers` runs all scripts in \
small versions, in minutes. `make papers-full` runs them without `--quick`, in hours: at the \
paper's size except Figures 1 and 2 of Neufeld (30 and 20 runs, and 12 tiles of 47), Figure 2 of \
Chen (5,000 of 100,000 sweeps), and lil'UCB (a twentieth of the draws). `python \
examples/papers/run.py --paper` has the paper's size there too, and takes about 160 hours of a \
processor. The results of the last run are in `examples/papers/results.json`; `python \
examples/papers/run.py --page` writes this page from it and from `examples/papers/quick.json`.

Data that may not be shipped are read with `--data`. Commands below without `--data`, of scripts \
that have this option, ran on the stand-in that the docstring of the script describes.
"""


def page(kept, quick):
    """Return the page of figures: the kept results, what differs, what was not run, the plots."""
    missing = [str(script) for script in scripts() if str(script) not in kept]
    lines = [INTRODUCTION, "## Results", "",
             f"Runs without `--quick`, {days(kept)}, two cores shared with other work, so that "
             "seconds by the clock depend on that work. Where the machine allowed fewer runs than "
             "the paper has, the columns of runs say so.", "", table(kept), ""]
    if missing:
        lines += ["Only run in their small versions so far: "
                  + ", ".join(f"`examples/papers/{name}`" for name in missing) + ".", ""]
    lines += ["## Small versions", "",
              f"`make papers`, {days(quick)}: {len(quick)} scripts in {duration(quick)}. Few runs "
              "decide little: many statements that agree above differ here, and the reverse.", "",
              table(quick), ""]
    lines += ["## Statements that differ", "", "| figure | statement | paper | here |",
              "|---|---|---|---|"]
    for script, result in kept.items():
        lines += [f"| {name_of(Path(script))} | {claim['statement']} | {claim['paper']} | "
                  f"{claim['here']} |".replace("\n", " ") for claim in result["claims"]
                  if not claim["sign"] or claim["size"] is False]
    lines += ["", "## Plots", "", *plots({**quick, **kept})]
    return "\n".join(lines).rstrip() + "\n"


def plots(results):
    """Return the lines with the plots of results, and captions."""
    lines = []
    for script, result in sorted(results.items()):
        plot = plot_of(Path(script))
        if (ROOT / plot).exists():
            size = comment_of(ROOT / plot)
            caption = f"{result['title']} {size[:1].upper() + size[1:]}".strip().rstrip(".")
            lines += [f"![{result['title']}](../images/papers/{plot.name})", "", f"*{caption}.*",
                      ""]
    return lines


def comment_of(path):
    """Return the comment in a PNG, which `figures.save_plot` writes, or ""."""
    data = path.read_bytes()
    length, found, rest = data.partition(b"tEXtComment\0")
    size = int.from_bytes(length[-4:], "big") - len(b"Comment\0")
    return rest[:size].decode("latin-1") if found else ""


def duration(results):
    """Return the processor time of results, and the time by the clock if they ran together."""
    total = sum(result["processor_seconds"] for result in results.values())
    text = f"{total:,.0f} s of processor time"
    together = {result.get("together") for result in results.values()}
    if len(together) == 1 and None not in together:
        text += f", {together.pop() / 60:.1f} minutes by the clock on two cores"
    return text


def days(results):
    """Return the first and the last date of results, or the only one."""
    dates = sorted(result["date"] for result in results.values())
    return " to ".join(dict.fromkeys((dates[0], dates[-1])))


def plot_of(script):
    """Return where the plot of a script is kept, relative to the root."""
    return Path("docs/images/papers") / f"{script.parent.name}_{script.stem}.png"


def main(argv=None):
    given = sys.argv[1:] if argv is None else list(argv)
    end = given.index("--") if "--" in given else len(given)
    parser = argparse.ArgumentParser(description="Run the figures of the papers.",
                                     epilog="Options after -- are passed to the scripts.")
    parser.add_argument("words", nargs="*", metavar="WORD",
                        help="run only scripts whose path contains a WORD")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--full", dest="size", action="store_const", const="full", default="quick",
                      help="the default sizes: hours")
    size.add_argument("--paper", dest="size", action="store_const", const="paper",
                      help="the paper's sizes: days")
    parser.add_argument("--jobs", type=int, default=2, help="scripts at once (default 2)")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="folder of the data files")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="add the results to this JSON")
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="save the plots there")
    parser.add_argument("--page", action="store_true", help="only write the page of figures")
    options = parser.parse_args(given[:end])
    if options.page:
        PAGE.write_text(page(*(json.loads((HERE / name).read_text())
                               for name in ("results.json", "quick.json"))))
        return 0
    if options.plots:
        options.plots.mkdir(parents=True, exist_ok=True)
    chosen, start = scripts(options.words), time.perf_counter()
    with ThreadPoolExecutor(options.jobs) as pool:
        found = pool.map(lambda script: run(script, options.size, options.data, options.plots,
                                            given[end + 1:]), chosen)
        results = dict(zip(map(str, chosen), found, strict=True))
    print(table(results))
    for script, result in results.items():
        if "failed" in result:
            print(f"\n{script} failed:\n{result['failed']}")
    if options.keep:
        keep(results, options.keep, time.perf_counter() - start)
    return int(any("failed" in result for result in results.values()))


if __name__ == "__main__":
    sys.exit(main())
