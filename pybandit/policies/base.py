"""The base class of compiled policies; other packages cimport it from here."""

from pybandit.policies.protocol.base import NativePolicy

__all__ = ["NativePolicy"]
