#!/usr/bin/env python3
"""Find sentences of comments, docstrings, messages and pages that are hard to read.

Usage: ``tools/prose.py [PATH ...]``, in a git checkout. With paths, every flag below them is
listed; otherwise only if the whole tree exceeds a limit. The rules find typical mistakes, not all:

- ``opening``: start with a verb or a noun, not with What, Whether, Where or Of
- ``where``: write "if" or "when" for a condition
- ``is no``: write "is not a", "has no", or the opposite word
- ``so many``, ``nobody``, ``what is``: name the number, the person or the thing
- ``told``: say that objects receive data, and that users report or pass it
- ``own``, ``possessive``: write "your own", "custom", or the noun
- ``per``: write "one per arm"
- ``word``, ``comparison``: use everyday words, and write "as in NumPy"
- ``long``: split sentences of more than 40 words
"""

import collections
import os
import re
import subprocess
import sys

WORDS = r'f?"(?:\\.|[^"\\\n])*"'
TOKEN = re.compile(rf"\"\"\"(?P<doc>.*?)\"\"\"|'''.*?'''|{WORDS}|'(?:\\.|[^'\\\n])*'|"
                   r"(?P<alone>(?:^ *#[^\n]*\n)+)|(?P<after>#[^\n]*)", re.S | re.M)
MESSAGE = re.compile(rf"\b(?:raise [\w.]+|\w*warn\w*|help|description|epilog)[(=]\(?\s*"
                     rf"(?P<words>(?:{WORDS}\s*)+)")
# Flags per 1,000 lines of prose: of the whole tree, and of a room of at least SMALL lines.
MOST, MOST_IN_ROOM, SMALL = 15, 30, 100
LONGEST = 40  # words per sentence
ABOVE = "pybandit", "include", "csrc", "tests", "bench", "examples"  # folders that hold rooms
SUFFIXES = ".py", ".pyx", ".pxd", ".pyi", ".c", ".h", ".md"

UNITS = ("arm|item|model|row|line|call|pull|step|batch|stage|look|state|factor|thread|column|run|"
         "study|file|draw|round|reward|score|evaluation|worker|estimator|value|well|plate|day")
# name -> a pattern; or a pattern, and a second one that excuses sentences
RULES = {
    "opening": (r"^(What|Which|Whether|Who|Whose|Where|How|Of|Those of|That of)\b",
                r"\?\W*$|^(Of course|Of (the|these|those|all)|Whether or not)\b"),
    "where": (r"\b(None|NaN|-?\d|infinite|raised?|refused|skipped|missing|fails|empty|False|True|"
              r"kept) where\b|[a-z] where (nothing|none|nobody|no|not|it|there|they|both|only) ",
              r"\?|\b(says?|shows?|sees?|tells?|knows?|finds?|is|are|and|or) where\b"),
    "is no": (r"\b(is|are|was|were|be) (no|none|nobody|nothing)\b",
              r"\b[Tt]here (is|are|was|were|(must|may|can|will|should) be) (no|none|nothing)\b|"
              r"\b(is|are|was|were|be) no (longer|more|less|larger|smaller|greater|fewer|worse|"
              r"better|different|need|way|doubt)\b"),
    "so many": (r"\bso (many|much|often|long|few|little)\b",
                r"\bso (many|much|often|long|few|little)\b.*\b(that|as)\b"),
    "nobody": r"\b(nobody|somebody|anybody|everybody|whoever)\b",
    "own": r"\b(one's own|of (the caller's|the user's|whose) own|of ours)\b",
    "what is": (r"\bwhat (is|was|has|are|were|had|may|can|cannot|comes|came|goes|stays|remains|"
                r"fails|needs|changes|nobody|no)\b",
                r"\?|\b(know|known|knows|say|says|show|shows|see|tell|tells|learn|explain|explains|"
                r"describes?|decides?|determines?|understand|asks?|on|about) what\b"),
    "told": (r"\b(is|are|was|were|be|been|being) told\b", r"\btold (to|that)\b"),
    "per": rf"\b(one|two|\d+|pulls?|lines?|values?|bytes|numbers?|calls?|rows?|[mnµ]?s) an? "
           rf"({UNITS})\b(?! (can|may|has|is|takes|needs|costs|reads))",
    "possessive": (r"[a-z]'s(?=\s*([.;:,)]|$))", r"\b(it|that|let|what|here|there)'s"),
    "word": r"\b(anew|beside (it|them)|by lot|held against|lest|dear|dearer|kin|mended|forthwith|"
            r"therein|thereof|whereof|naught|in (its|their) stead|(come|comes|came) to nothing|"
            r"another than|in the place of|tells? of|says of|(is|are|was|were|be) begun|"
            r"unasked|as many again|as much again|takes? no harm|for ever(?=[.,;:)]|$))\b",
    "comparison": r"\bas (\w+ ){0,2}(has|have|had) (it|them)\b",
    "long": "",
}
COMPILED = {name: [re.compile(one.replace(" ", r"\s"), 0 if name in ("opening", "is no") else re.I)
                   for one in ([rule] if isinstance(rule, str) else rule)]
            for name, rule in RULES.items()}


def prose(name, text):
    """Yield (line, paragraph) for a file; line i of the paragraph is line ``line + i``."""
    if name.endswith(".md"):
        found = [(0, re.sub(r"^ *(```|~~~).*?^ *\1 *$|<!--.*?-->", blanked, text,
                            flags=re.S | re.M))]
    elif name.endswith((".c", ".h")):
        found = [(one.start(), re.sub(r"^\s*/?\*+ ?/?|\*/|^\s*// ?", "", one[0], flags=re.M))
                 for one in re.finditer(r"/\*.*?\*/|//[^\n]*", text, re.S)]
    else:
        found = python(text)
    for at, block in found:
        yield from paragraphs(text.count("\n", 0, at) + 1, block)


def blanked(found):
    return "\n" * found[0].count("\n")


def python(text):
    """Yield (place, text) of the comments, docstrings and messages of Python or Cython."""
    for one in TOKEN.finditer(text):
        if one["doc"] is not None:
            above = text[:one.start()].rstrip()
            if above[-1:] in ("", ":") or above[above.rfind("\n") + 1] == "#":
                yield one.start(), one["doc"]
        elif comment := one["alone"] or one["after"]:
            comment = re.sub(r"^ *#+ ?", "", comment, flags=re.M)
            if not re.match(r"!|cython:|distutils|noqa|type:", comment):
                yield one.start(), comment
    for one in MESSAGE.finditer(text):
        words = re.sub(r"\{[^{}]*\}", "X", one["words"])
        yield one.start(), re.sub(r'"\s*f?"|^f?"|"\s*$', "", words).replace("\n", " ")


def paragraphs(line, block):
    """Yield the paragraphs of a block; examples, references and underlines are left out."""
    def margin(words):
        return len(words) - len(words.lstrip())

    lines, kept, first, skipping = block.split("\n"), [], line, False
    for number, words in enumerate([*lines, ""], line):
        text = words.strip()
        if re.fullmatch(r"[-=~]{3,}", text):
            skipping = bool(kept) and kept[-1].strip() in ("References", "Examples")
            kept = []
            continue
        starts = re.match(r"([-*+]|\d+\.|>>>|\.\.|[#|]) ?|[\w, ]+ : ", text)
        moved = kept and number > line + 1 and margin(words) != margin(kept[-1])
        if kept and (not text or starts or moved):
            if len(" ".join(kept).split()) > 2:
                yield first, clean("\n".join(one.strip() for one in kept))
            kept = []
        if text and not skipping and not text.startswith((">>>", "..")):
            first = first if kept else number
            kept.append(re.sub(r"^\s*([-*+]|\d+\.) ", "", words))


def clean(text):
    """Replace code, formulas and addresses by X; a link keeps its words."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"``?[^`]+``?|\$[^$]+\$|https?://\S+", lambda one: "X" + blanked(one),
                  text).replace("**", "")


def flags(text):
    """Yield (line, rule, sentence) for a paragraph; lines count from 0."""
    at = 0
    for sentence in re.split(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)\s+(?=[A-Z`\"(])", text):
        at = text.index(sentence, at)
        for name, (rule, *excused) in COMPILED.items():
            hit = (rule.search(sentence) if name != "long" else
                   len(re.findall(r"\b[A-Za-z]\S*", sentence)) > LONGEST)
            if hit and not any(one.search(sentence) for one in excused):
                yield text.count("\n", 0, at), name, " ".join(sentence.split())[:90]


def main(paths=()):
    """Check the tree, or the given files and folders; return the exit status."""
    files = [path for path in paths if os.path.isfile(path)]
    if not paths or len(files) < len(paths):
        files += subprocess.run(["git", "ls-files", "--", *set(paths).difference(files)], text=True,
                                capture_output=True, check=True).stdout.splitlines()
    lines, found = collections.Counter(), collections.defaultdict(list)
    for path in files:
        if path.endswith(SUFFIXES) and os.path.exists(path):
            folders = path.split("/")[:-1] or ["."]
            room = next((one for one in folders if one not in ABOVE), folders[0])
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for line, words in prose(path, text):
                lines[room] += sum(1 + len(one) // 100 for one in words.split("\n"))
                found[room] += [f"{path}:{line + at}: {rule}: {sentence}"
                                for at, rule, sentence in flags(words)]
    n_flags, n_lines = sum(map(len, found.values())), max(1, sum(lines.values()))
    above = [room for room in found if lines[room] >= SMALL
             and len(found[room]) * 1000 > MOST_IN_ROOM * lines[room]]
    fails = n_flags * 1000 > MOST * n_lines
    for room in found if paths or fails else above:
        if found[room]:
            print(*found[room], sep="\n")
    print(f"{n_flags} flags in {n_lines:,} lines of prose: {1000 * n_flags / n_lines:.1f} per "
          f"1,000, at most {MOST}; rooms above {MOST_IN_ROOM}: {', '.join(above) or 'none'}")
    return int(fails or bool(above))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
