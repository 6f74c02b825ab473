"""Run commands of `pybandit screen`, and write the files that a reader would return."""

import csv
import json
import os

import numpy as np

import pybandit as pb
from pybandit import cli
from pybandit.serving._study import open_any

GENES = [f"gene {i}" for i in range(30)]
NEW = ["new", "study.db", "--policy", "batch-sar", "--arms", "genes.csv", "--k", "3", "--batches",
       "8", "--repeats", "4", "--plate", "4x6"]


def ok(capsys, *arguments, status=0, command="screen"):
    """Run a command that succeeds; return its output."""
    assert cli.main([command, *map(str, arguments)]) == status
    out, err = capsys.readouterr()
    assert err == "" and all(len(line) < 100 for line in out.splitlines())
    return out


def as_json(capsys, *arguments, command="screen"):
    return json.loads(ok(capsys, *arguments, "--json", command=command))


def refused(capsys, *arguments, status=2, command="screen"):
    """Run a command that fails and changes nothing; return its error message."""
    before = digest()
    assert cli.main([command, *map(str, arguments)]) == status
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(f"pybandit {command} {arguments[0]}: ")
    assert err.count("\n") == 1 and digest() == before
    return err


def digest():
    if not os.path.exists("study.db"):
        return None
    try:
        with open_any("study.db") as study:
            return study.verify().head
    except pb.errors.StudyError as error:
        return str(error)


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def reading(row):
    """Return the reading of a well."""
    seed = [ord(character) for character in row[0] + row[1]]
    return float(np.round(np.random.default_rng(seed).uniform(0.1, 0.9), 3))


def fill(source, target, keep=lambda row: True, value=reading):
    """Write the results of a long table to a file, only for the rows to keep."""
    head, *rows = rows_of(source)
    with open(target, "w", newline="") as file:
        csv.writer(file).writerows([head, *([*row[:3], value(row)] for row in rows if keep(row))])
    return target


def carry_out(capsys, number):
    ok(capsys, "next", "-o", f"p{number}.csv")
    return fill(f"p{number}.csv", f"r{number}.csv")
