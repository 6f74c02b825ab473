"""A study over HTTP: `pybandit study serve`; all but `_study` need the extra `serve`."""
