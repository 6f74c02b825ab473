"""The protocol of ask and tell, and base classes of the policies."""
