"""Proposals in the coordinates of exact chains: z, with theta = mode + L z."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular

from pybandit._shared.checks import shown
from pybandit._shared.types import Floats
from pybandit.mcmc.preconditioned import Mixture, Preconditioned
from pybandit.mcmc.proposals import RandomWalk, walk_target

# A factor this close to the identity is taken as the identity; the proposal is valid either way.
SAME = 1e-9
# Slopes at the mode up to this value are ignored. A slope shifts the center of the draws by as
# many standard deviations.
FLAT = 1e-3
# Weights of draws and walk in the default proposal: one step in twenty is a random walk.
WEIGHTS = (19.0, 1.0)
BEST_WALK = 2.38
# Acceptance rates below which shorter steps serve better than draws from the approximation. A
# step of length b keeps sqrt(1 - b^2) of the deviation from the mode: at b = .8 one step moves
# .4 as far as a draw, so a draw accepted half as often is still better. If the test reads all
# rows, the chain stays for long at points where the posterior exceeds the approximation, and
# shorter steps leave them sooner. Measured by bench/mcmc/bench_warmup.py.
DRAWS, DRAWS_ALL = 0.15, 0.42


@dataclass(frozen=True)
class Move:
    """One proposal; arrays are C-contiguous. Factor None is the identity, center None is 0."""

    is_walk: bool
    factor: Floats | None
    center: Floats | None
    below: float
    target: float
    scale: float
    target_all: float | None = None  # if the test reads all rows; None: `target`


def moves_of(proposal, mode, factor, slope):
    """Return the moves of a proposal, given the mode and the Cholesky factor L and slope there."""
    if isinstance(proposal, str):
        named = {"laplace": (1.0, 0.0), "walk": (0.0, 1.0)}
        if proposal not in named:
            raise ValueError(f"proposal must be None, 'laplace', 'walk' or a proposal object; got "
                             f"{shown(proposal)}")
        return _own(named[proposal], slope)
    if proposal is None:
        return _own(WEIGHTS, slope)
    parts = proposal.proposals if isinstance(proposal, Mixture) else [proposal]
    weights = proposal.weights if isinstance(proposal, Mixture) else np.ones(1)
    for part in parts:
        if not isinstance(part, (Preconditioned, RandomWalk)):
            raise TypeError(f"proposal must be a Preconditioned, a RandomWalk or a Mixture of "
                            f"these; got {shown(part)}")
        part.start(1, mode.size, None)  # raises if the size is wrong
    return [_move(part, below, mode, factor)
            for part, below in zip(parts, np.cumsum(weights), strict=True)]


def moves_in_theta(proposal, d):
    """Return the moves of a proposal in theta, or None if a part is user-defined."""
    parts = proposal.proposals if type(proposal) is Mixture else [proposal]
    weights = proposal.weights if type(proposal) is Mixture else np.ones(1)
    if not all(type(part) in (RandomWalk, Preconditioned) for part in parts):
        return None
    moves = []
    for part, below in zip(parts, np.cumsum(weights), strict=True):
        part.start(1, d, None)  # raises if the size is wrong
        if type(part) is Preconditioned:
            moves.append(Move(False, np.ascontiguousarray(part.factor), part.mode, below,
                              part.target, part.step))
            continue
        target = walk_target(part.target, d)
        if part.scale.ndim == 0:
            moves.append(Move(True, None, None, below, target, float(part.scale)))
        else:
            factor = part.scale if part.scale.ndim == 2 else np.diag(part.scale)
            moves.append(Move(True, np.ascontiguousarray(factor), None, below, target, 1.0))
    return moves


def _own(weights, slope):
    """Return draws from the approximation and a random walk of its shape, with these weights."""
    d = slope.size
    # slope'z - |z|^2 / 2 has its maximum at z = slope
    center = slope.copy() if np.abs(slope).max() > FLAT else None
    both = [Move(False, None, center, 0.0, DRAWS, 1.0, DRAWS_ALL),
            Move(True, None, None, 0.0, walk_target(None, d), BEST_WALK / np.sqrt(d))]
    shares = np.cumsum(weights) / sum(weights)
    return [replace(one, below=share)
            for one, share, weight in zip(both, shares, weights, strict=True) if weight]


def _move(part, below, mode, factor):
    if isinstance(part, RandomWalk):
        scale = part.scale if part.scale.ndim == 2 else np.diag(
            np.broadcast_to(part.scale, mode.shape))
        return Move(True, _in_z(factor, scale), None, below,
                    walk_target(part.target, mode.size), 1.0)
    inside = _in_z(factor, part.factor)
    center = solve_triangular(factor, part.mode - mode, lower=True)
    if np.abs(inside - np.eye(mode.size)).max() < SAME and np.abs(center).max() < SAME:
        inside = center = None
    return Move(False, inside, center, below, part.target, part.step)


def _in_z(factor, other):
    """Return L^{-1} times another lower triangular factor."""
    return np.ascontiguousarray(np.tril(solve_triangular(factor, other, lower=True)))
