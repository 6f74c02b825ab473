"""The fuzzers' own corpora again, and a few thousand inputs more: a minute of `make fuzz`.

A defect that they find keeps its input in the corpus, and has a test of its own where it belongs.
"""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz import native, run
from fuzz.source import Choices
from fuzz.targets import TARGETS

from compiler import compile_c

# so many inputs in two to three seconds each; the slow ones fit kernels or write to the disk
RUNS = {"policies": 800, "refitting": 5, "races": 250, "sequences": 1200, "tables": 2000,
        "scores": 3000, "arms": 3000, "plates": 2000, "codec": 3000, "studies": 60,
        "journals": 60, "forged": 60, "stores": 250, "blocks": 600}


@pytest.mark.parametrize("name", TARGETS)
def test_a_few_inputs(name):
    n, failed = run.plainly(name, runs=RUNS[name])
    assert n >= RUNS[name] and not failed, failed[0]


def test_a_few_inputs_of_c(tmp_path):
    """Compiled by what compiles pybandit, under its sanitizers; one test, for one compilation."""
    assert len(native.HARNESSES) == 9
    kernels = native.compiled(tmp_path, compile_c)
    for name in native.HARNESSES:
        done = native.driven(name, 2000, kernels, compile_c, tmp_path)
        assert done.returncode == 0, (name, done.stderr[-3000:])


def test_what_does_not_hold_is_heard_of(tmp_path):
    """A fuzzer whose checks are compiled out would find nothing."""
    source, program = tmp_path / "never.c", tmp_path / "never"
    source.write_text('#include "fuzz.h"\nint LLVMFuzzerTestOneInput(const uint8_t *bytes, '
                      'size_t n)\n{\n    HOLDS(n < 40 || bytes[0] != 7);\n    return 0;\n}\n')
    folder = native.HERE / "c"
    compile_c("-O1", f"-I{folder}", source, folder / "driver.c", "-lm", "-o", program)
    done = subprocess.run([program, "4000"], capture_output=True, text=True)
    assert done.returncode != 0 and "not so: n < 40" in done.stderr


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=40))
def test_choices_follow_from_the_bytes(content):
    def draw():
        bits = Choices(content)
        return repr([bits.below(7), bits.integer(), bits.real(), bits.below(1000), bits.take(3),
                     bits.of("abc"), bits.rest()])

    assert draw() == draw()
