"""The C reference: the functions of all headers in pybandit/include with their comments.

It is written to docs/reference/c/<room>.rst at the start of a build. A comment belongs to the
declarations directly below it, up to the next empty line.
"""

import re
from pathlib import Path

import pybandit

DOCS = Path(__file__).parents[1]
HEADERS = Path(pybandit.get_include()) / "pybandit"
PAGES = DOCS / "reference" / "c"
COMMENT = re.compile(r"/\*(.*?)\*/", re.DOTALL)
# lines around the declarations: guards, includes, C++
AROUND = re.compile(r"^#(ifn?def|endif|include|define PYBANDIT_\w+_H).*\n"
                    r"|^extern \"C\" \{\n|^\}\n(?=\n#)", re.MULTILINE)
# a type with a body, an enum, or a function with or without one
STARTS = re.compile(r"(typedef|struct|enum|static inline|#define)\b|[\w ]+[ *]+pb_\w+\(")


def parts(text):
    """Return (comment, code) of every declaration in a header, in order."""
    text = AROUND.sub("", text)
    comment, found, lines, i = "", [], text.splitlines(), 0
    while i < len(lines):
        line = lines[i]
        if line.startswith("/*"):
            end = next(j for j in range(i, len(lines)) if "*/" in lines[j])
            comment = _plain("\n".join(lines[i:end + 1]))
            i = end + 1
        elif line.strip() and STARTS.match(line):
            end = _end(lines, i)
            found.append((comment, "\n".join(lines[i:end + 1])))
            i = end + 1
        else:
            if not line.strip() and found and comment == found[-1][0]:
                comment = ""
            i += 1
    return found


def _end(lines, i):
    """Return the number of the last line of the declaration that starts at line i.

    At its end, all braces and parentheses are closed.
    """
    depth = 0
    for j in range(i, len(lines)):
        code = COMMENT.sub("", lines[j])
        depth += code.count("{") - code.count("}") + code.count("(") - code.count(")")
        if depth == 0 and (code.rstrip().endswith((";", "}")) or code.startswith("#define")
                           and not code.rstrip().endswith("\\")):
            return j
    raise ValueError("a declaration must end with ; or } before the end of its header; the one "
                     f"that starts with {lines[i]!r} does not")


def _plain(comment):
    body = comment.strip().removeprefix("/*").removesuffix("*/")
    return "\n".join(re.sub(r"^ ?\* ?", "", line) for line in body.strip("\n").splitlines()).strip()


def prose(comment):
    """Return a comment as RST: paragraphs, lists, and indented text as literal blocks."""
    return "\n\n".join(_paragraph(part) for part in re.split(r"\n\s*\n", comment))


def _paragraph(text):
    lines = text.splitlines()
    if any(line.startswith(" ") for line in lines) and not lines[0].startswith("- "):
        return "\n".join(["::", "", *(f"   {line}" for line in lines)])
    text = re.sub(r"([\\*|_<>])", r"\\\1", text)  # only names in backticks are markup
    return re.sub(r"`([^`\n]+)`", lambda match: "``" + re.sub(r"\\(.)", r"\1", match[1]) + "``",
                  text)


def entry(comment, code):
    """Return a declaration as RST."""
    bare = re.sub(r"\s+", " ", COMMENT.sub("", code)).strip()
    function = re.match(r"(?:static inline )?([\w ]+[ *]+pb_\w+\([^{;]*\))", bare)
    name = re.search(r"(?:\}|\bstruct) ?(pb_\w+) ?[;{]|\(\*(pb_\w+)\)|#define (PB_\w+)", bare)
    lines = []
    if function and not bare.startswith("typedef"):
        lines += [f".. c:function:: {function[1]}", ""]
        body = []
    elif name and not bare.startswith("#"):
        lines += [f".. c:type:: {next(filter(None, name.groups()))}", ""]
        body = [".. code-block:: c", "", *(f"   {line}" for line in code.splitlines()), ""]
    else:
        return "\n".join([prose(comment), "", ".. code-block:: c", "",
                          *(f"   {line}" for line in code.splitlines()), ""])
    text = [*prose(comment).splitlines(), "", *body]
    return "\n".join([*lines, *(f"   {line}".rstrip() for line in text), ""])


def page(room):
    title = f"C: {room.name.strip('_')}"
    lines = [title, "=" * len(title), ""]
    for header in sorted(room.rglob("*.h")):
        name = f"pybandit/{header.relative_to(HEADERS).as_posix()}"
        shown = f"``{name}``"
        lines += [shown, "-" * len(shown), ""]
        last = None
        for comment, code in parts(header.read_text()):
            lines.append(entry("" if comment == last else comment, code))
            last = comment
    return "\n".join(lines)


def write(app):
    PAGES.mkdir(parents=True, exist_ok=True)
    for room in sorted(HEADERS.iterdir()):
        text, file = page(room), PAGES / f"{room.name}.rst"
        if not file.exists() or file.read_text() != text:
            file.write_text(text)


def setup(app):
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
