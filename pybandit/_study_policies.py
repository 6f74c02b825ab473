"""The policies that the command line begins studies with: the one place that names them."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from pybandit import policies
from pybandit._score_csv import BadFile
from pybandit.studies._sheet import number, rows_of, short

ARM_HEADERS = ("arm", "name", "gene", "id")


class Choice(NamedTuple):
    """A policy by its class, the options it needs and those it may take.

    `variances` stands for a column of the file of arms. `fixed` are arguments that no option
    changes, `called` the arguments whose option has another name here than in `ARGUMENTS`.
    """

    policy: str
    needs: tuple[str, ...]
    takes: tuple[str, ...] = ()
    fixed: dict = {}
    called: dict = {}


# options by the policies' arguments
ARGUMENTS = {"k": "k", "batch_size": "batch_size", "batches": "max_batches",
             "repeats": "max_repeats", "budget": "budget", "delta": "delta", "sigma": "sigma",
             "seed": "rng", "variances": "variances"}

CHOICES = {
    "batch-sar": Choice("BatchSAR", ("k", "batch_size", "batches"), ("repeats",)),
    "batch-racing": Choice("BatchRacing", ("k", "batch_size"), ("repeats", "delta", "sigma")),
    "batch-halving": Choice("BatchHalving", ("k", "batch_size", "batches"), ("repeats", "seed")),
    "round-robin": Choice("RoundRobin", ("k", "batch_size", "batches"), ("repeats",)),
    "sequential-halving": Choice("SequentialHalving", ("budget",)),
    "shvar": Choice("SHVar", ("budget", "variances")),
    "shadavar": Choice("SHAdaVar", ("budget",), ("delta",)),
    "ucb1": Choice("UCB1", ()),
    "thompson": Choice("ThompsonSampling", (), ("sigma", "seed"), {"law": "gaussian"},
                       {"sigma": "noise_std"}),
}


def make_policy(name, n_arms, options, variances=None):
    """A policy from the options of the command line.

    Parameters
    ----------
    name : str
        One of `CHOICES`.
    n_arms : int
    options : dict
        By the names in `ARGUMENTS`; None where not given. ``batch_size`` is left out where
        the policy sizes its batches itself.
    variances : ndarray, optional
        Of the arms, where their file has them.

    Raises
    ------
    ValueError
        Where an option is missing, is not this policy's, or has a value it refuses.
    """
    choice = CHOICES[name]
    given = {option: value for option, value in options.items() if value is not None}
    if "variances" in choice.needs:
        if variances is None:
            raise ValueError(f"--policy {name} needs a column 'variance' in the file of arms")
        given["variances"] = variances
    for option in choice.needs:
        if option not in given:
            raise ValueError(f"--policy {name} needs --{option.replace('_', '-')}")
    for option in given:
        if option not in choice.needs + choice.takes and option != "batch_size":
            raise ValueError(f"--policy {name} takes no --{option}")
    arguments = {choice.called.get(option, ARGUMENTS[option]): value
                 for option, value in given.items() if option in choice.needs + choice.takes}
    return getattr(policies, choice.policy)(n_arms, **choice.fixed, **arguments)


def wants(name):
    """The options of a policy, for --help: 'batch-sar: --k --batches [--repeats]'."""
    choice = CHOICES[name]
    needs = [f"--{option}" for option in choice.needs if option not in ("batch_size", "variances")]
    takes = [f"[--{option}]" for option in choice.takes]
    column = ["and variances of the arms"] * ("variances" in choice.needs)
    return f"{name:20}{' '.join(needs + takes + column) or '(none)'}"


def read_arms(path, column=None):
    """Names of arms, and their variances where there is a column of them.

    Parameters
    ----------
    path : str
        CSV. A first line that has arm, name, gene or id, or `column`, in it names the columns;
        without one, there is one column.
    column : str, optional

    Returns
    -------
    names : list of str
    variances : ndarray of float64, or None

    Raises
    ------
    BadFile
        Where a name is missing or doubled; names file, line and column.
    """
    try:
        with Path(path).open("rb") as file:
            return _arms_of(rows_of(file), column)
    except OSError as error:
        raise BadFile(f"{path}: cannot be read: {error.strerror}") from None
    except BadFile as error:
        raise BadFile(f"{path}: {error}") from None


def _arms_of(rows, column):
    line, first = next(rows)
    heads = [cell.casefold() for cell in first]
    wanted = ARM_HEADERS if column is None else (column.casefold(),)
    at = next((heads.index(name) for name in wanted if name in heads), None)
    if at is None and (column is not None or len(first) > 1):
        expected = "none of arm, name, gene and id" if column is None else f"no {column!r}"
        raise BadFile(f"line {line}, column 1: {expected} is in the header; it has "
                      f"{', '.join(map(short, first))}; --column says where the names are")
    of_variance = heads.index("variance") if at is not None and "variance" in heads else None
    body = rows if at is not None else _with(line, first, rows)
    names, variances, lines = [], [], {}
    for line, cells in body:
        if not any(cells):
            continue
        if len(cells) != len(first):
            raise BadFile(f"line {line}, column {min(len(cells), len(first)) + 1}: the row has "
                          f"{len(cells)} cells, the first {len(first)}")
        name = cells[at or 0]
        if not name:
            raise BadFile(f"line {line}, column {(at or 0) + 1}: an arm without a name")
        if name in lines:
            raise BadFile(f"line {line}, column {(at or 0) + 1}: arm {short(name)} is on line "
                          f"{lines[name]} already")
        lines[name] = line
        names.append(name)
        if of_variance is not None:
            variances.append(_variance(cells[of_variance], line))
    if not names:
        raise BadFile(f"line {line}, column 1: there is a header and no arms under it")
    return names, np.array(variances) if of_variance is not None else None


def _with(line, first, rows):
    yield line, first
    yield from rows


def _variance(cell, line):
    value = number(cell, lambda: f"line {line}, column 'variance'")
    if not value > 0:
        raise BadFile(f"line {line}, column 'variance': must be positive; got {short(cell)}")
    return value
