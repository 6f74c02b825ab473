"""Hostile workbooks: archives, XML, rows and cells without end."""

import io
import struct
import warnings
import zipfile

from pybandit.tables._xlsx import workbook_of

from hostile.driver import attack
from hostile.special import attacked, check_refused

ROWS = [["plate", "well", "arm", "value"], [7, "A1", "control", 2], [7, "A2", "tea", 1]]
SHEET, STRINGS = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"
HEAD = ('<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/'
        '2006/main">')


def packed(changes=None, method=zipfile.ZIP_DEFLATED, more=()):
    """Return the workbook with parts replaced by bytes, or by the results of functions."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook_of(ROWS))) as old, zipfile.ZipFile(
            out, "w", method, compresslevel=1) as new:
        parts = {name: old.read(name) for name in old.namelist()}
        for name, change in (changes or {}).items():
            parts[name] = change(parts.get(name, b"")) if callable(change) else change
        with warnings.catch_warnings(action="ignore"):  # zipfile warns about duplicate names
            for name, body in (*parts.items(), *more):
                new.writestr(name, body)
    return out.getvalue()


def sheet(rows, head=HEAD):
    return (head + "<sheetData>" + rows + "</sheetData></worksheet>").encode()


def header():
    """Return a row with the column names of a long table."""
    cells = "".join(f'<c t="inlineStr"><is><t>{name}</t></is></c>'
                    for name in ("plate", "well", "value"))
    return f'<row r="1">{cells}</row>'


def row(number, cell="A1", value="1"):
    return f'<row r="{number}"><c r="{cell}"><v>{value}</v></c></row>'


def entities(n):
    """Return XML with nested entities (billion laughs)."""
    told = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "ha"}">' for i in range(n))
    return (f"<?xml version='1.0'?><!DOCTYPE x [{told}]>" + HEAD.partition("?>")[2]
            + f"<sheetData>{row(1, value=f'&e{n - 1};')}</sheetData></worksheet>").encode()


def sheets(n):
    """Return a list of sheets that all refer to one part."""
    def change(body):
        text = body.decode()
        begin, end = text.index("<sheets>") + 8, text.index("</sheets>")
        one = text[begin:end]
        return (text[:begin] + "".join(one.replace('name="plate"', f'name="p{i}"')
                                       for i in range(n)) + text[end:]).encode()

    return packed({"xl/workbook.xml": change})


def sheets_apart(*rows):
    """Return a workbook of visible sheets in separate parts."""
    from openpyxl import Workbook

    book, out = Workbook(), io.BytesIO()
    for _ in rows[1:]:
        book.create_sheet()
    book.save(out)
    parts = {f"xl/worksheets/sheet{i}.xml": sheet(body) for i, body in enumerate(rows, 1)}
    with zipfile.ZipFile(out) as old:
        parts = {name: old.read(name) for name in old.namelist()} | parts
    return archive_of(parts)


def archive_of(parts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for name, body in parts.items():
            new.writestr(name, body)
    return out.getvalue()


def styled(body):
    """Return a workbook whose styles are this XML."""
    return packed({"xl/styles.xml": (HEAD.replace("worksheet", "styleSheet") + body
                                     + "</styleSheet>").encode()})


def inline(content):
    return sheet(f'<row><c t="inlineStr"><is>{content}</is></c></row>')


def expensive():
    """Return small files that take much time or memory; the last ones are within the limits."""
    wide, nested = "<row>" + "<c/>" * 400_000 + "</row>", "<a>" * 1_500_000 + "</a>" * 1_500_000
    late = ("<row>" + "<c/>" * 16_000 + "</row>") * 50 + row(51)
    names = "".join(f'<definedName name="a{i}">A1</definedName>' for i in range(100_000))
    elements = "at most 850,000 elements"
    return {
        "300 sheets of one part": (with_rows(sheets(300), wide), "different names and parts"),
        "2 sheets of a wide row": (sheets_apart(wide, wide), "at most 16,384 columns"),
        "2 sheets, values late": (sheets_apart(late, ""), "1,048,576 cells"),
        "3.5 million cells": (packed({SHEET: sheet("<row>" + "<c/>" * 3_500_000 + "</row>")}),
                              elements),
        "3 million styles": (styled("<cellXfs>" + "<xf/>" * 3_000_000 + "</cellXfs>"), elements),
        "100,000 styles": (styled("<cellXfs>" + "<xf/>" * 100_000 + "</cellXfs>"),
                           "at most 65,536 elements"),
        "100,000 names": (packed({"xl/workbook.xml": lambda body: body.replace(
            b"</sheets>", f"</sheets><definedNames>{names}</definedNames>".encode())}),
            "at most 65,536 elements"),
        "nested styles": (styled(nested), elements),
        "nested cells": (packed({SHEET: sheet(f"<row><c>{nested}</c></row>")}), elements),
        "600,000 runs": (packed({SHEET: inline("<r><t>a</t></r>" * 600_000)}), elements),
        "500,000 rows": (packed({SHEET: sheet("".join(
            f'<row r="{i}"><c t="inlineStr"><is><t>a{i}</t></is></c></row>'
            for i in range(1, 500_001)))}), elements),
        "hidden in comments": (packed({SHEET: sheet("<!--</</-->" * 1000 + wide * 3)}), elements),
        "400,000 runs": (packed({SHEET: inline("<r><t>a</t></r>" * 400_000)}), "line"),
        "800,000 nested": (packed({SHEET: sheet("<row><c>" + "<a>" * 800_000 + "</a>" * 800_000
                                                + "</c></row>")}), "line"),
        "800,000 rows": (packed({SHEET: sheet("<row/>" * 800_000)}), "is empty"),
        "800,000 cells": (packed({SHEET: sheet(("<row>" + "<c/>" * 100 + "</row>") * 8000)}),
                          "is empty"),
    }


def with_rows(content, rows):
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        return archive_of({name: old.read(name) for name in old.namelist()}
                          | {SHEET: sheet(rows)})


def directory_of(n_bytes):
    """Return an archive that states a long directory."""
    return bytes(n_bytes) + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 65535, 65535, n_bytes, 0, 0)


def lying(size):
    """Return an archive whose directory states `size` as the expanded size of the sheet."""
    content = bytearray(packed({SHEET: sheet(row(1) * 1000)}))
    at = content.rindex(b"PK\1\2", 0, content.rindex(SHEET.encode()))
    content[at + 24:at + 28] = struct.pack("<L", size)
    return bytes(content)


def workbooks():
    far = '<row r="{}"><c r="A1"><v>1</v></c></row>'
    strings = HEAD.replace("worksheet", "sst") + "<si><t>a</t></si>" * 5_000_000 + "</sst>"
    wide = header() + "".join(f'<row r="{i}"><c r="XFD{i}"/></row>' for i in range(2, 20_000))
    link = packed({"xl/_rels/workbook.xml.rels": lambda body: body.replace(
        b"worksheets/sheet1.xml", b"../../../../etc/passwd")})
    return {
        "row 99999999999": (packed({SHEET: sheet(header() + far.format(99999999999))}),
                            "line 1048577", "at most 1,048,576 rows"),
        "first row 99999999999": (packed({SHEET: sheet(far.format(99999999999))}), "line 1"),
        "row of 5,000 digits": (packed({SHEET: sheet(far.format("9" * 5000))}), "line"),
        "row of 100,000 columns": (packed({SHEET: sheet(row(1, "ZZZZ1"))}), "workbook"),
        "wide rows": (packed({SHEET: sheet(wide)}), "rows and 1,048,576 cells"),
        "lying dimension": (packed({SHEET: sheet(row(1), HEAD + '<dimension ref="A1:XFD99999999"/>')
                                    }), "line 1"),
        "5 million strings": (packed({STRINGS: strings.encode()}), "must expand"),
        "5 million strings stored": (packed({STRINGS: strings.encode()}, zipfile.ZIP_STORED),
                                     "at most 850,000 elements"),
        "2 million cells": (packed({SHEET: sheet("<row>" + "<c><v>1</v></c>" * 2_000_000
                                                 + "</row>")}, zipfile.ZIP_STORED), "elements"),
        "bomb of 1 GB": (packed({SHEET: sheet(" " * (1 << 20)) * 300}), "must expand"),
        "bomb beside": (packed(more=[("xl/media/a.png", bytes(1 << 28))]), "must expand"),
        "billion laughs": (packed({SHEET: entities(10)}), "must not declare a document type"),
        "external entity": (packed({SHEET: sheet(row(1, value="&e;")).replace(
            b"<worksheet", b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><worksheet')}),
            "must not declare a document type"),
        "UTF-16": (packed({SHEET: sheet(row(1)).decode().encode("utf-16")}), "UTF-8"),
        "EBCDIC": (packed({SHEET: sheet(row(1)).replace(b'"1.0"', b'"1.0" encoding="cp037"')}),
                   "UTF-8"),
        "5,000 sheets": (sheets(5000), "at most 1,000"),
        "deep XML": (packed({SHEET: sheet("<row>" * 200_000 + "</row>" * 200_000)}), "line"),
        "one part twice": (packed(more=[("xl/media/a.png", b""), ("xl/media/a.png", b"")]),
                           "different names"),
        "20,000 parts": (packed(more=[(f"part {i}", b"") for i in range(20_000)]), "directory"),
        "directory of 4 GB": (directory_of(1 << 22), "directory"),
        "directory lies, less": (lying(10), "workbook"),
        "directory lies, 4 GB": (lying((1 << 32) - 2), "must expand"),
        "encrypted": (_encrypted(), "workbook"),
        "another file's part": (link, "line 1"),
        "half": (packed()[:-200], "workbook"),
        "not an archive": (b"PK\3\4" + bytes(1000), "workbook"),
        "empty": (b"", "workbook"),
    }


def _encrypted():
    content = bytearray(packed())
    at = -1
    while (at := content.find(b"PK\1\2", at + 1)) >= 0:
        content[at + 8] |= 1
    return bytes(content)


def test_hostile_workbooks_are_refused(tmp_path):
    check_refused(attacked(tmp_path, "plates", workbooks(), ".xlsx"), least=30)


def test_other_readers_share_the_limits(tmp_path):
    far = packed({SHEET: sheet(header() + f'<row r="{1 << 40}"><c r="A1"/></row>')})
    check_refused(attacked(tmp_path, "arms stock", {"far": (far, "line")}, ".xlsx"), least=14)


def test_expensive_workbooks_are_refused(tmp_path):
    check_refused(attacked(tmp_path, "plates", expensive(), ".xlsx"), least=20)


def test_large_workbook_within_the_limits_is_read(tmp_path):
    """Read 260 plates of 1,536 wells: 399,360 numbers."""
    wells = [f"<row>{'<c><v>0.123</v></c>' * 48}</row>"] * (260 * 32)
    (tmp_path / "large.xlsx").write_bytes(packed({SHEET: sheet("".join(wells))}))
    found = attack(tmp_path, "hostile.calls:sheet_rows", [tmp_path / "large.xlsx"])
    assert found["large.xlsx"].read() == str(260 * 32)
