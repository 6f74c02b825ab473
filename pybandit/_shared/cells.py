"""What files of scores, of results and of arms share: how cells are told apart, and lost ones."""

DELIMITERS = (",", ";", "\t")
LOST = ("", "na", "n/a", "#n/a", "nan", "null", "none")


class BadFile(ValueError):
    """A file that cannot be read; the message says where and why."""
