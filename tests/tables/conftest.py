"""A table on the disk, in its original order and shuffled."""

import numpy as np
import pytest

SCORES = (np.random.default_rng(1).random((6000, 4)) * [0.7, 0.8, 0.9, 1.0]).astype(np.float32)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with `table.npy` and `shuffled.parquet`: 24 blocks, the last one smaller."""
    pytest.importorskip("pyarrow")
    from pybandit.tables import shuffle

    path = tmp_path_factory.mktemp("tables")
    np.save(path / "table.npy", SCORES)
    shuffle(path / "table.npy", path / "shuffled.parquet", rng=7, block_rows=256)
    return path
