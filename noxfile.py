#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.2"]
# ///
"""Sessions of nox; each runs targets of the Makefile, which make their own environment."""

import nox

nox.needs_version = ">=2025.2"
nox.options.default_venv_backend = "none"


@nox.session
def lint(session):
    """Check style, sentences, and calls that other systems lack."""
    session.run("make", "lint", external=True)


@nox.session
def tests(session):
    """Run lint and the tests that people run while they work."""
    session.run("make", "test", external=True)


@nox.session(name="tests-more", default=False)
def tests_more(session):
    """Run the other tests."""
    session.run("make", "test-more", external=True)


@nox.session(default=False)
def docs(session):
    """Build the site, and test it."""
    session.run("make", "docs", external=True)


@nox.session(default=False)
def wheels(session):
    """Build the sdist and the wheel, and test them in clean environments."""
    session.run("make", "wheel", external=True)
    session.run("make", "wheel-test", external=True)


if __name__ == "__main__":
    nox.main()
