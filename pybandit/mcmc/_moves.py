"""Proposals as the kernel of exact chains takes them: in z, theta = mode + L z."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular

from pybandit._shared.checks import shown
from pybandit._shared.types import Floats
from pybandit.mcmc.preconditioned import Mixture, Preconditioned
from pybandit.mcmc.proposals import RandomWalk, walk_target

# A factor this near to 1 is 1: the proposal is a valid one either way.
SAME = 1e-9
# A slope this small moves the middle of draws by as little, in deviations.
FLAT = 1e-3
# Of the default: a step of a random walk in twenty.
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
    """Of one proposal; arrays are C-contiguous, None stands for 1 and 0."""

    is_walk: bool
    factor: Floats | None
    center: Floats | None
    below: float
    target: float
    scale: float
    target_all: float | None = None  # if the test reads all rows; None: `target`


def moves_of(proposal, mode, factor, slope):
    """The moves of a proposal around a mode, with the Cholesky factor L and the slope there."""
    if isinstance(proposal, str):
        named = {"laplace": (1.0, 0.0), "walk": (0.0, 1.0)}
        if proposal not in named:
            raise ValueError(f"proposal must be None, 'laplace', 'walk' or an object; got "
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
        part.start(1, mode.size, None)  # refuses other sizes
    return [_move(part, below, mode, factor)
            for part, below in zip(parts, np.cumsum(weights), strict=True)]


def moves_in_theta(proposal, d):
    """The moves of a proposal as it stands, or None where a part is not of this package."""
    parts = proposal.proposals if type(proposal) is Mixture else [proposal]
    weights = proposal.weights if type(proposal) is Mixture else np.ones(1)
    if not all(type(part) in (RandomWalk, Preconditioned) for part in parts):
        return None
    moves = []
    for part, below in zip(parts, np.cumsum(weights), strict=True):
        part.start(1, d, None)  # refuses other sizes
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
    """Draws from the approximation, and a walk of its shape, as often as the weights say."""
    d = slope.size
    # slope'z - |z|^2 / 2 is largest there
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
    """L^{-1} times another lower triangular factor."""
    return np.ascontiguousarray(np.tril(solve_triangular(factor, other, lower=True)))
