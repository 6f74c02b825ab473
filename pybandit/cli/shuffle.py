"""`pybandit shuffle`, which writes the rows of a table in random order, to be read in blocks."""

import argparse
import sys
import time

from pybandit.cli._text import warned
from pybandit.cli._types import at_least

EPILOG = """\
IN is a Parquet (.parquet, .pq), NumPy (.npy) or Zarr (.zarr) file, OUT a Parquet file.
Each row group of OUT is a block: best_of, race and RacingSampler read whole blocks in
random order. The order of the rows is determined by the seed and the number of rows.
The seed is stored in the file's metadata, under pybandit_shuffle.

If a file was sorted or truncated after the shuffle, scores may have determined the
order of its rows. It is rejected if its number of rows has changed, or if the first
column of numbers in the first or last block has; nothing else is checked. A file that
was not shuffled is not read in blocks: it is loaded if it is small, and otherwise rejected.

exit status: 0 if OUT was written; 1 if a package is missing; 2 if the options or the
file are invalid, with the reason on stderr; nothing is written then."""


def add(commands):
    """Add the subcommand to argparse's `commands`."""
    command = commands.add_parser(
        "shuffle", help="write the rows of a large table in random order, for races",
        description="Write the rows of a table in one uniformly random order, with bounded\n"
                    "memory, so that a race can read whole blocks of it.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    command.add_argument("table", metavar="IN", help="the table")
    command.add_argument("out", metavar="OUT", help="the Parquet file to write")
    command.add_argument("--seed", type=at_least(0), metavar="N",
                         help="seed of the order (default: random)")
    command.add_argument("--memory", type=at_least(16), default=256, metavar="MB",
                         help="approximate memory for rows (default %(default)s)")
    command.add_argument("--block-rows", type=at_least(1), metavar="N",
                         help="rows per block (default: up to a million cells, at least 64 blocks)")
    command.add_argument("--overwrite", action="store_true",
                         help="replace OUT if it exists")
    command.set_defaults(run=run)


def run(arguments):
    """Shuffle a table, print the size of the result, and return the exit status."""
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
