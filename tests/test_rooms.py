"""Imports between rooms follow the tables of CONTRIBUTING.md.

This covers imports in Python and Cython and includes in C; imports are not circular. Every kernel
has a header, a C test and a reference implementation.
"""

import ast
import graphlib
import re

from compiler import HEADERS, KERNELS, ROOT
from sources import of_sources

PACKAGE = ROOT / "pybandit"
pytestmark = of_sources
IMPORT = re.compile(
    r"^ *(?:from (pybandit[\w.]*) c?import (\w+|\()|c?import (pybandit[\w.]*))", re.M)


def table(of="room"):
    """Return, for each room, the rooms that it may use."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    (rows,) = re.findall(rf"\| {of} \| may use .*\n\|[-| ]*\n((?:\|.*\n)+)", text)
    used = {}
    for row in rows.splitlines():
        room, others = (re.findall(r"`(\w+)`", cell) for cell in row.split("|")[1:3])
        used[room[0]] = set(others)
    return used


def sources():
    return [path for path in sorted(PACKAGE.rglob("*"))
            if path.suffix in (".py", ".pyx", ".pxd") and path.parent != PACKAGE]


def room_of(path, root=PACKAGE):
    return path.relative_to(root).parts[0]


def imported(path):
    """Return the modules of this package that a file imports."""
    text = path.read_text()
    if path.suffix != ".py":
        text = re.sub(r'"""(?:.|\n)*?"""', "", text)
        return {f"{start}.{name}".rstrip(".(") if start else whole
                for start, name, whole in IMPORT.findall(text)}
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "pybandit":
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("pybandit")}
    return found


def test_table_names_every_room_and_has_no_cycle():
    used = table()
    assert set(used) == {path.name for path in PACKAGE.iterdir()
                         if (path / "__init__.py").exists()}
    assert all(others <= set(used) for others in used.values())
    tuple(graphlib.TopologicalSorter(used).static_order())  # raises if there is a cycle
    assert not any("cli" in others for others in used.values())


# Rooms of programs that run for weeks, which the library must not import.
UPSTAIRS = {"studies", "report", "lab", "webtests", "serving", "cli"}


def test_library_does_not_import_rooms_of_long_running_programs():
    used = table()
    assert UPSTAIRS < set(used) and len(set(used) - UPSTAIRS) == 12
    for room, others in used.items():
        assert room in UPSTAIRS or not others & UPSTAIRS, room
    assert not used["studies"] & {"report", "lab", "webtests", "tables"}
    assert used["report"] == {"_shared"}


def test_rooms_import_only_rooms_allowed_by_the_table():
    used, seen = table(), 0
    for path in sources():
        room = room_of(path)
        for name in imported(path):
            other = (name.split(".") + ["the public face"])[1]
            assert other in {room, *used[room]}, f"{path.relative_to(ROOT)} imports {name}"
            seen += other != room
    assert seen > 100


def test_folders_of_policies_use_only_folders_allowed_by_the_table():
    used, seen = table("folder of `policies`"), 0
    tuple(graphlib.TopologicalSorter(used).static_order())  # raises if there is a cycle
    room = PACKAGE / "policies"
    assert set(used) == {path.parent.name for path in room.glob("*/__init__.py")}
    named = [(path, name.split(".")[2:]) for path in sources() for name in imported(path)
             if name.startswith("pybandit.policies.") and path.parent.parent == room]
    for root in (ROOT / "csrc" / "policies", PACKAGE / "include" / "pybandit" / "policies"):
        named += [(path, [folder]) for path in root.rglob("*.[ch]") for folder in
                  re.findall(r'^ *# *include "pybandit/policies/(\w+)/', path.read_text(), re.M)]
    for path, (other, *_) in named:
        folder = path.parent.name
        assert other in {"_csrc", folder, *used[folder]}, f"{path.relative_to(ROOT)}: {other}"
        seen += other in used[folder]
    assert seen > 50


def test_imports_are_not_circular():
    modules = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in sources()}
    graph = {}
    for path, module in modules.items():
        targets = set()
        for name in imported(path):
            while name not in modules.values() and "." in name:
                name = name.rpartition(".")[0]
            targets.add(name)
        graph.setdefault(module, set()).update(targets - {module})
    tuple(graphlib.TopologicalSorter(graph).static_order())


def test_kernels_include_only_rooms_allowed_by_the_table():
    used, seen = table(), 0
    include, csrc = PACKAGE / "include", ROOT / "csrc"
    files = [(path, csrc) for path in [*KERNELS, *csrc.rglob("*.h")]]
    files += [(path, include / "pybandit") for path in HEADERS]
    for path, root in files:
        room = room_of(path, root)
        for name in re.findall(r'^ *# *include "([\w./]+)"', path.read_text(), re.M):
            public = name.startswith("pybandit/")
            other = name.split("/")[1] if public else room_of((path.parent / name).resolve(), root)
            assert other in {room, *used[room]}, f"{path.relative_to(ROOT)} includes {name}"
            seen += other != room
    assert seen > 10


def test_every_kernel_has_a_header_a_test_and_a_reference_in_its_folder():
    twins = {}
    for path in (ROOT / "tests").glob("*/reference/*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "TWIN_OF":
                for noun in ast.literal_eval(node.value):
                    twins.setdefault(noun, set()).add(path.parts[-3])
    used = table()
    for kernel in KERNELS:
        folder, noun = kernel.parent.relative_to(ROOT / "csrc"), kernel.stem
        room = folder.parts[0]
        assert (PACKAGE / folder / "__init__.py").exists(), folder
        assert (PACKAGE / "include" / "pybandit" / folder / f"{noun}.h").exists(), noun
        assert (ROOT / "tests" / room / "c" / f"test_{noun}.c").exists(), noun
        # the reference implementation of a shared kernel is in a room that uses it
        assert any(home == room or room == "_shared" and room in used[home]
                   for home in twins.pop(noun, ())), f"{noun} has no reference implementation"
    assert not twins
