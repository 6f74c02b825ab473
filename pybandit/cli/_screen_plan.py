"""`pybandit screen plan`, which compares policies by simulation, and `--policy auto`."""

import argparse
import json
import math

from pybandit.cli._screen_options import add_plate
from pybandit.cli._text import aligned
from pybandit.cli._types import at_least, number_of

RUNS = 30
NOISE = 1.0

EPILOG = """\
True means of arms are drawn from a normal distribution with standard deviation 1. --noise is
the standard deviation of one reading on this scale. Alternatively, --pilot is a table with
columns arm and value, some arms more than once, from which both standard deviations are
estimated. Real arms are not normal: if a few stand out, more of them are found than here.
A hit is one of the k best arms that is among the k arms of the answer. Intervals are 95 %,
over runs. A - marks a policy that needs more batches."""


def add(parts):
    """Add the action `plan` to a command."""
    part = parts.add_parser(
        "plan", help="simulate policies: hits by number of plates, before a screen starts",
        description="Simulate the policies for plates on random arms, and print how many of the "
                    "best arms they find.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    part.add_argument("--n", type=at_least(2), required=True, metavar="N", help="number of arms")
    part.add_argument("--k", type=at_least(1), required=True, metavar="N",
                      help="number of best arms to find")
    part.add_argument("--batches", type=at_least(1), nargs="+", metavar="N",
                      help="numbers of batches to compare (default: from the smallest possible "
                           "number to three times as many)")
    part.add_argument("--repeats", type=at_least(1), metavar="N",
                      help="maximum number of wells per arm and batch (default: no limit)")
    add_plate(part)
    add_noise(part)
    part.add_argument("--runs", type=at_least(2), default=RUNS, metavar="N",
                      help="simulations per policy (default %(default)s)")
    part.add_argument("--seed", type=at_least(0), default=0, metavar="N",
                      help="seed of the simulations (default %(default)s)")
    part.add_argument("--json", action="store_true", help="print JSON")
    return part


def add_noise(part):
    """Add the options for the noise of a reading."""
    part.add_argument("--noise", type=_positive, metavar="S",
                      help="standard deviation of a reading, relative to that between arms "
                           "(default 1)")
    part.add_argument("--pilot", metavar="FILE.csv",
                      help="readings of a pilot, instead of --noise: columns arm and value")


def _positive(text):
    value = number_of(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a finite number above 0; got {text}")
    return value


def noise_of(arguments):
    """Return the noise of --noise or --pilot, and a few words about its origin."""
    if arguments.noise is not None and arguments.pilot is not None:
        raise ValueError("pass only one of --noise and --pilot, which estimates the noise")
    if arguments.pilot is not None:
        from pybandit.lab._values import noise_of_pilot

        labels = [getattr(arguments, f"{kind}_label", kind) for kind in ("control", "positive")]
        log = getattr(arguments, "log", False)  # plan has no such option
        return noise_of_pilot(arguments.pilot, labels, log), f"of {arguments.pilot}"
    if arguments.noise is not None:
        return arguments.noise, "as given"
    return NOISE, "assumed: set --noise or --pilot"


def plan(arguments):
    """Print how many of the best arms the policies find; return the exit status."""
    from pybandit.cli._screen_play import PLATES, Screen, choose, fewest, play
    from pybandit.lab.plates import Layout, Plates, controls_of

    if arguments.k >= arguments.n:
        raise ValueError(f"--k must be below --n, {arguments.n:,}; got {arguments.k:,}")
    layout = Layout.parse(arguments.plate)
    plates = Plates(layout, controls_of(arguments.controls, layout), "control", False, False,
                    False)
    noise, source = noise_of(arguments)
    size = arguments.batch_size or plates.n_free
    screen = Screen(arguments.n, arguments.k, size, arguments.repeats, noise)
    least = {name: fewest(name, screen) for name in PLATES}
    numbers = sorted(set(arguments.batches or _ladder(least["batch-screening"])))
    found = {number: {name: play(name, screen, number, arguments.runs, arguments.seed)
                      for name in PLATES} for number in numbers}
    chosen = {number: choose(found[number]) for number in numbers}
    if arguments.json:
        print(json.dumps({
            "screen": screen._asdict(), "runs": arguments.runs, "fewest": least,
            "found": [{"batches": number, "policy": name, "hits": one.hits, "half": one.half}
                      for number in numbers for name, one in found[number].items() if one],
            "chosen": chosen}))
        return 0
    print(f"{screen.n:,} arms, the {screen.k:,} best wanted, {size:,} wells per batch, noise "
          f"{noise:.3g} ({source}); hits of {screen.k:,}, {arguments.runs} runs, ± 95 %")
    print("\n".join(_table(found, chosen, PLATES)))
    print("fewest batches: " + ", ".join(f"{name} {least[name]:,}" for name in PLATES))
    return 0


def _ladder(least):
    """Return numbers of batches from the fewest to three times as many."""
    return [max(least, math.ceil(least * times)) for times in (1, 1.5, 2, 3)]


def _table(found, chosen, names):
    head = ["batches", *names, "auto"]
    rows = [[f"{number:,}", *[_cell(one[name]) for name in names], chosen[number] or "-"]
            for number, one in found.items()]
    return aligned([head, *rows], "<" * len(head))


def _cell(found):
    return "-" if found is None else f"{found.hits:.1f} ± {found.half:.1f}"


def policy_for(arguments, n_arms, size):
    """Return the name of the policy that --policy auto selects, and a sentence with the reason."""
    from pybandit.cli._screen_play import PLATES, Screen, choose, fewest, play

    for option in "k", "batches":
        if getattr(arguments, option) is None:
            raise ValueError(f"--policy auto needs --{option}")
    if arguments.k >= n_arms:
        raise ValueError(f"--k must be below the number of arms, {n_arms:,}; got "
                         f"{arguments.k:,}")
    noise, source = noise_of(arguments)
    screen = Screen(n_arms, arguments.k, size, arguments.repeats, noise)
    # only batch-screening uses a prior; the others might leave arms unmeasured without permission
    names = PLATES if arguments.prior is None else PLATES[:1]
    found = {name: play(name, screen, arguments.batches, RUNS, 0) for name in names}
    least = {name: fewest(name, screen) for name in names}
    if arguments.batches < least["batch-screening"]:
        raise ValueError(
            f"--batches must be at least {least['batch-screening']:,} to measure each of "
            f"{n_arms:,} arms once in batches of {size:,}, unless --policy names a policy; "
            f"got {arguments.batches:,}")
    name = choose(found)
    others = [f"{other} {_cell(one)}" if one else f"{other} needs {least[other]:,} batches"
              for other, one in found.items() if other != name]
    return name, "; ".join([f"--policy auto: {name}, which finds {_cell(found[name])} of "
                            f"{screen.k:,} at noise {noise:.3g} ({source})", *others])
