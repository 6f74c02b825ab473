"""Translate the C headers into declarations for Cython before a build.

Every room with headers gets `pybandit/<room>/_csrc.pxd`. Public names also go to
`pybandit/embedding.pyx`, its `.pxd`, and `pybandit/__init__.pxd`. These files are not in git.
"""

import re
import textwrap
from pathlib import Path

from c_headers import read
from unpublished import INTERNAL, KEPT

MADE = "Written by tools/declare.py from the headers."
ROOM = f'''"""The kernels of csrc/{{0}}, declared for Cython; contracts in include/pybandit/{{0}}.

{MADE}
"""
'''
EMBEDDING = f'''"""The kernels of csrc for compiled code, callable without Python.

Cython reaches these functions by ``cimport pybandit``, numba by
``numba.extending.get_cython_function_address("pybandit.embedding", name)``. They are resolved at
import, with nothing to link. Contracts: the headers pybandit/<room>/*.h, under the same names with
pb_ before them. {MADE}
"""
'''
FRONT = f'''"""Names of `cimport pybandit`: the structs and kernels of the C headers.

Compile with ``include_dirs=[pybandit.get_include()]``; there is nothing to link. Functions have
their C names without ``pb_``; those that a header defines inline keep it.
{MADE}
"""
'''


def declare(package):
    """Write the files that differ; others keep their times, so that nothing is built again."""
    declared = read(Path(package, "include", "pybandit"))
    homes = {name: one.header.partition("/")[0] for one in declared for name in one.names}
    for room in sorted(set(homes.values())):
        own = [one for one in declared if homes[one.names[0]] == room]
        write(Path(package, room, "_csrc.pxd"), room_text(room, own, homes))
    if declared:
        for name, text in front_texts(declared, homes).items():
            write(Path(package, name), text)


def write(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8", newline="\n")


def room_text(room, declared, homes):
    """Return the text of a room's `_csrc.pxd`."""
    body, last = "", None
    for one in declared:
        if last is None or one.header != last.header:
            body += f'\n\n\ncdef extern from "pybandit/{one.header}" nogil:'
        elif "type" in (one.kind, last.kind):
            body += "\n"
        body += "".join("\n" + wrapped(f"    {line}") for line in one.lines)
        last = one
    return f"{ROOM.format(room)}\n{cimports(body, homes, room)}{body}\n"


def front_texts(declared, homes):
    """Return the texts of the files in the root of the package."""
    public = {name: one for one in declared for name in one.names
              if name in KEPT or not {one.header, name} & set(INTERNAL)}
    heads, bodies, header = [], [], None
    functions = [name for name, one in public.items() if one.kind == "function"]
    for name in functions:
        one = public[name]
        returned, parameters = one.lines[0].removesuffix(") noexcept").split(f"{name}(")
        head = f"cdef {returned}{name.removeprefix('pb_')}({parameters}) noexcept nogil"
        given = ", ".join(re.findall(r"(\w+)(?:,|$)", parameters))
        call = f"    {'' if returned == 'void ' else 'return '}{name}({given})"
        heads += [f"\n# pybandit/{one.header}"] if one.header != header else []
        heads.append(wrapped(head))
        bodies.append(f"{wrapped(head + ':')}\n{wrapped(call)}")
        header = one.header
    declarations, definitions = "\n".join(heads), "\n\n\n".join(bodies)
    rest = " ".join(sorted(set(public).difference(functions)))
    kernels = cimport("pybandit.embedding", [name.removeprefix("pb_") for name in functions])
    return {
        "embedding.pxd": f"{EMBEDDING}\n{cimports(declarations, homes)}\n{declarations}\n",
        "embedding.pyx": f"{EMBEDDING}\n{cimports(definitions, homes)}\n\n\n{definitions}\n",
        "__init__.pxd": f"{FRONT}\n{cimports(rest, homes)}\n{kernels}\n",
    }


def cimports(text, homes, without=None):
    """Return the cimports of a text, without the names of one room."""
    standard = sorted(set(re.findall(r"\bu?int\d+_t\b", text)))
    used = sorted(set(re.findall(r"\b(?:pb|PB)_\w+", text)))
    rooms = {room: [name for name in used if homes[name] == room]
             for room in sorted(set(homes.values()) - {without})}
    ours = [cimport(f"pybandit.{room}._csrc", names) for room, names in rooms.items() if names]
    theirs = [f"from libc.stdint cimport {', '.join(standard)}"] if standard else []
    return "\n\n".join(filter(None, ["\n".join(theirs), "\n".join(ours)]))


def cimport(module, names):
    """Return one cimport statement, on one line if it fits."""
    listed = ", ".join(sorted(names))
    line = f"from {module} cimport {listed}"
    if len(line) <= 100:
        return line
    return f"from {module} cimport (\n{textwrap.indent(textwrap.fill(listed, 95), '    ')},\n)"


def wrapped(line):
    """Break a line between arguments, which are aligned with the first one."""
    words = line.lstrip()
    start = re.search(r"\((?!\*)|$", line).end()
    glued = re.sub(r"(?<!,) ", "\0", words)  # breaks after commas only
    return textwrap.fill(glued, 100, initial_indent=line.removesuffix(words),
                         subsequent_indent=" " * start, break_on_hyphens=False).replace("\0", " ")


if __name__ == "__main__":
    declare("pybandit")
