"""Run the C tests with other compilers and on other processors: `make portability`.

All installed toolchains are used, and the missing ones are printed. Each test program prints a
digest of the numbers that it compared and of its random words. The report names the programs for
which a toolchain gives different bits from the first one.

    python tests/portability.py               # all installed toolchains
    python tests/portability.py musl s390x    # only these
    PYBANDIT_TOOLCHAINS="gcc-15=chroot /srv/sid gcc" python tests/portability.py gcc-15
"""

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KERNELS = sorted((ROOT / "csrc").rglob("*.c"))
TESTS = sorted((ROOT / "tests").glob("*/c/test_*.c"))
# the flags of setup.py that affect numbers, and flags for warnings
STRICT = ["-O2", "-std=c11", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off",
          "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror", "-DPB_DIGEST",
          f"-I{ROOT / 'pybandit' / 'include'}"]
WORKERS = int(os.environ.get("PYBANDIT_WORKERS", "2"))


@dataclass
class Toolchain:
    """A compiler, its flags, the command that runs its programs, and the last stage it reaches."""

    name: str
    compiler: str
    flags: str = ""
    run: str = ""
    stage: str = "passed"  # "linked" or "compiled" if its programs cannot run here

    @property
    def missing(self):
        """Name of a program that is not installed, or an empty string."""
        first = (shlex.split(command)[0] for command in (self.compiler, self.run) if command)
        return next((program for program in first if not shutil.which(program)), "")


PLAIN = "-DPB_PLAIN"
MSVC = ("--target=x86_64-pc-windows-msvc -fms-compatibility-version=19.40"
        " -isystem /usr/share/mingw-w64/include")
VALGRIND = "valgrind -q --error-exitcode=1 --leak-check=full"
ENUM = "-Wno-enum-float-conversion"
ZIG = f"{shlex.quote(sys.executable)} -m ziglang cc"
TOOLCHAINS = [
    Toolchain("gcc", "gcc"),
    *(Toolchain(f"gcc-{version}", f"gcc-{version}") for version in range(13, 18)),
    # newer versions of clang warn about arithmetic with a double and an enumeration constant
    Toolchain("clang", "clang", ENUM),
    *(Toolchain(f"clang-{version}", f"clang-{version}", ENUM) for version in (16, 19, 21, 22)),
    Toolchain("plain", "gcc", PLAIN),
    Toolchain("musl", "musl-gcc", "-static"),
    Toolchain("aarch64", "aarch64-linux-gnu-gcc", "-static", "qemu-aarch64"),
    Toolchain("riscv64", "riscv64-linux-gnu-gcc", "-static", "qemu-riscv64"),
    Toolchain("s390x", "s390x-linux-gnu-gcc", "-static", "qemu-s390x"),
    Toolchain("armhf", "arm-linux-gnueabihf-gcc", "-static", "qemu-arm"),
    # the isfinite of MinGW is a macro that contains a conversion to float
    Toolchain("mingw", "x86_64-w64-mingw32-gcc", "-static -Wno-float-conversion", "wine"),
    Toolchain("msvc", "clang", MSVC, stage="compiled"),
    Toolchain("macos-arm", ZIG, f"-target aarch64-macos {ENUM}", stage="linked"),
    Toolchain("macos-intel", ZIG, f"-target x86_64-macos {ENUM}", stage="linked"),
    Toolchain("valgrind", "gcc", "-g", VALGRIND),
    Toolchain("analyzer", "gcc", f"-fanalyzer {PLAIN}", stage="compiled"),
    Toolchain("tidy", "clang-tidy", PLAIN, stage="compiled"),
]


def known():
    """Return the toolchains above and those of PYBANDIT_TOOLCHAINS, one name=compiler per line."""
    lines = filter(None, os.environ.get("PYBANDIT_TOOLCHAINS", "").splitlines())
    added = [Toolchain(*line.split("=", 1)) for line in lines]
    new = {toolchain.name for toolchain in added}
    for one in TOOLCHAINS:
        if one.compiler == ZIG and not importlib.util.find_spec("ziglang"):
            one.compiler = "zig"
    return [one for one in TOOLCHAINS if one.name not in new] + added


def call(*command):
    """Return the output of a command; raise RuntimeError with it if the command fails."""
    environment = {**os.environ, "WINEDEBUG": "-all"}
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, env=environment)
    if done.returncode:
        text = " ".join(map(str, command))
        raise RuntimeError(f"{text}: exit status {done.returncode}, must be 0\n"
                           f"{done.stdout}{done.stderr}")
    return done.stdout.strip()


def compile_one(toolchain, source, made):
    """Compile a source; clang-tidy only checks it."""
    flags = [*STRICT, *shlex.split(toolchain.flags)]
    if toolchain.name == "tidy":
        call(toolchain.compiler, "-quiet", source, "--", *flags)
    else:
        call(*shlex.split(toolchain.compiler), *flags, "-c", source, "-o", made)


def run_one(toolchain, source, kernels, folder):
    """Return the digest of a test, or the error that stopped it."""
    made, program = folder / f"{source.stem}.o", folder / f"{source.stem}.exe"
    try:
        compile_one(toolchain, source, made)
        call(*shlex.split(toolchain.compiler), *shlex.split(toolchain.flags), made, *kernels,
             "-lm", "-o", program)
        return call(*shlex.split(toolchain.run), program) if toolchain.stage == "passed" else ""
    except RuntimeError as error:
        return error


def digests(toolchain, folder):
    """Return the digest or error of each test; of each kernel, if the toolchain cannot link."""
    made = [folder / f"{kernel.stem}.o" for kernel in KERNELS]
    with ThreadPoolExecutor(WORKERS) as threads:
        compiled = [threads.submit(compile_one, toolchain, *pair)
                    for pair in zip(KERNELS, made, strict=True)]
        errors = {kernel.stem: one.exception()
                  for kernel, one in zip(KERNELS, compiled, strict=True) if one.exception()}
        if errors or toolchain.stage == "compiled":
            return {kernel.stem: errors.get(kernel.stem, "") for kernel in KERNELS}
        found = threads.map(lambda source: run_one(toolchain, source, made, folder), TESTS)
        return dict(zip([source.stem for source in TESTS], found, strict=True))


def report(toolchain, found, seconds, reference):
    """Print a line for a toolchain and its first error; return True if all passed."""
    errors = {name: text for name, text in found.items() if isinstance(text, RuntimeError)}
    other = [name for name, text in found.items()
             if name not in errors and text and text != reference.get(name, text)]
    bits = f"; other bits in {', '.join(other)}" if other else ""
    print(f"{toolchain.name}: {len(found) - len(errors)} of {len(found)} {toolchain.stage},"
          f" {seconds:.0f} s{bits}", flush=True)
    if errors:
        print(f"failed: {', '.join(errors)}\n{next(iter(errors.values()))}", flush=True)
    return not errors


def wanted(names):
    """Return the toolchains with these names, in the same order, or all."""
    found = {toolchain.name: toolchain for toolchain in known()}
    return [found[name] for name in names] or [*found.values()]


def main(names):
    """Run the named toolchains, or all; return True if some ran and all passed."""
    reference, good = {}, True
    for toolchain in wanted(names):
        if toolchain.missing:
            print(f"{toolchain.name}: no {toolchain.missing} here, left out", flush=True)
            good &= not names
            continue
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="portability") as folder:
            found = digests(toolchain, Path(folder))
        good &= report(toolchain, found, time.monotonic() - start, reference)
        reference = reference or found
    return good and bool(reference)


if __name__ == "__main__":
    sys.exit(not main(sys.argv[1:]))
