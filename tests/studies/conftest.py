"""Fixture: a study in a file, created once per module and copied for each test."""

import shutil

import pytest

from studies.cases import make


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("whole") / "study.db")
    make(path).close()
    return path


@pytest.fixture
def path(whole, tmp_path):
    return str(shutil.copy(whole, tmp_path / "study.db"))
