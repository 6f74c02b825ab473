"""Run each C test in eight threads at once, under ThreadSanitizer::

    python tests/threads/native.py           # all tests, and the structs that threads may share
    python tests/threads/native.py planted   # with a data race in a kernel: must fail
    python tests/threads/native.py extension # builds that kernel into build/tsan/planted

Kernels have no static state: threads share only the memory that they are given.
"""

import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
TESTS = sorted((ROOT / "tests").glob("*/c/test_*.c"))
FLAGS = ["-std=c11", "-O1", "-g", "-fsanitize=thread", "-pthread", f"-I{ROOT}/pybandit/include"]
# shadow memory of TSan in gcc 12 may overlap the addresses of programs on newer kernels
RUN = ["setarch", platform.machine(), "-R"]
# the kernel that counts its calls in a static variable
KERNEL, LINE = "race.c", "pb_status pb_race_run("
PLANTED = "static int64_t n_calls;\n"


def cc(*arguments):
    """Compile with ThreadSanitizer."""
    command = [*os.environ.get("CC", "cc").split(), *FLAGS, *map(str, arguments)]
    subprocess.run(command, check=True)


def planted(source):
    """Return the text of a kernel whose function `LINE` counts its calls in a static variable."""
    text = source.read_text()
    head, line, rest = text.partition(LINE)
    assert line, f"{source} has no {LINE!r}"
    arguments, brace, body = rest.partition("\n{\n")
    return f"{head}{PLANTED}{line}{arguments}{brace}    n_calls++;\n{body}"


def kernels(folder, plant=False):
    """Compile all kernels; return the object files."""
    made = []
    for source in sorted((ROOT / "csrc").rglob("*.c")):
        made.append(folder / f"{source.stem}.o")
        if plant and source.name == KERNEL:
            changed = folder / KERNEL
            changed.write_text(planted(source))
            cc(f"-I{source.parent}", "-c", changed, "-o", made[-1])
        else:
            cc("-c", source, "-o", made[-1])
    return made


def by_eight(source, objects, folder):
    """Run a C test in eight threads; return the exit status and the reports."""
    test, program = folder / f"{source.stem}.test.o", folder / source.stem
    if source.stem == "shared":
        cc(source, *objects, "-lm", "-o", program)
    else:
        cc("-Dmain=alone", "-c", source, "-o", test)
        cc(test, HERE / "c" / "eight.c", *objects, "-lm", "-o", program)
    done = subprocess.run([*RUN, program], capture_output=True, text=True,
                          env=os.environ | {"TSAN_OPTIONS": "halt_on_error=1"})
    return done.returncode, done.stderr


def planted_extension():
    """Copy build/tsan/lib, and build its racing extension with the kernel above."""
    import numpy

    built = ROOT / "build" / "tsan"
    (objects,) = built.glob("temp.*")
    shutil.copytree(built / "lib", built / "planted", dirs_exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        changed, kernel = pathlib.Path(folder, KERNEL), pathlib.Path(folder, "race.o")
        changed.write_text(planted(ROOT / "csrc" / "racing" / KERNEL))
        cc("-fPIC", f"-I{ROOT}/csrc/racing", "-c", changed, "-o", kernel)
        (module,) = (built / "planted" / "pybandit" / "racing").glob("_track.*.so")
        cc("-shared", objects / "pybandit" / "racing" / "_track.o", kernel, f"-L{objects}",
           "-lpybandit", f"-L{pathlib.Path(numpy.random.__file__).parent / 'lib'}",
           "-lnpyrandom", "-lm", "-o", module)


def main():
    if "extension" in sys.argv[1:]:
        return planted_extension()
    plant, failed = "planted" in sys.argv[1:], []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        objects = kernels(folder, plant)
        sources = [HERE / "c" / "shared.c", *([] if plant else TESTS)]
        for source in sources:
            status, said = by_eight(source, objects, folder)
            if status:
                failed.append(source.stem)
                print(f"{source.stem}: {status}\n{said[:3000]}", flush=True)
    print(f"{len(sources)} C tests in eight threads, {len(failed)} failed {failed or ''}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
