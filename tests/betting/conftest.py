"""Large error probabilities are used on purpose: errors must happen to be counted."""

import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/betting" in item.path.as_posix():
            item.add_marker(pytest.mark.filterwarnings("ignore:delta"))
