"""Run the fuzzers on their corpora and a few thousand other inputs, as `make fuzz` does.

An input that revealed a defect stays in the corpus, and the defect has a test in its room.
"""

import re
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pybandit as pb
from fuzz import native, run, states
from fuzz.source import Choices
from fuzz.targets import TARGETS
from test_states import MUTATED

from compiler import HEADERS, compile_c

NAME = re.compile(r"\bpb_\w+")
DECLARATION = re.compile(r"\b(pb_\w+)\([^;{]*\);")
DEFINITION = re.compile(r"^(?!static)[a-zA-Z][^\n;=]*?\b(pb_\w+)\(", re.MULTILINE)

# numbers of inputs that take one to two seconds; the slow ones fit kernels or write files
RUNS = {"policies": 800, "refitting": 5, "races": 600, "count_races": 600, "sequences": 1200,
        "tables": 2000, "scores": 3000, "arms": 3000, "plates": 2000, "codec": 4000,
        "counts": 2000, "values": 3000, "stocks": 2000, "sheets": 40, "picklists": 1000,
        "cells": 4000, "studies": 250, "journals": 250, "forged": 200, "stores": 250,
        "blocks": 600, "tellers": 60, "dialects": 1000, "zarrs": 1500, "comparisons": 400,
        "neighbours": 400, "names": 1500}


@pytest.mark.parametrize("name", TARGETS)
def test_fuzzer_passes_a_few_inputs(name):
    n, failed = run.plainly(name, runs=RUNS[name])
    assert n >= RUNS[name] and not failed, failed[0]


@pytest.mark.some(8)
@pytest.mark.parametrize("name", native.HARNESSES)
def test_c_fuzzer_passes_a_few_inputs(name, kernels, tmp_path):
    """Use the compiler of pybandit, with its sanitizers."""
    done = native.driven(name, 1000, [kernels], compile_c, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]


def test_every_kernel_function_is_fuzzed():
    """Every function is called by a harness, or by a kernel that a harness calls."""
    files = {path: path.read_text() for path in native.ROOT.glob("csrc/**/*.c")}
    names = {path: set(NAME.findall(text)) for path, text in files.items()}
    defines = {path: set(DEFINITION.findall(text)) for path, text in files.items()}
    called = set(NAME.findall("".join(
        (native.HERE / "c" / f"{name}.c").read_text() for name in native.HARNESSES)))
    while True:
        more = called.union(*(names[path] for path in files if defines[path] & called))
        if more == called:
            break
        called = more
    declared = set(DECLARATION.findall("".join(path.read_text() for path in HEADERS)))
    assert len(declared) > 150 and not declared - called, declared - called


def test_every_class_with_a_state_is_fuzzed():
    made_by_numba = {pb.numba.FunctionPolicy}  # simulation/test_numba.py changes its states
    assert states.CLASSES == MUTATED - made_by_numba


def test_make_fuzz_runs_every_fuzzer():
    makefile = (native.ROOT / "Makefile").read_text()
    named = re.search(r"^FUZZED := ((?:.*\\\n)*.*)$", makefile, re.MULTILINE)[1]
    assert sorted(named.replace("\\\n", " ").split()) == sorted(TARGETS) == sorted(RUNS)


def test_failed_check_ends_the_program(tmp_path):
    """If the checks of fuzzers were compiled out, fuzzers would find nothing."""
    source, program = tmp_path / "never.c", tmp_path / "never"
    source.write_text('#include "fuzz.h"\nint LLVMFuzzerTestOneInput(const uint8_t *bytes, '
                      'size_t n)\n{\n    HOLDS(n < 40 || bytes[0] != 7);\n    return 0;\n}\n')
    folder = native.HERE / "c"
    compile_c("-O1", f"-I{folder}", source, folder / "driver.c", "-lm", "-o", program)
    done = subprocess.run([program, "4000"], capture_output=True, text=True)
    assert done.returncode != 0 and "not so: n < 40" in done.stderr


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=40))
def test_equal_bytes_give_equal_choices(content):
    def draw():
        bits = Choices(content)
        return repr([bits.below(7), bits.integer(), bits.real(), bits.below(1000), bits.take(3),
                     bits.of("abc"), bits.rest()])

    assert draw() == draw()
