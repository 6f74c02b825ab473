"""The files that `make test` leaves to `make test-more` exist."""

import parts

from compiler import ROOT


def test_every_name_is_a_file_or_a_folder():
    for name in parts.MORE:
        path = ROOT / "tests" / name
        assert path.is_dir() if name.endswith("/") else path.is_file(), name
    assert list(parts.MORE) == sorted(parts.MORE)


def test_file_is_in_the_second_part_by_its_name_or_its_folder():
    assert parts.is_more("hostile/test_xlsx.py") and parts.is_more("hostile/")
    assert parts.is_more("studies/test_kills.py") and not parts.is_more("studies/test_study.py")
    assert not parts.is_more("hostile_other.py")
