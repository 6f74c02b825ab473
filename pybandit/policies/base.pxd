"""The base class of compiled policies, for other packages.

`pybandit/policies/protocol/base.pxd` says what a policy of your own defines and what it may read.
"""

from pybandit.policies.protocol.base cimport NativePolicy, is_reward
