"""`pybandit study`: actions on the file of a study, a screen or a web test."""

from pybandit.cli._actions import add_batch_actions, add_command, add_study_actions

EPILOG = """\
A study is the durable log of a policy or a race, in one file. pybandit screen creates one for
plates, pybandit webtest one for counts, and pybandit.Study one in Python. These actions work on
the files of all three. The file is study.db in this folder; name another one by --study FILE
before or after the action, or as the first word of the action.

exit status: 0 done; 1 if a package is missing; 2 if options or a file are invalid, and nothing
was recorded; 3 if the study's file is damaged, too new, or cannot be read or written."""


def add(commands):
    """Add the subcommand to argparse's `commands`."""
    _, parts = add_command(
        commands, "study", help="use the file of any study: status, report, export, verify, serve",
        description="Show, check, export or serve the contents of a study's file.",
        epilog=EPILOG)
    add_study_actions(parts)
    add_batch_actions(parts)
