"""`pybandit screen next` for robots: what is transferred from which well of the stock."""

import sys

from pybandit.cli._out import batch_as_json, content_of, put, say
from pybandit.lab._picklists import (
    HEADERS,
    deck_of,
    picklist,
    read_picklist,
    read_stock,
    transfers_of,
)

ROBOTS = tuple(HEADERS)


def robot_list(arguments, batch, plates):
    """Write the transfers of a batch, in one file."""
    form = arguments.format
    for name in "stock", "volume":
        if getattr(arguments, name) is None:
            raise ValueError(f"--format {form} needs --{name}")
    stock = read_stock(arguments.stock)
    transfers, by_hand = transfers_of(plates, batch.id, batch.names, stock)
    text = picklist(transfers, form, arguments.volume, plates.layout)
    deck = deck_of(transfers) if form == "opentrons" else {}
    # a robot asks nobody: what is written is read again first
    if read_picklist(text, form, stock, deck) != {(one.plate, one.well): one.arm
                                                  for one in transfers}:
        raise ValueError(f"--stock must have names that --format {form} can carry")
    files = [] if arguments.out is None else [arguments.out]
    if files:
        put(arguments.out, content_of(arguments.out, text), arguments.overwrite)
    slots = [f"slot {slot}: {kind} {name}" for (kind, name), slot in deck.items()]
    hand = [f"{label}, {n:,} wells, is not in the stock" for label, n in by_hand.items()]
    if arguments.json:
        say(arguments, batch_as_json(batch, plates) | {
            "files": files, "transfers": [list(one) for one in transfers],
            "deck": {str(slot): name for (_, name), slot in deck.items()}, "by_hand": by_hand})
    elif not files:
        sys.stdout.write(text)
        print(*slots, *hand, sep="\n", end="\n" * bool(slots or hand), file=sys.stderr)
    else:
        names = plates.names(batch.id, len(batch.names))
        print(*[f"plate {', '.join(names if len(names) < 5 else [*names[:2], '...', names[-1]])}: "
                f"{len(transfers):,} transfers, in {arguments.out}", *slots, *hand], sep="\n")
    return 0
