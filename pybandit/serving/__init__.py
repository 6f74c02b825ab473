"""A study over HTTP: `pybandit study serve`."""

from pybandit._shared.optional import require

for _package in ("starlette", "uvicorn"):
    require(_package, "serve")
