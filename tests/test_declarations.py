"""`tools/declare.py` translates the headers into declarations for Cython."""

import pytest

from c_headers import declaration, statements
from compiler import HEADERS, ROOT
from declare import declare, wrapped
from sources import of_sources

HEADER = """
#ifndef A_H
#define A_H
#include <stdint.h>
#define PB_LEAST 4e-15
#ifdef __cplusplus
extern "C" {
#endif
/* of arms; in pulls */
// typedef int pb_none;
typedef enum { PB_A = 1, PB_B } pb_letter;
enum {
    PB_ONE = 20,
    PB_TWO = 2 * PB_ONE
};
typedef int64_t (*pb_draw)(void *state, double mean);
typedef struct {
    const double *const *rows; /* of a table */
    double low, high, lambda;
    int64_t pool[PB_ONE], n;
    pb_letter letter;
    const unsigned char *flags;
    int (*grow)(void *, int64_t n);
} pb_table;
static inline double pb_table_width(const pb_table *table)
{
    if (table->high > 0.0) { return table->high; }
    return 0.0;
}
void pb_table_add(pb_table *table, const double *row,
                  int64_t n);
pb_table *pb_table_first(void);
#ifdef __cplusplus
}
#endif
#endif
"""
DECLARED = """
const double PB_LEAST
ctypedef enum pb_letter:
    PB_A
    PB_B
enum:
    PB_ONE
    PB_TWO
ctypedef int64_t (*pb_draw)(void *state, double mean) noexcept nogil
ctypedef struct pb_table:
    const double *const *rows
    double low
    double high
    double lambda_ "lambda"
    int64_t pool[PB_ONE]
    int64_t n
    pb_letter letter
    const unsigned char *flags
    int (*grow)(void *, int64_t n) noexcept nogil
double pb_table_width(const pb_table *table) noexcept
void pb_table_add(pb_table *table, const double *row, int64_t n) noexcept
pb_table *pb_table_first(void) noexcept
"""


def test_every_form_of_a_header_is_declared():
    declared = [declaration("a.h", one) for one in statements(HEADER)]
    assert [line for one in declared for line in one.lines] == DECLARED.split("\n")[1:-1]
    assert [name for one in declared for name in one.names] == [
        "PB_LEAST", "PB_A", "PB_B", "pb_letter", "PB_ONE", "PB_TWO", "pb_draw", "pb_table",
        "pb_table_width", "pb_table_add", "pb_table_first"]
    assert [one.kind for one in declared] == ["type"] * 5 + ["inline", "function", "function"]


@pytest.mark.parametrize("statement", [
    "extern double pb_x;", "typedef long pb_long;", "double *pb_x[4];", "union { int a; } pb_u;",
    "struct pb_x { int a; };", "static const double pb_x = 1.0;", "int other(int n);",
    "void pb_sort(int (*less)(int, int));", "typedef struct { struct { int a; } b; } pb_x;",
    "typedef struct { unsigned n : 2; } pb_x;", "typedef struct { struct pb_y y; } pb_x;"])
def test_unknown_statement_stops_the_build(statement):
    with pytest.raises(ValueError, match="a.h: "):
        [declaration("a.h", one) for one in statements(statement)]


def test_incomplete_statement_stops_the_build():
    with pytest.raises(ValueError, match="complete statement; got 'int pb_x'"):
        list(statements("int pb_y(int n);\nint pb_x"))


def test_long_lines_break_between_arguments():
    long = "a" * 40
    assert wrapped(f"    ctypedef int (*pb_x)(int *{long}, const int *{long}) noexcept nogil") == (
        f"    ctypedef int (*pb_x)(int *{long},\n"
        f"                         const int *{long}) noexcept nogil")


@of_sources
def test_build_writes_only_files_that_differ(tmp_path):
    """The files do not depend on folder or time, and equal those in the tree under test."""
    rooms = {header.relative_to(ROOT / "pybandit" / "include").parts[1] for header in HEADERS}
    names = ["__init__.pxd", "embedding.pxd", "embedding.pyx"]
    names += [f"{room}/_csrc.pxd" for room in rooms]
    (tmp_path / "include").symlink_to(ROOT / "pybandit" / "include")
    for room in rooms:
        (tmp_path / room).mkdir()
    declare(tmp_path)
    made = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.p[yx][xd]")}
    assert made == set(names) and len(made) == 11
    for name in names:
        assert (tmp_path / name).read_bytes() == (ROOT / "pybandit" / name).read_bytes(), name
    times = {name: (tmp_path / name).stat().st_mtime_ns for name in names}
    (tmp_path / names[0]).write_text("other")
    declare(tmp_path)
    changed = {name for name in names if (tmp_path / name).stat().st_mtime_ns != times[name]}
    assert changed == {names[0]}
    assert (tmp_path / names[0]).read_bytes() == (ROOT / "pybandit" / names[0]).read_bytes()
