"""Controls: normalisation of readings, and Z'."""

import numpy as np
import pytest

from lab.test_plates import GOOD, rewards
from pybandit.errors import UnreadableFileError
from pybandit.lab.controls import Controls, z_prime
from pybandit.lab.plates import Layout, Plates

nan = np.nan


def test_readings_are_per_cent_of_controls(tmp_path):
    """The means of the controls are 2 and 4."""
    text = GOOD.replace("B3,control", "B3,positive")
    plates = Plates(Layout(2, 3), (0,), normalise="percent", positives=(5,))
    assert rewards(tmp_path, text, plates).tolist() == [50.0, 125.0, -150.0, 5000.0]
    plates = Plates(Layout(2, 3), (0,), normalise="inhibition", positives=(5,))
    assert rewards(tmp_path, text, plates).tolist() == [-50.0, 25.0, -250.0, 4900.0]
    with pytest.raises(UnreadableFileError,
                       match="the means of both kinds of controls must differ; both"):
        rewards(tmp_path, text.replace("positive,4", "positive,2"), plates)
    with pytest.raises(UnreadableFileError, match="control well B3 of plate 7 has no value"):
        rewards(tmp_path, text.replace("positive,4", "positive,"), plates)
    with pytest.raises(UnreadableFileError, match="well B3 holds 'positive', not 'control'"):
        rewards(tmp_path, GOOD, plates)


def test_z_prime_of_known_values():
    assert z_prime(Controls(3, 100.0, 5.0), Controls(3, 0.0, 5.0)) == pytest.approx(0.7)
    assert z_prime(Controls(3, 1.0, 1.0), Controls(3, 2.0, 1.0)) == -5.0
    for other in Controls(0, nan, nan), Controls(1, 2.0, nan), Controls(3, 1.0, 1.0):
        assert np.isnan(z_prime(Controls(3, 1.0, 1.0), other))
