"""Largest rewards while learning: upper confidence bounds and Thompson sampling."""
