"""The base class of compiled policies, for use by other packages.

`pybandit/policies/protocol/base.pxd` lists what a user-defined policy defines and may read.
"""

from pybandit.policies.protocol.base cimport NativePolicy, is_reward
