"""Tables larger than memory: read block by block, of rows that were shuffled once."""

from pybandit.tables._shuffle import shuffle
from pybandit.tables.blocks import Blocks

__all__ = ["Blocks", "shuffle"]
