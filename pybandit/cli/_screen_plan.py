"""`pybandit screen plan`: how many plates, and which policy; and what `--policy auto` takes."""

import argparse
import json
import math

from pybandit.cli._screen_options import add_plate
from pybandit.cli._text import aligned
from pybandit.cli._types import at_least, number_of

RUNS = 30
NOISE = 1.0

EPILOG = """\
Arms are drawn from a normal law; --noise is the deviation of one reading, where the arms'
is 1, or --pilot a table with columns arm and value, some arms more than once, of which both
are estimated. Real arms are not normal: where a few stand out more is found than here.
A hit is one of the k best arms that is among the k of the answer. Intervals are 95 %, over
runs. Left out is what a policy does not take: it needs more plates."""


def add(parts):
    """Add the action."""
    part = parts.add_parser(
        "plan", help="hits found against plates, before anything is begun",
        description="Play the policies for plates on arms that are drawn, and say what they find.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    part.add_argument("--n", type=at_least(2), required=True, metavar="N", help="how many arms")
    part.add_argument("--k", type=at_least(1), required=True, metavar="N",
                      help="how many of the best")
    part.add_argument("--batches", type=at_least(1), nargs="+", metavar="N",
                      help="plates to spend, one number or several (default: from the fewest)")
    part.add_argument("--repeats", type=at_least(1), metavar="N",
                      help="wells of one arm in a batch at most (default: any)")
    add_plate(part)
    add_noise(part)
    part.add_argument("--runs", type=at_least(2), default=RUNS, metavar="N",
                      help="of each policy (default %(default)s)")
    part.add_argument("--seed", type=at_least(0), default=0, metavar="N",
                      help="of what is drawn (default %(default)s)")
    part.add_argument("--json", action="store_true", help="print for machines, as JSON")
    return part


def add_noise(part):
    """Add the options that say how much a reading varies."""
    part.add_argument("--noise", type=_positive, metavar="S",
                      help="deviation of a reading, where that between arms is 1 (default 1)")
    part.add_argument("--pilot", metavar="FILE.csv",
                      help="readings of a pilot, in place of --noise: columns arm and value")


def _positive(text):
    value = number_of(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number above 0, and finite; got {text}")
    return value


def noise_of(arguments):
    """The noise of --noise or --pilot, and where it is from."""
    if arguments.noise is not None and arguments.pilot is not None:
        raise ValueError("--pilot says what --noise is: give one of them")
    if arguments.pilot is not None:
        from pybandit.lab._values import noise_of_pilot

        labels = [getattr(arguments, f"{kind}_label", kind) for kind in ("control", "positive")]
        log = getattr(arguments, "log", False)  # plan has no plates of its own
        return noise_of_pilot(arguments.pilot, labels, log), f"of {arguments.pilot}"
    if arguments.noise is not None:
        return arguments.noise, "as given"
    return NOISE, "as if: --noise or --pilot says it"


def plan(arguments):
    """Print what the policies find; returns the exit status."""
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
    print(f"{screen.n:,} arms, the {screen.k:,} best wanted, {size:,} wells a batch, noise "
          f"{noise:.3g} ({source}); hits of {screen.k:,}, {arguments.runs} runs, ± 95 %")
    print("\n".join(_table(found, chosen, PLATES)))
    print("fewest batches: " + ", ".join(f"{name} {least[name]:,}" for name in PLATES))
    return 0


def _ladder(least):
    """From the fewest batches to thrice as many."""
    return [max(least, math.ceil(least * times)) for times in (1, 1.5, 2, 3)]


def _table(found, chosen, names):
    head = ["batches", *names, "auto"]
    rows = [[f"{number:,}", *[_cell(one[name]) for name in names], chosen[number] or "-"]
            for number, one in found.items()]
    return aligned([head, *rows], "<" * len(head))


def _cell(found):
    return "-" if found is None else f"{found.hits:.1f} ± {found.half:.1f}"


def policy_for(arguments, n_arms, size):
    """The policy that --policy auto takes, and why: its name and a sentence."""
    from pybandit.cli._screen_play import PLATES, Screen, choose, fewest, play

    for option in "k", "batches":
        if getattr(arguments, option) is None:
            raise ValueError(f"--policy auto needs --{option}")
    if arguments.k >= n_arms:
        raise ValueError(f"--k must be below the number of arms, {n_arms:,}; got "
                         f"{arguments.k:,}")
    noise, source = noise_of(arguments)
    screen = Screen(n_arms, arguments.k, size, arguments.repeats, noise)
    # the others know no order to measure in, and leave arms out without being told to
    names = PLATES if arguments.prior is None else PLATES[:1]
    found = {name: play(name, screen, arguments.batches, RUNS, 0) for name in names}
    least = {name: fewest(name, screen) for name in names}
    if arguments.batches < least["batch-screening"]:
        raise ValueError(
            f"--batches must be at least {least['batch-screening']:,} to measure each of "
            f"{n_arms:,} arms once in batches of {size:,}, or else --policy says which to take; "
            f"got {arguments.batches:,}")
    name = choose(found)
    others = [f"{other} {_cell(one)}" if one else f"{other} needs {least[other]:,} batches"
              for other, one in found.items() if other != name]
    return name, "; ".join([f"--policy auto: {name}, which finds {_cell(found[name])} of "
                            f"{screen.k:,} at noise {noise:.3g} ({source})", *others])
