"""Tables, tiles and sections that all reports have; HTML."""

from html import escape

from pybandit.report._facts import ARMS

PARTS = 24  # rows at most
OWN_MEANS = (" The policy's mean is its own: it has rewards from before the study, or counts them "
             "in a way of its own.")


def section(anchor, title, *content):
    """A part of the page under its heading; HTML."""
    return f'<section id="{anchor}"><h2>{title}</h2>{"".join(content)}</section>'


def table(caption, head, rows, left=()):
    """A table of rows (class, cells); cells and caption are HTML."""
    heads = "".join(f'<th scope="col"{_class("l" * (i in left))}>{escape(word)}</th>'
                    for i, word in enumerate(head))
    body = []
    for kind, row in rows:
        cells = "".join(f"<td{_class(_kind_of(cell, i in left))}>{cell}</td>"
                        for i, cell in enumerate(row))
        body.append(f"<tr{_class(kind)}>{cells}</tr>")
    return (f'<div class="scroll"><table><caption><span>{caption}</span></caption>'
            f"<thead><tr>{heads}</tr></thead><tbody>{''.join(body)}</tbody></table></div>")


def _kind_of(cell, is_left):
    return "name l" if cell.startswith("<bdi>") else "l" if is_left else ""


def _class(kind):
    return f' class="{kind}"' if kind else ""


def name_of(text):
    """A name in HTML; whatever its letters, they do not turn what stands around it."""
    return f"<bdi>{escape(text)}</bdi>"


def count(n, noun):
    """How many, in words."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def tile_list(spent, rest):
    """Tiles of what was spent, HTML, and others: (name, value, note)."""
    small = "".join(f"<div><dt>{name}</dt><dd>{value}<small>{note}</small></dd></div>"
                    for name, value, note in rest)
    return f'<dl class="tiles">{spent}{small}</dl>'


def pull_tile(status):
    """How many pulls were spent, and are left; HTML."""
    return tile("pulls", f"{status.n_pulls:,}", status.budget, status.n_pulls)


def arm_tiles(facts):
    """How many arms there are, and of how many nothing is known."""
    status, n = facts.status, facts.unmeasured.size
    rest = [("arms", f"{status.n_arms:,}", "" if status.survivors is None or status.done
             else f"{len(status.survivors):,} in play")]
    if n:
        rest.append(("arms never measured" if status.done else "arms not measured yet", f"{n:,}",
                     "nothing is known of them"))
    return rest


def tile(name, value, most, spent):
    note = "no limit told by the policy"
    if most is not None:
        note = f"of {most:,}; {most - spent:,} left"
        share = min(1.0, spent / most) if most else 1.0
        note += f'<span class="bar-of"><i style="width:{share:.1%}"></i></span>'
    return f"<div><dt>{name} spent</dt><dd>{value}<small>{note}</small></dd></div>"


def no_answer(facts):
    """The answer where there is no result."""
    return section("answer", "The answer by now", "<p>No results yet.</p>",
                   unmeasured_table(facts))


def unmeasured_table(facts):
    """Arms of which nothing is known; "" where there are none."""
    n = facts.unmeasured.size
    if not n:
        return ""
    words = "never measured" if facts.status.done else "not measured yet"
    names = ", ".join(name_of(facts.names[arm]) for arm in facts.unmeasured[:ARMS])
    more = f" and {n - ARMS:,} more" if n > ARMS else ""
    return (f'<details id="unmeasured"><summary>{n:,} of {count(facts.status.n_arms, "arm")} '
            f"{words}: nothing is known of {'them' if n > 1 else 'it'}</summary>"
            f"<p>{names}{more}</p></details>")


def shown(n, of):
    """How many arms, of how many."""
    return count(n, "arm") if n == of else f"the first {n:,} of {count(of, 'arm')}"
