"""Medoids: the rows of a table whose mean distance to the others is smallest."""

__all__ = []
