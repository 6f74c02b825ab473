"""Costly tests run on some of their examples or seeds; `make test-slow` runs all."""

import os

import pytest
from hypothesis import settings

ALL = os.environ.get("PYBANDIT_EXAMPLES") == "all"


def examples(some, *, of, **options):
    """Return `settings` with `some` examples, or with `of` examples if all tests are requested."""
    run = settings(max_examples=of if ALL else some, deadline=None, **options)
    return lambda test: pytest.mark.examples(run(test))


def part(some, *, of):
    """Return the number of seeds of a test marked `examples`: `some`, or `of` in full runs."""
    return of if ALL else some
