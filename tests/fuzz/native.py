"""Run the C fuzzers, each for a number of seconds::

    python tests/fuzz/native.py sampler accept --seconds 60

With clang, libFuzzer searches guided by coverage. With another C compiler, a driver changes files
of the corpus at random. Both use the address and undefined-behaviour sanitizers.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
FOUND = ROOT / "build" / "fuzz"
HARNESSES = sorted(path.stem for path in (HERE / "c").glob("*.c") if path.stem != "driver")
FLAGS = ["-std=c11", "-O1", "-g", "-fno-omit-frame-pointer", f"-I{ROOT}/pybandit/include",
         # GCC defines it, clang does not; without it, kernels are compiled for two processors
         "-D__SANITIZE_ADDRESS__=1",
         # tracing every comparison takes two thirds of the time and serves to find magic numbers;
         # kernels have none
         "-fno-sanitize-coverage=trace-cmp"]
SANITIZERS = "address,undefined"
# -O0, because for a few thousand inputs, compilation dominates the time
SANITIZE = ["-O0", "-fsanitize=" + SANITIZERS, "-fno-sanitize-recover=all"]


def clang():
    """Return the flags of clang's libFuzzer, or None if it is not installed."""
    if not shutil.which("clang"):
        return None
    probe = subprocess.run(["clang", "-fsanitize=fuzzer," + SANITIZERS, "-x", "c", "-", "-o",
                            "/dev/null"], capture_output=True, text=True,
                           input="int LLVMFuzzerTestOneInput(void) { return 0; }")
    return None if probe.returncode else "-fsanitize=fuzzer-no-link," + SANITIZERS


def kernels(sanitize):
    """Return an archive of the kernels, compiled once for all fuzzers."""
    folder = FOUND / "kernels"
    folder.mkdir(parents=True, exist_ok=True)
    headers = [*(ROOT / "pybandit/include").rglob("*.h"), *(ROOT / "csrc").rglob("*.h")]
    newest, made = max(path.stat().st_mtime for path in [*headers, HERE / "native.py"]), []
    for source in sorted((ROOT / "csrc").rglob("*.c")):
        made.append(folder / f"{source.parent.name}-{source.stem}.o")
        if (not made[-1].exists()
                or made[-1].stat().st_mtime < max(newest, source.stat().st_mtime)):
            subprocess.run(["clang", *FLAGS, sanitize, "-fno-sanitize-recover=all", "-c", source,
                            "-o", made[-1]], check=True)
    archive = folder / "kernels.a"
    archive.unlink(missing_ok=True)
    subprocess.run(["ar", "rcs", archive, *made], check=True)
    return archive


def steered(name, sanitize, seconds, runs):
    """Run a fuzzer by libFuzzer up to both limits; return the number of runs and the status."""
    program, grown = FOUND / f"{name}.steered", FOUND / name
    grown.mkdir(parents=True, exist_ok=True)
    subprocess.run(["clang", *FLAGS, sanitize.replace("fuzzer-no-link", "fuzzer"),
                    "-fno-sanitize-recover=all", HERE / "c" / f"{name}.c", kernels(sanitize),
                    "-lm", "-o", program], check=True)
    corpus = HERE / "corpus" / name
    log = FOUND / f"{name}.log"
    with open(log, "w") as file:
        done = subprocess.run([program, grown, *([corpus] if corpus.exists() else []),
                               f"-max_total_time={seconds}", f"-runs={runs}", "-timeout=10",
                               "-max_len=512",
                               "-detect_leaks=0",  # harnesses allocate no memory
                               "-print_final_stats=1", f"-artifact_prefix={FOUND}/{name}-"],
                              stderr=file)
    said = log.read_text(errors="replace")
    if done.returncode:
        print(said[-4000:])
    runs = re.search(r"number_of_executed_units: (\d+)", said)  # missing if it was killed
    return int(runs[1]) if runs else 0, done.returncode


def compiled(folder, compile_c):
    """Compile the kernels for the driver; `compile_c` takes the arguments of a compiler."""
    made = []
    for source in sorted((ROOT / "csrc").rglob("*.c")):
        made.append(folder / f"{source.stem}.o")
        compile_c(*SANITIZE, "-c", source, "-o", made[-1])
    return made


def driven(name, runs, objects, compile_c, folder):
    """Run a fuzzer by the driver."""
    program = folder / f"{name}.driven"
    compile_c(*SANITIZE, HERE / "c" / f"{name}.c", HERE / "c" / "driver.c", *objects, "-lm", "-o",
              program)
    seeds = sorted((HERE / "corpus" / name).glob("*"))
    return subprocess.run([program, str(runs), *seeds], capture_output=True, text=True)


def plain_c(*arguments):
    subprocess.run(["cc", "-std=c11", f"-I{ROOT}/pybandit/include", *arguments], check=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=HARNESSES)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--runs", type=int, default=-1, help="maximum number of runs per fuzzer")
    options = parser.parse_args()
    sanitize, failed, objects = clang(), False, None
    FOUND.mkdir(parents=True, exist_ok=True)
    for name in options.names:
        if sanitize:
            runs, code = steered(name, sanitize, options.seconds, options.runs)
        else:
            runs = 5_000 * options.seconds
            objects = objects or compiled(FOUND, plain_c)
            done = driven(name, runs, objects, plain_c, FOUND)
            code = done.returncode
            print(done.stderr[-4000:], end="")
        print(f"{name}: {runs:,} runs{', failed' if code else ''}", flush=True)
        failed |= bool(code)
    sys.exit(failed)


if __name__ == "__main__":
    main()
