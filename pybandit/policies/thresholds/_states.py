"""The saved state of a policy that looks for all arms above a threshold."""

from pybandit._shared.schema import Schema, integer
from pybandit.policies.stopping._states import SEQUENTIAL


def all_names_stop(s):
    """a name for every arm that is not silent if stopped, a true stopped once all arms have a
    name, and no names before the first pulls"""
    named = (s.names != 0).all() or bool(s.aside.any()) and ((s.names != 0) | s.aside).all()
    return (s.stopped <= named and (s.stopped or bool(s.aside.any()) or not named)
            and (s.begun or not s.names.any()))


GOOD_ARMS = Schema([integer("names", -1, 1, shape=("n_arms",))], base=SEQUENTIAL,
                   invariants=[all_names_stop])
