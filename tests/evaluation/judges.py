"""Judges of one item per call, for tests: they wait, fail, and count their calls."""

import asyncio
import os
import threading
import time

import numpy as np

N, K = 120, 5
MODELS = [str(model) for model in range(K)]
SCORES = np.random.default_rng(3).random((N, K)) * [0.5, 0.6, 0.7, 0.8, 0.9]
GIVEN = dict(value_range=(0, 1), rng=4, progress=False)


def cost(model, item):
    return 0.1 + (np.asarray(model).astype(int) + 2 * item) % 7


class Judge:
    """Judge that returns scores of a table after a random time, and fails at some calls.

    `fails(number of the call, model, item)` returns the exception to raise, or None.
    """

    def __init__(self, fails=lambda n, model, item: None, seconds=0.002, told=False, seed=0):
        self.fails, self.told, self.asked = fails, told, []
        self.times = np.random.default_rng(seed).lognormal(size=100_000) * seconds
        self.lock, self.out, self.most_out = threading.Lock(), 0, 0

    def _begin(self, model, item):
        with self.lock:
            n = len(self.asked)
            self.asked.append((int(model), item))
            self.out += 1
            self.most_out = max(self.most_out, self.out)
        return n

    def _end(self, n, model, item):
        with self.lock:
            self.out -= 1
        error = self.fails(n, model, item)
        if error is not None:
            raise error
        score = float(SCORES[item, int(model)])
        return (score, cost(model, item)) if self.told else score

    def call(self, model, item):
        n = self._begin(model, item)
        time.sleep(self.times[n])
        return self._end(n, model, item)

    async def awaited(self, model, item):
        n = self._begin(model, item)
        await asyncio.sleep(self.times[n])
        return self._end(n, model, item)


def in_blocks(told=False):
    """Return a function that scores blocks of items, with the same scores as `Judge`."""
    if told:
        return lambda model, items: (SCORES[items, int(model)], cost(model, items))
    return lambda model, items: SCORES[items, int(model)]


def models_for(options):
    """Return the names of the models if the store is a file, which needs names; else K."""
    return MODELS if isinstance(options.get("store"), (str, bytes, os.PathLike)) else K
