"""Of a dear test by Hypothesis `make test` runs some examples, and `make test-slow` all."""

import os

import pytest
from hypothesis import settings

ALL = os.environ.get("PYBANDIT_EXAMPLES") == "all"


def examples(some, *, of, **options):
    """`settings` of a test: so many of its examples, where not all are asked for."""
    run = settings(max_examples=of if ALL else some, deadline=None, **options)
    return lambda test: pytest.mark.examples(run(test))
