"""`pybandit study`: the log of a study, a screen or a web test."""

from pybandit.cli._actions import add_batch_actions, add_command, add_log_actions

EPILOG = """\
A study is the durable log of a policy or a race, in one file. pybandit screen begins one on
plates, pybandit webtest one on counts, and pybandit.Study one in Python; these actions work
on the files of all three: on study.db in this folder, or on another one: --study FILE before
or after the action, or FILE as its first word.

exit status: 0 done; 1 where a package is missing; 2 where options or a file are wrong,
and nothing was recorded; 3 where the study's file is damaged, too new, or cannot be read
or written."""


def add(commands):
    """Add the subcommand to argparse's `commands`."""
    _, parts = add_command(
        commands, "study", help="the log of any study: status, report, export, verify, serve",
        description="See what a study's file holds, whole and unchanged, and what is best by now.",
        epilog=EPILOG)
    add_log_actions(parts)
    add_batch_actions(parts)
