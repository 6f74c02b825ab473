"""Signatures and members of compiled classes for autodoc; removal of stale pages.

Cython writes the signature of a method into the first line of its docstring. Only members defined
by this package are listed. Attributes are described in a section of the docstring.
"""

import inspect
import re
import sys
from pathlib import Path

SIGNATURE = re.compile(r"(?:\w+\.)*(\w+)\((.*)\)(?: -> .*)?$")
PACKAGE = "pybandit."


def written(docstring, name):
    """Return the signature in a docstring's first line, without self, or None."""
    first = (docstring or "").strip().partition("\n")[0]
    match = SIGNATURE.match(first)
    if match is None or match[1] not in (name, "__init__"):
        return None
    return "(" + re.sub(r"^(self|cls)(, |$)", "", match[2]) + ")"


def process_signature(app, what, name, obj, options, signature, returns):
    found = written(obj.__doc__, name.rpartition(".")[2])
    return None if found is None else (found, None)


def process_docstring(app, what, name, obj, options, lines):
    if lines and written("\n".join(lines), name.rpartition(".")[2]) is not None:
        del lines[0]
        while lines and not lines[0].strip():
            del lines[0]
    lines[:] = _bars("\n".join(lines)).split("\n")


def _bars(text):
    """Escape the bars of |x|, which are markup in RST, except in literals and examples."""
    prose, header, rest = re.split(r"(^Examples\n-+\n|\Z)", text, maxsplit=1, flags=re.MULTILINE)
    parts = re.split(r"(``.*?``)", prose, flags=re.DOTALL)
    parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
    return "".join([*parts, header, rest])


def attributes_as_text(app, what, name, obj, options, lines):
    """Remove the links of numpydoc from attributes to entries, which do not exist."""
    lines[:] = [re.sub(r":obj:`(\w+) <\.\1>`", r"\1", line) for line in lines]


def is_described(cls, name):
    """Return True if the docstring of a class or of a base class describes an attribute."""
    text = inspect.getdoc(cls) or ""
    attributes = text.partition("Attributes\n----------\n")[2].partition("\n---")[0]
    return re.search(rf"^[\w, ]*\b{name}\b", attributes, re.MULTILINE) is not None


def home(cls, name):
    """Return the class that defines a member."""
    return next((one for one in cls.__mro__ if name in vars(one)), None)


def skip_member(app, what, name, obj, skip, options):
    if what not in ("class", "exception") or name.startswith("_"):
        return None
    here = app.env.current_document
    cls = getattr(sys.modules[here.autodoc_module], here.autodoc_class)
    where = home(cls, name)
    if where is None or not where.__module__.startswith(PACKAGE):
        return True
    if callable(obj) or isinstance(vars(where)[name], (classmethod, staticmethod)):
        return None
    return True if is_described(cls, name) or not inspect.getdoc(obj) else None


def clear(app):
    """Remove the pages of names that the reference does not list."""
    reference = Path(app.srcdir, "reference")
    listed = " ".join(page.read_text() for page in reference.glob("*.rst")).split()
    for page in reference.glob("api/*.rst"):
        name = page.stem.removeprefix(PACKAGE)
        if name not in listed and page.stem not in app.config.autosummary_filename_map.values():
            page.unlink()


def setup(app):
    app.connect("builder-inited", clear, priority=100)
    app.connect("autodoc-process-signature", process_signature, priority=1)
    app.connect("autodoc-process-docstring", process_docstring, priority=1)
    app.connect("autodoc-process-docstring", attributes_as_text, priority=900)
    app.connect("autodoc-skip-member", skip_member)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
