"""Tests that take long run on some examples, or seeds; `make test-slow` runs all."""

import os

import pytest
from hypothesis import settings

ALL = os.environ.get("PYBANDIT_EXAMPLES") == "all"


def examples(some, *, of, **options):
    """`settings` of a test: so many of its examples, where not all are asked for."""
    run = settings(max_examples=of if ALL else some, deadline=None, **options)
    return lambda test: pytest.mark.examples(run(test))


def part(some, *, of):
    """So many seeds of a test marked `examples`, where not all are asked for."""
    return of if ALL else some
