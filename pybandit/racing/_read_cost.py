"""Cost of reading rows of an array at random, compared with one pass over the array.

Rows are read at random until a race is decided; a race that is not decided reads the array in
order, which costs much less per row. So the rows read at random must be few: if they cost a
share c of a pass, a race costs at most 1 + c passes, whatever the data. If gaps have a density
near 0, as with Gumbel noise, the mean cost is smallest for c = 1/2 and 6 % larger for c = 1/4.
"""

from pybandit.racing.bounds import BettingBound, EBSBound

# Share of a pass that the rows read at random may cost. The looks double, so they cost an eighth
# to a quarter, and up to twice that if the leader changes at every look.
SHARE = 0.25
# Costs in nanoseconds; only their ratios matter. They are constants, so that the same seed gives
# the same answer on any machine. They were chosen from times on a loaded machine, rounded up: rows
# cost 22 to 35 ns with 2 or 10 states and 160 with 100 (model: 33, 45, 180), and a cell .3 to .6 ns
# per bet. `test_costs_of_rows` in bench/racing/bench_tables.py measures them again.
PASS_BYTE = 0.04    # of a pass, per byte
PASS_CELL = 0.05    # and at least this per cell
ROW = 30.0          # to draw an index and fetch the row
RUN_ROW = 4.0       # to fetch a row of a run of rows
CELL = 1.5          # to add a cell to the moments
BET = 1.5           # per cell and bet, with bets on both sides in a test


def default_fraction(bound, n_states, cell_bytes, in_runs):
    """Return the share of the rows of an array at which a race looks by default.

    `cell_bytes` is the size of a cell; `in_runs` means that rows are read in runs, not one by one.
    """
    one_pass = n_states * max(PASS_CELL, PASS_BYTE * cell_bytes)
    row = (RUN_ROW if in_runs else ROW) + n_states * _cell(bound, n_states)
    return min(1.0, SHARE * one_pass / row)


def fraction_of(looks, bound, n_factors, n_states, cell_bytes, in_runs):
    """Return the share of the factors at which a race looks; `cell_bytes` None: of a function."""
    if looks.max_fraction is not None or cell_bytes is None:
        return 1.0 if looks.max_fraction is None else looks.max_fraction
    first = bound.default_first_look if looks.first is None else looks.first
    share = default_fraction(bound, n_states, cell_bytes, in_runs)
    return max(share, min(1.0, first / n_factors))  # the first look is always taken


def _cell(bound, n_states):
    """Return the cost of a cell of a row that is read at random."""
    if isinstance(bound, BettingBound):
        return CELL + BET * bound.n_bets * (n_states if bound.bets.hybrid else 1)
    return 2 * CELL if isinstance(bound, EBSBound) else CELL
