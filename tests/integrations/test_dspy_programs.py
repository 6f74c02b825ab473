"""best_program on programs and examples that act like those of DSPy."""

from contextvars import ContextVar

import numpy as np
import pytest

import pybandit as pb
from integrations import fakes
from pybandit.integrations.dspy import best_program

EXAMPLES = [fakes.Example(i) for i in range(400)]
PROGRAMS = [fakes.Program(level) for level in (30, 90, 60)]


def test_best_program_is_found_with_few_calls():
    result = best_program(PROGRAMS, EXAMPLES, fakes.answers, rng=1)
    assert result.best == 1 and result.decided and result.n_pulls < 400
    named = best_program(dict(zip("abc", PROGRAMS, strict=True)), iter(EXAMPLES), fakes.answers,
                         rng=1)
    assert named.names[named.best] == "b" and named.n_pulls == result.n_pulls


def test_numbers_and_bools_are_scores():
    for convert in (bool, float, np.float32):
        result = best_program(PROGRAMS, EXAMPLES, lambda example, found, convert=convert: convert(
            found.answer > 0), rng=2)
        assert result.best == 1


def test_context_of_the_caller_reaches_the_programs():
    model, seen = ContextVar("model", default="none"), set()

    def metric(example, found):
        seen.add(model.get())
        return fakes.answers(example, found)

    model.set("mine")
    best_program(PROGRAMS, EXAMPLES, metric, rng=1)
    assert seen == {"mine"}


def test_failures_end_the_race_or_count_as_told():
    class Broken(fakes.Program):
        def __call__(self, question):
            raise OSError(f"no answer to {question}")

    programs = [*PROGRAMS, Broken(0)]
    with pytest.raises(OSError, match="no answer"):
        best_program(programs, EXAMPLES, fakes.answers, rng=1)
    with pytest.warns(pb.errors.FailedCallsWarning):
        result = best_program(programs, EXAMPLES, fakes.answers, rng=1,
                              calls=pb.Calls(failed=0, retry=OSError, concurrency=32))
    assert result.best == 1 and result.n_failed_by_arm[3] > 0


@pytest.mark.parametrize("programs, devset, error, words", [
    ([PROGRAMS[0]], EXAMPLES, ValueError, "programs must have at least 2"),
    (PROGRAMS, [], ValueError, "devset must have at least"), (5, EXAMPLES, TypeError, "programs")])
def test_bad_arguments_are_refused(programs, devset, error, words):
    with pytest.raises(error, match=words):
        best_program(programs, devset, fakes.answers)
