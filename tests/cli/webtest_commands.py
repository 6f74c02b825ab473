"""Run commands of `pybandit webtest`."""

from functools import partial

from cli import screen_commands

ok, as_json, refused = (partial(getattr(screen_commands, name), command="webtest")
                        for name in ("ok", "as_json", "refused"))
