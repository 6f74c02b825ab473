"""Run one of the Python fuzzers for a number of seconds::

    python tests/fuzz/run.py policies --seconds 60

If atheris is installed, it searches guided by coverage. Otherwise, or with --plain, files of the
corpus and inputs found earlier are changed at random. Failing inputs are saved in build/fuzz/, and
their names are printed.
"""

import argparse
import faulthandler
import os
import pathlib
import sys
import time
import warnings

import numpy as np

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent)]
CORPUS, FOUND = HERE / "corpus", HERE.parent.parent / "build" / "fuzz"
LONGEST = 10  # limit in seconds per input; a longer run counts as a hang


def target_of(name):
    """Return the function of a fuzzer, which takes bytes."""
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", module="sklearn|scipy")
    warnings.filterwarnings("ignore", "delta is the probability of an error")
    from fuzz import targets

    return targets.TARGETS[name]


def seeds_of(name, folders):
    """Return the inputs in the corpora of a fuzzer."""
    paths = [path for folder in folders for path in sorted((folder / name).glob("*"))]
    return [path.read_bytes() for path in paths] or [b""]


def mutant(rng, seeds):
    """Return a seed with a few bytes changed, removed or inserted, or random bytes."""
    seed = bytearray(seeds[rng.integers(len(seeds))])
    if rng.random() < 0.3 or not seed:
        return rng.bytes(int(rng.integers(1, 60)))
    for _ in range(rng.integers(1, 6)):
        at = int(rng.integers(0, len(seed) + 1))
        kind = rng.integers(5)
        if kind == 0:
            seed[at:at] = rng.bytes(int(rng.integers(1, 9)))
        elif kind == 1:
            del seed[at:at + int(rng.integers(1, 9))]
        elif kind == 2:
            other = seeds[rng.integers(len(seeds))]
            seed[at:] = other[int(rng.integers(0, len(other) + 1)):]
        else:
            seed[at:at + 1] = rng.bytes(1) if kind == 3 else bytes([rng.choice(list(b',;"\n.-e0'))])
    return bytes(seed)


def plainly(name, seconds=np.inf, runs=2**62, seed=1, stop=True, folders=(CORPUS,)):
    """Run without coverage; return the number of runs and the failures as (bytes, error)."""
    check, seeds, rng = target_of(name), seeds_of(name, folders), np.random.default_rng(seed)
    begin, n, failed = time.monotonic(), 0, []
    for content in seeds:
        check(content)
    while n < runs and time.monotonic() - begin < seconds:
        content = mutant(rng, seeds)
        n += 1
        try:
            check(content)
        except Exception as error:  # fuzzers catch the errors that are allowed
            failed.append((content, error))
            if stop:
                break
    return n + len(seeds), failed


def with_hangs_found(name, seconds, runs, seed, stop):
    """Run without coverage; write each input to a file first, to keep one that hangs or crashes."""
    FOUND.mkdir(parents=True, exist_ok=True)
    path = FOUND / f"{name}.last"
    check = target_of(name)

    def watched(content):
        with open(handle, "r+b", closefd=False, buffering=0) as file:
            file.seek(0)
            file.write(len(content).to_bytes(4, "little") + content)
        faulthandler.dump_traceback_later(LONGEST, exit=True)
        check(content)
        faulthandler.cancel_dump_traceback_later()

    handle = os.open(path, os.O_RDWR | os.O_CREAT)
    from fuzz import targets

    targets.TARGETS[name] = watched
    faulthandler.enable()
    return plainly(name, seconds, runs, seed, stop, (CORPUS, FOUND))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--runs", type=int, default=-1, help="maximum number of runs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plain", action="store_true", help="without atheris")
    parser.add_argument("--all", action="store_true", help="continue after a failure (plain)")
    options = parser.parse_args()
    try:
        if options.plain:
            raise ImportError
        import atheris
    except ImportError:
        runs = options.runs if options.runs >= 0 else 2**62
        n, failed = with_hangs_found(options.target, options.seconds, runs, options.seed,
                                     not options.all)
        print(f"{options.target}: {n:,} runs, {len(failed)} failed")
        shown = set()
        for content, error in failed:
            kind = repr(error)[:90]
            if kind not in shown:
                shown.add(kind)
                path = FOUND / f"{options.target}-{len(shown)}"
                path.write_bytes(content)
                print(path, repr(error)[:300])
        sys.exit(bool(failed))
    FOUND.mkdir(parents=True, exist_ok=True)
    grown = FOUND / options.target
    grown.mkdir(exist_ok=True)
    with atheris.instrument_imports(include=["pybandit"]):
        check = target_of(options.target)
    corpus = CORPUS / options.target
    atheris.Setup([sys.argv[0], str(grown), *([str(corpus)] if corpus.exists() else []),
                   "-max_len=4096",
                   f"-max_total_time={options.seconds:.0f}", f"-runs={options.runs}",
                   f"-timeout={LONGEST}", f"-seed={options.seed}",
                   f"-artifact_prefix={FOUND}/{options.target}-", "-print_final_stats=1",
                   "-rss_limit_mb=4096", "-verbosity=1"], check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
