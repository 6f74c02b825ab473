"""Serve a study over HTTP: `pybandit study serve`.

All modules except `_study` need the packages of the extra `serve`.
"""
