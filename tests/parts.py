"""Divide the tests between `make test` and `make test-more`.

The first part must stay a command that people run: at most five minutes on two processors from a
built tree. The second part has whole files, and tests marked `more`: programs that are killed,
hostile files, browsers, other builds, and long statistics. `.ci/run` runs both parts.
"""

# Folders and files below tests/.
MORE = (
)


def is_more(path):
    """Return True if a file, named below tests/, is left to the second part."""
    return any(path == one or one.endswith("/") and path.startswith(one) for one in MORE)
