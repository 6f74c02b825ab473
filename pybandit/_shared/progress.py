"""A bar of progress where there is someone to see it."""

import importlib.util
import sys

from pybandit._shared.checks import check_choice
from pybandit._shared.optional import require


def make_bar(progress, total, unit, title):
    """A tqdm bar, or something that takes the same calls and shows nothing.

    `progress` None: a bar where tqdm is installed and stderr is a terminal.
    """
    check_choice("progress", progress, (None, True, False))
    if progress is None:
        terminal = sys.stderr is not None and sys.stderr.isatty()
        progress = terminal and importlib.util.find_spec("tqdm") is not None
    if not progress:
        return _NoBar()
    return require("tqdm", "progress").tqdm(total=total, unit=f" {unit}", desc=title)


class _NoBar:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def update(self, n):
        pass

    def set_postfix_str(self, text, refresh):
        pass
