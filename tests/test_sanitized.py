"""The runs with sanitizers cover all tests, and the lists name existing ones."""

import ast
from types import SimpleNamespace

import pytest

from compiler import ROOT
from sanitized import EVERY, LISTS, those_of, when
from sources import of_sources

TESTS = ROOT / "tests"


def functions_of(path):
    """Return the names of all functions in a file, including methods."""
    nodes = ast.walk(ast.parse(path.read_text()))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef)}


def test_the_longest_name_counts():
    assert when("cli/test_screen.py", "test_x") == "later"
    assert when("betting/test_cli.py", "test_x") == "soon"
    assert when("fuzz/test_fuzz.py", "test_c_fuzzer_passes_a_few_inputs") == "later"
    assert when("fuzz/test_fuzz.py", "test_c_fuzzer_passes_a_few_inputs_more") == "soon"
    assert when("embedding/test_embed.py", "test_x[1]") == "never"
    assert when("test_blocks.py", "test_the_blocks_of_a_page_run[embed.md]") == "never"
    assert when("test_blocks.py", "test_the_blocks_of_a_page_run[embedding.md]") == "later"
    assert when("embedding/test_embedding.py", "test_x") == "soon"


@pytest.mark.parametrize("name", EVERY)
def test_named_tests_exist(name):
    path, _, test = name.partition("::")
    assert (TESTS / path).exists()
    assert not test or test.partition("[")[0] in functions_of(TESTS / path)


def test_a_name_is_in_one_list_with_a_reason():
    assert sum(map(len, LISTS.values())) == len(EVERY)
    assert all(len(reason.split()) > 4 for names in LISTS.values() for reason in names.values())


@of_sources
def test_rooms_that_run_later_have_no_compiled_code():
    rooms = {name for name in LISTS["later"] if (ROOT / "pybandit" / name).is_dir()}
    assert {"cli", "studies"} <= rooms
    for room in rooms:
        assert not list((ROOT / "pybandit" / room).glob("**/*.pyx"))
        assert not (ROOT / "csrc" / room).exists()


def test_soon_later_and_never_cover_all_tests():
    tests = [SimpleNamespace(path=path, name=name)
             for path in sorted(TESTS.glob("**/test_*.py")) for name in sorted(functions_of(path))]
    parts = {wanted: list(those_of(tests, wanted, TESTS)) for wanted in ("soon", "later", "never")}
    for at, test in enumerate(tests):
        assert sum(mask[at] for mask in parts.values()) == 1, test
    assert all(map(any, parts.values())) and len(parts["soon"]) == len(tests) > 2000
