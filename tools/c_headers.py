"""Read the C headers of the package, and translate declarations for Cython."""

import re
from graphlib import TopologicalSorter
from keyword import iskeyword
from typing import NamedTuple

KIND = r"(?:const )?(?:unsigned )?\w+"
NAME = r"(?:\*(?:const )?)*\w+(?:\[\w+\])*"
POINTER = r"[\w ]+[ *]\(\*\w+\)\([^()]*\)"  # to a function
FIELD = rf"{KIND} {NAME}(?:, {NAME})*|{POINTER}"


class Declaration(NamedTuple):
    """One statement of a header."""

    header: str  # racing/race.h
    kind: str  # function, inline, or type: structs, enums, constants, pointers to functions
    names: list[str]
    lines: list[str]  # the same in Cython


def read(folder):
    """Return the declarations of all headers in a folder, each after its dependencies."""
    texts = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
             for path in sorted(folder.rglob("*.h"))}
    included = {header: re.findall(r'^#include "pybandit/(.+)"$', text, re.MULTILINE)
                for header, text in texts.items()}
    return [declaration(header, statement)
            for header in TopologicalSorter(included).static_order()
            for statement in statements(texts[header])]


def statements(text):
    """Yield the statements of a header, each on one line; functions without their bodies."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)
    text = re.sub(r"^#ifdef __cplusplus\n.*?^#endif\n", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^#define (PB_\w+) \d+(?:\.|e-)\d+$", r"const double \1;", text, flags=re.M)
    text = re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
    depth = start = 0
    for at, sign in enumerate(text):
        depth += (sign == "{") - (sign == "}")
        if depth == 0 and sign in ";}":
            head, brace, _ = text[start:at].partition("{")
            is_inline = head.lstrip().startswith("static inline")
            if sign == "}" and not is_inline:  # the end of a struct or enum; its name follows
                continue
            yield " ".join((head if is_inline else text[start:at]).split())
            start = at + 1
    if text[start:].strip():
        raise ValueError("a header must end with a complete statement; got "
                         f"{text[start:].strip()!r}")


def declaration(header, statement):
    """Translate a statement; raise ValueError if its form is unknown."""
    if found := re.fullmatch(r"(?:typedef )?enum \{([^{}]*)\} ?(\w*)", statement):
        names = [one.partition("=")[0].strip() for one in found[1].split(",") if one.strip()]
        head, own = (f"ctypedef enum {found[2]}:", [found[2]]) if found[2] else ("enum:", [])
        return Declaration(header, "type", names + own, [head, *(f"    {one}" for one in names)])
    if found := re.fullmatch(rf"typedef struct {{((?: (?:{FIELD});)+) }} (\w+)", statement):
        lines = [f"    {line}" for field in found[1].split(";")[:-1]
                 for line in field_lines(field.strip())]
        return Declaration(header, "type", [found[2]], [f"ctypedef struct {found[2]}:", *lines])
    if found := re.fullmatch(rf"typedef ({POINTER})", statement):
        return Declaration(header, "type", [re.search(r"\*(\w+)\)", statement)[1]],
                           [f"ctypedef {found[1]} noexcept nogil"])
    if found := re.fullmatch(r"const double (\w+)", statement):
        return Declaration(header, "type", [found[1]], [statement])
    if found := re.fullmatch(r"(static inline )?([\w ]+[ *](pb_\w+)\([^()]*\))", statement):
        kind = "inline" if found[1] else "function"
        return Declaration(header, kind, [found[3]], [f"{found[2]} noexcept"])
    raise ValueError(f"{header}: a statement must have a form that {__file__} knows; "
                     f"got {statement!r}")


def field_lines(field):
    """Yield one line for each name that a field of a struct declares."""
    if "(" in field:
        yield f"{field} noexcept nogil"
        return
    kind, names = re.fullmatch(rf"({KIND}) (.+)", field).groups()
    for name in names.split(", "):
        yield f"{kind} {name}" + (f'_ "{name}"' if iskeyword(name) else "")
