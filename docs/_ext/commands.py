"""The directive `commands`: the help text of each command of the command line."""

import os
from unittest.mock import patch

from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx.util.docutils import SphinxDirective

from pybandit.cli._examples import subcommands
from pybandit.cli._main import make_parser


class Commands(SphinxDirective):
    """A section for each command and each of its actions."""

    def run(self):
        with patch.dict(os.environ, COLUMNS="88"):
            return [self._section(["pybandit"], make_parser())]

    def _section(self, words, one):
        title = " ".join(words)
        section = nodes.section(ids=["-".join(words)], names=[title])
        section += nodes.title(title, "", nodes.literal(title, title))
        section += nodes.literal_block(text := one.format_help(), text, language="text")
        for name, below in subcommands(one).items():
            section += self._section([*words, name], below)
        return section


def setup(app):
    app.add_directive("commands", Commands)
    app.add_lexer("csv", TextLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
