"""Checks of arguments that all rooms use."""

import pytest

from pybandit._shared import checks


@pytest.mark.parametrize("value, remedy", [
    (5.0, ": write 5 % as 0.05"), (95, ": write 95 % as 0.95"), (100.0, ""), (-1.0, "")])
def test_percentage_for_a_share_raises_with_remedy(value, remedy):
    with pytest.raises(ValueError) as raised:
        checks.check_delta(value)
    assert str(raised.value) == f"delta must be in (0, 1); got {float(value)!r}{remedy}"
    with pytest.raises(ValueError, match=r"got 5.0$"):
        checks.check_scalar("x", 5.0, "in [0, 1e150]", lambda x: x < 1)


def test_class_instead_of_object_raises_with_remedy():
    checks.refuse_class("policy", 3, "a Policy")
    with pytest.raises(TypeError, match=r"policy must be a Policy; got the class int: call it, "
                                        r"int\(\.\.\.\)"):
        checks.refuse_class("policy", int, "a Policy")
