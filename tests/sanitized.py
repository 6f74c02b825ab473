"""Which tests run on extensions with sanitizers: soon, later, or never, and why.

`make sanitize` runs what drives kernels and compiled classes, `make sanitize-slow` the rest. A test
is named by its folder, its file, or as file::function, with its parameters or without; the longest
name counts. What no list names runs soon: nothing is left out unless a line here says so.
"""

LISTS = {
    "never": {
        "cli/test_screen_export.py::test_a_million_wells_in_a_hundred_megabytes":
            "of memory, of which sanitizers take six times as much",
        "test_floors.py": "its C tests have sanitizers of their own: `make sanitize` runs it first",
        "test_packaging.py": "builds and installs wheels, which have no sanitizers",
        "embedding/test_cimport.py": "builds another package against the headers",
        "embedding/test_embed.py": "builds programs with sanitizers of their own, and samplers of"
                                   " others that know none",
        "embedding/test_linking.py": "links programs with the wheel",
        "test_blocks.py::test_the_blocks_of_a_page_run[embed.md]":
            "links a program that has no sanitizers with libraries",
        "hostile": "limits of memory and time, of which sanitizers take several times as much",
        "typed": "reads types and runs nothing",
    },
    "later": {
        **dict.fromkeys(["cli", "evaluation", "lab", "model_selection", "serving", "studies",
                         "webtests"],
                        "a room without compiled code: what it calls is driven in other rooms"),
        "fuzz/test_fuzz.py::test_c_fuzzer_passes_a_few_inputs": "programs with sanitizers of their own",
        "site": "pages, which show what rooms have tested",
        "soak": "memory over time, which sanitizers keep for themselves",
        "simulation/test_numba.py": "code that numba compiles, which no sanitizer watches",
        "test_blocks.py": "pages, which show what rooms have tested",
        "test_docstrings.py": "examples, which show what rooms have tested",
        "test_examples.py": "scripts, which show what rooms have tested",
    },
}
EVERY = {name: when for when, names in LISTS.items() for name in names}


def when(path, test):
    """When a test runs, by its path below tests/, with slashes, and its name."""
    parts = path.split("/")
    names = [f"{path}::{test}", f"{path}::{test.partition('[')[0]}",
             *("/".join(parts[:n]) for n in range(len(parts), 0, -1))]
    return next((EVERY[name] for name in names if name in EVERY), "soon")


def those_of(items, wanted, root):
    """Of each test that pytest collected below a folder, whether it runs then."""
    return [when(item.path.relative_to(root).as_posix(), item.name) == wanted
            for item in items]
