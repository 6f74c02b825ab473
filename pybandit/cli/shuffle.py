"""`pybandit shuffle`: the rows of a table in a random order, for races to read by blocks."""

import argparse
import sys
import time

from pybandit.cli._text import warned
from pybandit.cli._types import at_least

EPILOG = """\
IN is a file of Parquet (.parquet, .pq), NumPy (.npy) or Zarr (.zarr), OUT one of
Parquet. Each of its row groups is a block; best_of, race and RacingSampler read
whole blocks of it, in random order. The order follows from the seed and the number
of rows alone. The seed is in the file's metadata, under pybandit_shuffle.

What was sorted or cut after the shuffle may be in an order that scores have chosen.
It is refused where the rows are not so many any more, or the first column of numbers
in the first or the last block is another: nothing else is looked at. Of a file that is
no shuffle's no blocks are read: a small one is read into memory, a large one refused.

exit status: 0 when it is written; 1 where a package is missing; 2 where the
options or the file are wrong, with the reason on stderr: nothing is written then."""


def add(commands):
    """Add the subcommand to argparse's `commands`."""
    command = commands.add_parser(
        "shuffle", help="the rows of a large table in a random order, for races to read",
        description="Write the rows of a table in one uniformly random order, in bounded\n"
                    "memory: what a race reads of it then comes in whole blocks.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    command.add_argument("table", metavar="IN", help="the table")
    command.add_argument("out", metavar="OUT", help="where it goes: a file of Parquet")
    command.add_argument("--seed", type=at_least(0), metavar="N",
                         help="of the order (default: of the operating system)")
    command.add_argument("--memory", type=at_least(16), default=256, metavar="MB",
                         help="that rows may take at a time, about (default %(default)s)")
    command.add_argument("--block-rows", type=at_least(1), metavar="N",
                         help="rows of a block (default: of a million cells, or 64 blocks)")
    command.add_argument("--overwrite", action="store_true",
                         help="write over OUT where it is there")
    command.set_defaults(run=run)


def run(arguments):
    """Shuffle, and say what was written; returns the exit status."""
    from pybandit.tables import shuffle

    began = time.perf_counter()
    try:
        with warned("shuffle"):
            made = shuffle(arguments.table, arguments.out, rng=arguments.seed,
                           memory=arguments.memory << 20, block_rows=arguments.block_rows,
                           overwrite=arguments.overwrite)
    except (ValueError, TypeError, OSError) as error:
        print(f"pybandit shuffle: {error}", file=sys.stderr)
        return 2
    print(f"{arguments.out}: {made.n_rows:,} rows of {made.n_columns:,} columns in "
          f"{made.sizes.size:,} blocks, in {time.perf_counter() - began:.1f} s")
    return 0
