"""Run chains in threads and return their draws as an xarray DataTree."""

import functools
from dataclasses import dataclass

import numpy as np

from pybandit._shared.checks import MOST_PULLS, check_integer, check_numeric, shown
from pybandit._shared.generators import seed_sequence_of
from pybandit._shared.optional import require
from pybandit._shared.progress import make_bar
from pybandit._shared.threads import in_threads
from pybandit._shared.version import __version__
from pybandit._shared.worker import Stop
from pybandit.racing._named_bounds import SHORTCUTS

# Steps between two updates of the progress bar.
STEPS_BETWEEN_UPDATES = 64


@dataclass(frozen=True)
class DrawFormat:
    """Names and types of the values that a sampler keeps of each draw.

    `statistics` maps names to dtypes, in the order in which a chain returns the statistics of
    the steps since the previous draw.
    """

    name: str
    labels: object
    n_values: int
    dtype: type
    statistics: dict
    attributes: dict


def sample_chains(make_chain, layout, *, n_samples, n_warmup, n_chains, initial, thin, rng,
                  n_threads, progress):
    """Run the chains; `make_chain(rng, initial)` returns a chain with `step` or `advance`."""
    n_samples = check_integer("n_samples", n_samples, 1)
    n_warmup = check_integer("n_warmup", n_warmup, 0)
    n_chains = check_integer("n_chains", n_chains, 1)
    if n_chains * n_samples * layout.n_values > MOST_PULLS:
        raise ValueError(f"n_samples * n_chains * {layout.n_values} values must be at most "
                         f"{MOST_PULLS}; got {n_samples} * {n_chains}")
    thin = check_integer("thin", thin, 1, MOST_PULLS // n_samples)
    n_threads = 1 if n_threads is None else check_integer("n_threads", n_threads, 1)
    xarray = require("xarray", "arviz")  # raises before the chains run if xarray is missing
    starts = _starts(initial, n_chains, layout)
    streams = seed_sequence_of(rng).spawn(n_chains)
    chains = [make_chain(np.random.default_rng(stream), start)
              for stream, start in zip(streams, starts, strict=True)]
    values = np.empty((n_chains, n_samples, layout.n_values), dtype=layout.dtype)
    statistics = {name: np.empty((n_chains, n_samples), dtype=dtype)
                  for name, dtype in layout.statistics.items()}
    stop = Stop()

    def run(i):
        chain, t = chains[i], -n_warmup
        columns = [column[i] for column in statistics.values()]
        # compiled chains take many steps per call
        advance = getattr(chain, "advance", None) or functools.partial(_advance, chain, stop)
        while t < n_samples * thin and not stop.is_set():
            if t == 0:
                chain.end_warmup()
            came = advance(t, n_samples * thin if t >= 0 else 0, thin, values[i], columns)
            bar.update(came - t)
            t = came

    total = n_chains * (n_warmup + n_samples * thin)
    with make_bar(progress, total, "steps", layout.attributes["sampler"]) as bar:
        in_threads(run, n_chains, min(n_threads, n_chains), stop)
    attributes = layout.attributes | {"tuning_steps": n_warmup, "thinning": thin}
    extra = {name: np.array([getattr(chain, name) for chain in chains])
             for name in chains[0].shown}
    return _as_tree(xarray, layout, values, statistics, extra, attributes)


def _advance(chain, stop, t, until, thin, values, columns):
    """Advance a chain in Python until the next update of the bar; return the step reached."""
    for step in range(t, min(until, t + STEPS_BETWEEN_UPDATES)):
        if stop.is_set():
            return step
        chain.step()
        if step >= 0 and (step + 1) % thin == 0:
            values[step // thin] = chain.values
            for column, number in zip(columns, chain.take_statistics(thin), strict=True):
                column[step // thin] = number
    return min(until, t + STEPS_BETWEEN_UPDATES)


def _starts(initial, n_chains, layout):
    """Return a copy of the starting values, n_values per chain."""
    shape = (n_chains, layout.n_values)
    if initial is None:
        return np.zeros(shape, dtype=layout.dtype)
    given = check_numeric("initial", initial)
    if given.shape not in (shape, shape[1:]):
        raise ValueError(f"initial must have shape {shape[1:]}, or {shape} with one row per "
                         f"chain; got {given.shape}")
    if not np.isfinite(given).all() or (given.astype(layout.dtype) != given).any():
        raise ValueError(f"initial must be finite and fit {np.dtype(layout.dtype)}; "
                         f"got {shown(initial)}")
    return np.array(np.broadcast_to(given, shape), dtype=layout.dtype)


def _as_tree(xarray, layout, values, statistics, extra, attributes):
    n_chains, n_samples, n_values = values.shape
    grid = {"chain": np.arange(n_chains), "draw": np.arange(n_samples)}
    dimension = f"{layout.name}_dim_0"
    labels = np.arange(n_values) if layout.labels is None else layout.labels
    posterior = xarray.Dataset(
        {layout.name: (("chain", "draw", dimension), values)},
        coords=grid | {dimension: labels}, attrs=attributes)
    columns = {name: (("chain", "draw"), column) for name, column in statistics.items()}
    columns |= {name: (("chain", "part")[:column.ndim], column)
                for name, column in extra.items()}
    return xarray.DataTree.from_dict({
        "/": xarray.Dataset(attrs=attributes),
        "posterior": posterior,
        "sample_stats": xarray.Dataset(columns, coords=grid, attrs=attributes),
    })


def check_labels(labels, n_values):
    """Return the labels of the values as a list; None if there are none."""
    if labels is None:
        return None
    try:
        labels = list(labels)
        different = len(set(labels))
    except TypeError:
        raise TypeError(f"labels must be a sequence of names or numbers; got "
                        f"{shown(labels)}") from None
    if len(labels) != n_values or different != n_values:
        raise ValueError(f"labels must be {n_values} different values; got {shown(labels)}")
    return labels


def check_name(name):
    if not isinstance(name, str) or not name or name in ("chain", "draw"):
        raise ValueError(f"name must be a non-empty string other than 'chain' and 'draw'; got "
                         f"{shown(name)}")
    return name


def attributes_of(sampler, bound, delta):
    """Return the attributes of the tree and its groups; numbers and text only."""
    if delta is None:
        known = SHORTCUTS.get(bound, SHORTCUTS["student"]) if isinstance(bound, str) else bound
        delta = getattr(known, "delta", np.nan)
    return {"inference_library": "pybandit", "inference_library_version": __version__,
            "sampler": sampler, "bound": bound if isinstance(bound, str) else repr(bound),
            "delta": float(delta)}
