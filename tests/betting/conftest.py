"""Allow large error probabilities in these tests: errors must be frequent enough to count."""

import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/betting" in item.path.as_posix():
            item.add_marker(pytest.mark.filterwarnings("ignore:delta"))
