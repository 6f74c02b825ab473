"""`tools/prose.py` finds the sentences that its rules describe, and fails above its limits."""

import pytest

import prose

EXAMPLES = {  # rule: (a sentence that it flags, a sentence that it does not flag)
    "opening": [("What guarded was given.", "Undo guarded."),
                ("Whether the arm is alive.", "Whether or not it is alive, it counts."),
                ("Where a value is wrong.", "Where is the file?"),
                ("Of each arm, the mean.", "Of course it is finite.")],
    "where": [("The seed; None where there is one.", "The seed; None if there is one."),
              ("It ends where nothing is left.", "The file says where it lies.")],
    "is no": [("The batch is no plate.", "There is no plate."),
              ("The key is none.", "It is no longer used."),
              ("The key is nothing.", "The key is None.")],
    "so many": [("Run it so many times.", "It takes so many steps that it fails.")],
    "nobody": [("Closed, so that nobody enters.", "Closed to other threads.")],
    "own": [("A policy of one's own.", "A policy of your own.")],
    "what is": [("Spend what is left.", "The message says what is left.")],
    "told": [("The race is told a reward.", "The user is told to wait: told that it is late.")],
    "per": [("It must have shape (3,), one an arm.", "One value per arm."),
            ("It takes 3 ns an arm.", "All values a score can take.")],
    "possessive": [("The buffer is the caller's.", "The caller's buffer.")],
    "word": [("The sum is computed anew.", "The sum is computed again.")],
    "comparison": [("The order is as NumPy has it.", "The order is as in NumPy.")],
    "long": [("The " + "very " * 40 + "long sentence.", "A short one. " * 40)],
}


def found(name, text):
    return [(line + at, rule) for line, words in prose.prose(name, text)
            for at, rule, _ in prose.flags(words)]


def test_every_rule_has_examples():
    assert set(EXAMPLES) == set(prose.RULES)


@pytest.mark.parametrize("rule, bad, good", [
    (rule, *pair) for rule, pairs in EXAMPLES.items() for pair in pairs])
def test_rule_flags_bad_sentence_only(rule, bad, good):
    assert rule in [name for _, name, _ in prose.flags(bad)]
    assert [name for _, name, _ in prose.flags(good)] == []


PYTHON = '''# cython: language_level=3
"""Return one.

What it is.
"""
x = "What it is."
# two lines of a comment,
# and it is computed anew
y = 1  # the key is none

def f():
    """Return x.

    Parameters
    ----------
    x : int
        None where there is one.

    Examples
    --------
    What it is.
    """
    text = """
    What it is."""
    raise ValueError(f"x must be a number; {x} "
                     "is no number")
'''


@pytest.mark.parametrize("name", ["a.py", "a.pyx"])
def test_comments_docstrings_and_messages_of_python_are_read(name):
    assert sorted(found(name, PYTHON)) == [
        (4, "opening"), (7, "word"), (9, "is no"), (17, "where"), (25, "is no")]


def test_comments_of_c_are_read():
    text = "/*\n * Returns one.\n *\n * What it is.\n */\nint x; // the key is none\n" \
           'char *s = "this is no comment";\n'
    assert found("a.c", text) == [(4, "opening"), (6, "is no")]


def test_pages_are_read_without_code():
    text = "# Title\n\n```\nWhat it is.\n```\n\nThe text\nis no code.\n\n- What it is.\n" \
           "\n`is no key` and [the key is none](address)\n"
    assert found("a.md", text) == [(7, "is no"), (10, "opening"), (12, "is no")]


def test_files_above_the_limit_fail(tmp_path, capsys):
    bad, good = tmp_path / "bad.py", tmp_path / "good.py"
    bad.write_text("# Return the mean.\n\n# What it is.\n")
    good.write_text("# Return the mean.\n\n# The key is a number.\n")
    assert prose.main([str(bad)]) == 1
    assert f"{bad}:3: opening: What it is.\n1 flags in 2 lines" in capsys.readouterr().out
    assert prose.main([str(good)]) == 0


def test_one_room_above_its_limit_fails(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for room, n_good, n_bad in (("calm", 4000, 0), ("odd", 200, 7), ("small", 20, 3)):
        (tmp_path / room).mkdir()
        lines = ["# Return the mean."] * n_good + ["# What it is."] * n_bad
        (tmp_path / room / "a.py").write_text("\n\n".join(lines) + "\n")
    assert prose.main(["calm/a.py", "small/a.py"]) == 0
    assert prose.main(["calm/a.py", "odd/a.py"]) == 1
    assert "rooms above 30: odd" in capsys.readouterr().out
