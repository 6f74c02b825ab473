"""The C compiler of the tests. Building pybandit needs one, so tests fail without it."""

import os
import pathlib
import subprocess
import sysconfig

import pybandit as pb

ROOT = pathlib.Path(__file__).parent.parent
KERNELS = sorted((ROOT / "csrc").rglob("*.c"))
HEADERS = sorted(pathlib.Path(pb.get_include(), "pybandit").rglob("*.h"))

STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"]
SANITIZE = ["-Og", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def run(*command, **options):
    """Run a command and return its output, which is the error message if the command fails."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


def compile_c(*arguments):
    compiler = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    run(*compiler.split(), *STRICT, f"-I{pb.get_include()}", *arguments)


def compile_kernels(folder, *flags):
    """Compile the sources of csrc into a folder."""
    for kernel in KERNELS:
        compile_c(*flags, "-c", kernel, "-o", folder / f"{kernel.stem}.o")
