"""The policies with which `pybandit screen new` can start a screen, and their options."""

import re
from typing import NamedTuple

from pybandit import policies


class Choice(NamedTuple):
    """The class of a policy, its required options and its optional ones.

    `arm_noise_std` stands for the column noise_std of the file of arms. `fixed` holds arguments
    that no option changes.
    """

    policy: str
    needs: tuple[str, ...]
    takes: tuple[str, ...] = ()
    fixed: dict = {}


# option -> argument of the policies
ARGUMENTS = {"k": "k", "batch_size": "batch_size", "batches": "max_batches",
             "repeats": "max_repeats", "budget": "budget", "delta": "delta",
             "arm_noise_std": "noise_std", "noise_std": "noise_std", "seed": "rng",
             "reuse": "reuse", "prior": "prior_means",
             "allow_unmeasured": "allow_unmeasured"}
AUTO = "auto"

CHOICES = {
    "batch-screening": Choice("BatchScreening", ("k", "batch_size", "batches"),
                              ("repeats", "prior", "allow_unmeasured")),
    "batch-sar": Choice("BatchSAR", ("k", "batch_size", "batches"), ("repeats",)),
    "batch-racing": Choice("BatchRacing", ("k", "batch_size"), ("repeats", "delta", "noise_std")),
    "batch-halving": Choice("BatchHalving", ("k", "batch_size", "batches"), ("repeats", "seed")),
    "round-robin": Choice("RoundRobin", ("k", "batch_size", "batches"), ("repeats",)),
    "sequential-halving": Choice("SequentialHalving", ("budget",), ("reuse",)),
    "shvar": Choice("SHVar", ("budget", "arm_noise_std"), ("reuse",)),
    "shadavar": Choice("SHAdaVar", ("budget",), ("delta", "reuse")),
    "ucb1": Choice("UCB1", ()),
    "thompson": Choice("ThompsonSampling", (), ("noise_std", "seed"), {"law": "gaussian"}),
}


def make_policy(name, n_arms, options, arm_noise_std=None):
    """Return a policy from the options of the command line.

    Parameters
    ----------
    name : str
        One of `CHOICES`.
    n_arms : int
    options : dict
        Values by the names in `ARGUMENTS`; None if not given. ``batch_size`` is ignored if the
        policy determines the size of its batches.
    arm_noise_std : ndarray, optional
        Standard deviation of each arm's rewards, if the file of arms has that column.

    Raises
    ------
    ValueError
        If an option is missing, does not apply to this policy, or has a value that it rejects.
    """
    choice = CHOICES[name]
    given = {option: value for option, value in options.items() if value is not None}
    if "arm_noise_std" in choice.needs:
        if arm_noise_std is None:
            raise ValueError(f"--policy {name} needs a column 'noise_std' in the file of arms")
        given["arm_noise_std"] = arm_noise_std
    for option in choice.needs:
        if option not in given:
            raise ValueError(f"--policy {name} needs {_option(option)}")
    for option in given:
        if option not in choice.needs + choice.takes and option != "batch_size":
            raise ValueError(f"--policy {name} does not take {_option(option)}")
    arguments = {ARGUMENTS[option]: value for option, value in given.items()
                 if option in choice.needs + choice.takes}
    try:
        return getattr(policies, choice.policy)(n_arms, **choice.fixed, **arguments)
    except ValueError as error:
        raise type(error)(_in_options(str(error))) from None


def _option(name):
    return f"--{name.replace('_', '-')}"


def _in_options(message):
    """Return a policy's message with options in place of argument names."""
    names = {argument: _option(option) for option, argument in ARGUMENTS.items()}
    message = re.sub(r"\bn_arms = (\d+)", r"the number of arms, \1", message)
    return re.sub(r"\b(" + "|".join(names) + r")\b(?! of\b)", lambda found: names[found[0]],
                  message)


def options_text(name):
    """Return the options of a policy for --help, such as 'batch-sar --k --batches [--repeats]'."""
    choice = CHOICES[name]
    needs = [f"--{option}" for option in choice.needs if option not in ("batch_size",
                                                                        "arm_noise_std")]
    takes = [f"[{_option(option)}]" for option in choice.takes]
    column = ["and a column noise_std in --arms"] * ("arm_noise_std" in choice.needs)
    return f"{name:20}{' '.join(needs + takes + column) or '(none)'}"
