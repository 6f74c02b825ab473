"""A study over HTTP: `pybandit study serve`."""
