"""The gallery: the build runs short examples, and shows the saved output of the others.

The output and the plot of long examples are NAME.txt and NAME.png in docs/gallery_saved/; the first
line of NAME.txt is the command. Short examples are run with --quick and --out, if the command in
their docstring has these options.
"""

import re
import shutil
import textwrap
from pathlib import Path

DOCS = Path(__file__).parents[1]
EXAMPLES, SAVED, GALLERY = DOCS.parent / "examples", DOCS / "gallery_saved", DOCS / "gallery"
DRAWN = DOCS.parent / "build" / "drawn.png"
# modules that examples import
HELPERS = ("score_tables",)


def is_shown(path):
    """Return True if the gallery has a page for this file."""
    return (path.suffix == ".py" and path.exists() and path.parent.parent == EXAMPLES
            and path.parent.name != "papers" and path.stem not in HELPERS)


def is_run(name):
    """Return True if the build runs this example."""
    return not (SAVED / f"{name}.txt").exists()


def arguments_of(path):
    """Return the arguments of an example in the build, from the command in its docstring."""
    usage = re.search(r"^    python examples/.*(\n {8}.*)*", path.read_text(), re.MULTILINE)[0]
    known = {"[--quick]": ["--quick"], "[n_runs]": ["40"], "[--out": ["--out", str(DRAWN)],
             "[picture]": [str(DRAWN)]}
    return [word for option, words in known.items() if option in usage for word in words]


def arguments(gallery_conf, script_vars):
    """Return the arguments of an example; its plot goes to `DRAWN`."""
    DRAWN.unlink(missing_ok=True)
    file = Path(script_vars["src_file"]).resolve()
    script_vars["example_globals"]["__file__"] = str(file)  # as Python does for a script
    return arguments_of(file)


def picture(block, block_vars, gallery_conf):
    """Return the plot written by an example as RST."""
    from sphinx_gallery.scrapers import figure_rst

    if not DRAWN.exists():
        return ""
    path = next(block_vars["image_path_iterator"])
    shutil.move(DRAWN, path)
    return figure_rst([path], gallery_conf["src_dir"])


SETTINGS = {
    "examples_dirs": str(EXAMPLES), "gallery_dirs": "gallery",
    "filename_pattern": "/(?!(" + "|".join(path.stem for path in sorted(SAVED.glob("*.txt")))
                        + r")\.py$)\w+\.py$",
    "ignore_pattern": rf"^({'|'.join(HELPERS)}|setup)\.py$",
    "reset_argv": "gallery.arguments", "image_scrapers": ("gallery.picture",),
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True, "capture_repr": (), "inspect_global_variables": False,
    "download_all_examples": False, "notebook_extensions": set(), "show_signature": False,
    "write_computation_times": False, "min_reported_time": 1e9, "reset_modules": (),
    "doc_module": ("pybandit",), "reference_url": {"pybandit": None},
}


def read(app, docname, source):
    """Add a title, the command as code and the saved output to the page of an example."""
    path = EXAMPLES.parent / docname.replace("gallery/", "examples/", 1)
    if not docname.startswith("gallery/") or not is_shown(path.with_suffix(".py")):
        return
    head, label, body = source[0].partition(".. rst-class:: sphx-glr-example-title")
    above, title, rest = _parts(body)
    rest = re.sub(r"\A\n+((?: {4}.*\n)+)", _as_command, rest)
    text, code, more = rest.partition(".. GENERATED FROM PYTHON SOURCE LINES")
    source[0] = (f"{head}{label}{above}\n\n{title}\n{'=' * len(title)}\n\n"
                 f"{text}\n\n{_saved(path.name)}{code}{more}")


def _parts(body):
    """Return the text above the title, the title, and the text below it."""
    match = re.match(r"(.*?\n\.\. _sphx_glr_\S+:)\n+([^\n]+)\n(.*)", body, re.DOTALL)
    return match[1], match[2].removesuffix("."), match[3]


def _as_command(match):
    return "\n.. code-block:: sh\n\n" + match[1]


def _saved(name):
    """Return the saved output and plot of a full run as RST."""
    if is_run(name):
        return ""
    drawn = SAVED / f"{name}.png"
    lines = []
    if drawn.exists():
        lines += [f".. image:: /gallery_saved/{name}.png", "   :alt: What the example draws", ""]
    return "\n".join([*lines, f".. literalinclude:: /gallery_saved/{name}.txt",
                      "   :language: text", "", ""])


def thumbnails(app):
    """Make thumbnails from saved or printed output; sphinx-gallery makes those of other plots."""
    from sphinx_gallery.utils import scale_image

    for page in filter(lambda page: is_shown(EXAMPLES / page.parent.name / f"{page.stem}.py"),
                       GALLERY.glob("*/*.rst")):
        small = page.parent / "images" / "thumb" / f"sphx_glr_{page.stem}_thumb.png"
        drawn, saved = SAVED / f"{page.stem}.png", SAVED / f"{page.stem}.txt"
        if drawn.exists():
            scale_image(str(drawn), str(small), 400, 280)
        elif not (page.parent / "images" / f"sphx_glr_{page.stem}_001.png").exists():
            printed = saved.read_text() if saved.exists() else _printed(page.read_text())
            _text_picture(printed).save(small)


def _printed(page):
    """Return the output of an example in its page."""
    block = re.search(r"\.\. code-block:: none\n\n((?: .*\n|\n)+)", page)
    return textwrap.dedent(block[1]) if block else ""


def _text_picture(text):
    from matplotlib.font_manager import findfont
    from PIL import Image, ImageDraw, ImageFont

    picture = Image.new("RGB", (400, 280), "white")
    font = ImageFont.truetype(findfont("DejaVu Sans Mono"), 15)
    lines = [line[:42] for line in text.splitlines() if line.strip()][:13]
    ImageDraw.Draw(picture).multiline_text((12, 10), "\n".join(lines), "#1f2937", font, spacing=4)
    return picture


def pages(app):
    """Write a page for each Markdown file of the examples, and remove stale pages."""
    for page in GALLERY.glob("*/*.rst"):
        if page.stem != "index" and not is_shown(EXAMPLES / page.parent.name / f"{page.stem}.py"):
            page.unlink()
    for page in GALLERY.glob("*/*.md"):
        if not (EXAMPLES / page.relative_to(GALLERY)).exists():
            page.unlink()
    for path in EXAMPLES.glob("*/*.md"):
        page = GALLERY / path.relative_to(EXAMPLES)
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("---\norphan: true\n---\n\n"
                        f":::{{include}} /../{path.relative_to(DOCS.parent)}\n"
                        f":relative-docs: ../../\n:relative-images:\n:::\n")


def _short_name(find):
    """Wrap `find`, which looks up names in loaded modules: scikit-learn raises for some."""
    def found(module, name):
        try:
            return find(module, name)
        except ImportError:
            return None
    return found


def setup(app):
    from sphinx_gallery import backreferences

    backreferences._get_short_module_name = _short_name(backreferences._get_short_module_name)
    app.connect("builder-inited", pages, priority=100)
    app.connect("builder-inited", thumbnails, priority=900)
    app.connect("source-read", read, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
