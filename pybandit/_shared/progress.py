"""Progress bars, on terminals and in notebooks."""

import importlib.util
import sys

from pybandit._shared.checks import check_choice
from pybandit._shared.optional import require


def make_bar(progress, total, unit, title):
    """Return a tqdm bar, or an object that takes the same calls and shows nothing.

    If `progress` is None, there is a bar if tqdm is installed and stderr is a terminal or a
    notebook.
    """
    check_choice("progress", progress, (None, True, False))
    notebook = _in_notebook()
    if progress is None:
        seen = notebook or (sys.stderr is not None and sys.stderr.isatty())
        progress = seen and importlib.util.find_spec("tqdm") is not None
    if not progress:
        return _NoBar()
    # tqdm.auto draws a widget in notebooks; without ipywidgets it warns instead
    widget = notebook and importlib.util.find_spec("ipywidgets") is not None
    tqdm = require("tqdm.auto" if widget else "tqdm", "progress").tqdm
    return tqdm(total=total, unit=f" {unit}", desc=title)


def _in_notebook():
    """Return True in a kernel of Jupyter; IPython in a terminal is a terminal."""
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)
    return type(get_ipython()).__name__ == "ZMQInteractiveShell"


class _NoBar:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def update(self, n):
        pass

    def set_postfix_str(self, text, refresh):
        pass
