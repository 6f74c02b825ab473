"""The same seed gives the same results as in the release that wrote golden_draws.json."""

import json
import warnings

import pytest

from golden_draws import DRAWS, GOLDEN, golden
from public_classes import CLASSES, FUNCTIONS

# Functions without results of their own: they call listed functions, or only a user's function.
BY_OTHERS = {"best_of_pairs", "power_curves", "rank_by_pairs", "compare", "best_of_async",
             "FunctionEnvironment"}


@pytest.fixture(scope="module")
def now():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of a chain that reads all of its few factors
        return golden()


@pytest.mark.parametrize("kind", ["policies", "races", "draws"])
def test_results_equal_those_of_the_release(kind, now):
    """If a change is deliberate, describe it in the changelog and write golden_draws.json again."""
    before = json.loads(GOLDEN.read_text())[kind]
    found = json.loads(json.dumps(now[kind]))
    assert found.keys() == before.keys()
    assert {name: found[name] for name in found if found[name] != before[name]} == {}


def test_everything_that_draws_is_tested():
    """The lists of policies and races are complete by the tests of states."""
    drawing = {name for name, one in {**CLASSES, **FUNCTIONS}.items()
               if "rng : " in (one.__doc__ or "")}
    drawing |= {name for name, one in CLASSES.items() for method in ("pull", "sample", "step")
                if "rng : " in (getattr(getattr(one, method, None), "__doc__", None) or "")}
    policies = {name for name, one in CLASSES.items() if hasattr(one, "from_state")}
    assert drawing - policies - BY_OTHERS - {"Environment"} <= set(DRAWS)
