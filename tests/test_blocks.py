"""Code blocks of pages run, and print the output on the page."""

import re
import shutil

import pytest

import blocks
from compiler import ROOT
from sources import of_sources

PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("**/*.md")),
         *sorted((ROOT / "examples").rglob("*.md"))]
# leave out docs/gallery, into which the build of the site writes copies
PAGES = [page for page in PAGES if ROOT / "docs" / "gallery" not in page.parents]
WITH_CODE = [page for page in PAGES if "```" in page.read_text()]
pytestmark = pytest.mark.skipif(not WITH_CODE or shutil.which("bash") is None,
                                reason="no pages beside the tests, or no shell")


@pytest.fixture
def folder(tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    return work


# slow, because tutorials cover most of these pages in a quarter of the time
LONG = {"benchmark_policies.md", "costly_evaluations.md", "inside_samplers.md", "model_search.md",
        "plate_screen.md", "simulation.md", "tables.md"}


@pytest.mark.parametrize("page", [
    pytest.param(page, id=page.name, marks=[pytest.mark.slow] * (page.name in LONG))
    for page in WITH_CODE])
def test_the_blocks_of_a_page_run(page, folder):
    # the second run must not find the study files of the first
    again = page.name in ("README.md", "studies.md", "screens.md", "webtests.md")
    n = blocks.read(page, folder, again, compiled=False)
    assert n or page.name in ("CONTRIBUTING.md", "install.md")  # their blocks only install
    if page.name == "plate_screen.md":
        assert n == 14 and (folder / "report.html").exists()
        assert [path.name for path in folder.glob("*.db")] == ["study.db"]


@pytest.mark.parametrize("page, number", [
    pytest.param(page, number, id=f"{page.name}-{number}")
    for page in WITH_CODE
    for number in range(len(re.findall(r"^```c(?:ython)?$", page.read_text(), re.MULTILINE)))])
def test_a_block_of_a_page_compiles(page, number, folder):
    compiled = [block for block in blocks.blocks_of(page.read_text())
                if block.kind in blocks.COMPILED]
    assert blocks.Reader(page, folder).carry_out(compiled[number])


def test_targets_of_links_exist():
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@of_sources
def test_files_named_by_pages_exist():
    for page in PAGES:
        if page.name != "CHANGELOG.md":  # the changelog may name files that no longer exist
            named = re.findall(r"\b(?:bench|csrc|docs|examples|pybandit|tests)/[\w/]+\.\w+\b",
                               page.read_text())
            missing = {path for path in named if not (ROOT / path).exists()
                       and not (ROOT / "pybandit" / "include" / path).exists()}
            assert not missing, f"{page.name}: {missing}"


def test_wrong_output_on_a_page_is_an_error(folder):
    assert blocks.shows("a\nb 12 c\n", "a\nb … c\n")
    assert not blocks.shows("a\n", "a\nb\n") and not blocks.shows("b\na\n", "a\nb\n")
    page = folder / "page.md"
    for code in ["```python\nprint(1)\n```\n\nprints `2`.\n", "```python\n1 / 0\n```\n",
                 "```sh\nfalse\n```\n", "```c\nint f(void) { return x; }\n```\n",
                 "```cython\ncdef int x = ...\ncdef\n```\n", "```\nnothing\n```\n",
                 "```sh\necho 1\n```\n\n```text\n2\n```\n"]:
        page.write_text(code)
        with pytest.raises(AssertionError):
            blocks.read(page, folder)
    page.write_text("```python\nx = 1\n```\nand\n```python\nprint(x)\n```\n\nprints `1`.\n")
    assert blocks.read(page, folder) == 2
