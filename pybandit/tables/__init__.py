"""Tables larger than memory: rows are shuffled once, then read block by block.

Examples
--------
>>> import numpy as np, pybandit as pb
>>> scores = np.random.default_rng(1).random((6000, 3)) * [0.7, 0.8, 1.0]
>>> blocks = pb.tables.shuffle(scores, "scores.parquet", rng=1)
>>> pb.best_of(blocks, value_range=(0, 1), rng=1).best
2
"""

from pybandit.tables._shuffle import shuffle
from pybandit.tables.blocks import Blocks

__all__ = ["Blocks", "shuffle"]
