"""Tables, tiles and sections of all reports; HTML."""

from html import escape

from pybandit.report._facts import ARMS

PARTS = 24  # maximum number of rows
OWN_MEANS = (" The policy's mean differs: the policy has rewards from before the study, or computes"
             " means in another way.")


def section(anchor, title, *content):
    """Return a section of the page with its heading; HTML."""
    return f'<section id="{anchor}"><h2>{title}</h2>{"".join(content)}</section>'


def table(caption, head, rows, left=()):
    """Return a table of rows (class, cells); cells and caption are HTML."""
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
    """Return a name in HTML; right-to-left letters do not affect the text around it."""
    return f"<bdi>{escape(text)}</bdi>"


def count(n, noun):
    """Return a number with its noun, in the plural unless it is 1."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def tile_list(spent, rest):
    """Return tiles: `spent` is HTML, `rest` has (name, value, note) of each further tile."""
    small = "".join(f"<div><dt>{name}</dt><dd>{value}<small>{note}</small></dd></div>"
                    for name, value, note in rest)
    return f'<dl class="tiles">{spent}{small}</dl>'


def pull_tile(status, noun="pulls"):
    """Return a tile with the pulls spent and left; HTML."""
    return tile(noun, f"{status.n_pulls:,}", status.budget, status.n_pulls)


def arm_tiles(facts):
    """Return tiles with the numbers of arms and of arms without a result."""
    status, n = facts.status, facts.unmeasured.size
    rest = [(f"{facts.noun}s", f"{status.n_arms:,}", "" if status.survivors is None or status.done
             else f"{len(status.survivors):,} still compared")]
    if n:
        words = "never measured" if status.done else "not measured yet"
        rest.append((f"{facts.noun}s {words}", f"{n:,}", "no results"))
    return rest


def tile(name, value, most, spent):
    note = "no limit is stated"
    if most is not None:
        note = f"of {most:,}; {most - spent:,} left"
        share = min(1.0, spent / most) if most else 1.0
        note += f'<span class="bar-of"><i style="width:{share:.1%}"></i></span>'
    return f"<div><dt>{name} spent</dt><dd>{value}<small>{note}</small></dd></div>"


def no_answer(facts):
    """Return the section of the answer if there are no results."""
    return section("answer", "The answer so far", "<p>No results yet.</p>",
                   unmeasured_table(facts))


def unmeasured_table(facts):
    """Return a list of the arms without a result; "" if there are none."""
    n = facts.unmeasured.size
    if not n:
        return ""
    words = "never measured" if facts.status.done else "not measured yet"
    names = ", ".join(name_of(facts.names[arm]) for arm in facts.unmeasured[:ARMS])
    more = f" and {n - ARMS:,} more" if n > ARMS else ""
    return (f'<details id="unmeasured"><summary>{n:,} of {count(facts.status.n_arms, facts.noun)} '
            f"{words}</summary>"
            f"<p>{names}{more}</p></details>")


def shown(n, of, noun):
    """Return the number of arms shown, and of how many."""
    return count(n, noun) if n == of else f"the first {n:,} of {count(of, noun)}"
