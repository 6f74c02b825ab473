"""Commands of `pybandit screen`, and the files that go out and come back."""

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
    """What a command prints."""
    assert cli.main([command, *map(str, arguments)]) == status
    out, err = capsys.readouterr()
    assert err == "" and all(len(line) < 100 for line in out.splitlines())
    return out


def as_json(capsys, *arguments, command="screen"):
    return json.loads(ok(capsys, *arguments, "--json", command=command))


def refused(capsys, *arguments, status=2, command="screen"):
    """What a command says that fails, and changes nothing."""
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
    """A reader's value, by plate and well."""
    seed = [ord(character) for character in row[0] + row[1]]
    return float(np.round(np.random.default_rng(seed).uniform(0.1, 0.9), 3))


def fill(source, target, keep=lambda row: True, value=reading):
    """A file of results of a long table, of the rows to be kept."""
    head, *rows = rows_of(source)
    with open(target, "w", newline="") as file:
        csv.writer(file).writerows([head, *([*row[:3], value(row)] for row in rows if keep(row))])
    return target


def carry_out(capsys, number):
    ok(capsys, "next", "-o", f"p{number}.csv")
    return fill(f"p{number}.csv", f"r{number}.csv")
