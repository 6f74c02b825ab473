# cython: auto_pickle=False
"""Gibbs chains on variables that interact in pairs: one sweep per call, without Python."""

import numpy as np

from pybandit.racing._native import Pairwise
from pybandit.racing._track import hashable, index_kind, make_plan
from pybandit.racing.factors import Factors

from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.stdint cimport int32_t, int64_t, uint64_t
from numpy.random cimport bitgen_t
from numpy.random.c_distributions cimport random_poisson

from pybandit._shared._csrc cimport PB_OK, pb_bitgen, pb_read_once, pb_status
from pybandit._shared.bits cimport bitgen_of
from pybandit.mcmc._csrc cimport (
    pb_alias, pb_alias_build, pb_graph, pb_graph_counts, pb_graph_draw, pb_graph_draw_counts,
    pb_graph_factors, pb_graph_memory,
)
from pybandit.racing._csrc cimport pb_pairwise, pb_pairwise_read, pb_sampler, pb_sampler_draw
from pybandit.racing._track cimport RacePlan, Track

cdef uint64_t MIX = 0x9E3779B97F4A7C15

cdef enum:
    COLUMN = 2              # doubles per pb_alias
    READS = 1 << 18         # maximum number of factors read between two checks for Ctrl-C
    ENTRIES = 1 << 26       # maximum total length of all permutations

METHODS = {"race": 0, "exact": 1, "poisson": 2}


cdef int64_t next_poisson(pb_bitgen *bitgen, double mean) noexcept nogil:
    return random_poisson(<bitgen_t *><void *>bitgen, mean)


def check_edges(const int64_t[::1] begins, const int64_t[::1] neighbours, weights):
    """Return the neighbours as int32; raise ValueError if they are not a graph of pairs.

    Neighbours are mutual if u occurs among the neighbours of v as often as v among those of u,
    with the same weights. This is tested with sums of products of random words modulo 2^64, which
    miss an error with probability of about 2^-60.
    """
    cdef int64_t n = begins.shape[0] - 1, v, u, i
    cdef int fault = 0
    cdef uint64_t token = 1, out = 0
    cdef const uint64_t[:, ::1] words = np.random.default_rng(0).integers(
        0, 2**64, size=(n, 2), dtype=np.uint64)
    cdef const uint64_t[::1] bits = None
    cdef int32_t[::1] short = np.empty(neighbours.shape[0], dtype=np.int32)
    if weights is not None:
        bits = (weights + 0.0).view(np.uint64)  # -0.0 is 0.0
    cdef bint weighted = weights is not None
    with nogil:
        for v in range(n):
            for i in range(begins[v], begins[v + 1]):
                u = pb_read_once(&neighbours[i])  # another thread may write to it
                if not 0 <= u < n or u == v:
                    fault = 1 if u != v else 2
                    break
                if weighted:
                    token = bits[i] * MIX | 1
                out += token * (words[v, 0] * words[u, 1] - words[v, 1] * words[u, 0])
                short[i] = <int32_t>u
            if fault:
                break
    if fault == 1:
        raise ValueError(f"neighbours must be in [0, {n}); got {u} as neighbour of {v}")
    if fault == 2:
        raise ValueError(f"neighbours must not contain the variable itself; got {u} for "
                         f"variable {u}")
    if out:
        what = "neighbours and weights" if weighted else "neighbours"
        raise ValueError(f"{what} must be mutual: u must occur among the neighbours of v as often, "
                         f"and with the same weights, as v among those of u")
    return np.asarray(short)


cdef class Graph:
    """A pb_graph; immutable, so that threads may share it.

    Parameters
    ----------
    table : ndarray of float64, shape (D, D)
    begins : ndarray of int64, shape (V + 1,)
    neighbours : ndarray of int32, shape (E,)
    weights : ndarray of float64, shape (E,), or None
    log_prior : ndarray of float64, shape (V, D), or None
        All are validated and C-contiguous.
    """

    cdef pb_graph graph
    cdef readonly double spread
    cdef const double[:, ::1] table, log_prior
    cdef const int64_t[::1] begins
    cdef const int32_t[::1] neighbours
    cdef const double[::1] weights, masses, low, high
    cdef double[:, ::1] alias

    def __cinit__(self, const double[:, ::1] table, const int64_t[::1] begins,
                  const int32_t[::1] neighbours, weights, log_prior):
        self.table, self.begins, self.neighbours = table, begins, neighbours
        self.masses = self.alias = None  # initialised, so that they can be compared with None
        self.graph.n_variables, self.graph.n_states = begins.shape[0] - 1, table.shape[0]
        self.graph.table, self.graph.begins = &table[0, 0], &begins[0]
        self.graph.neighbours = &neighbours[0] if neighbours.shape[0] else NULL
        if weights is not None and neighbours.shape[0]:
            self.weights = weights
            self.graph.weights = &self.weights[0]
        if log_prior is not None:
            self.log_prior = log_prior
            self.graph.log_prior = &self.log_prior[0, 0]
        self.low, self.high = np.min(table, axis=1), np.max(table, axis=1)
        self.spread = np.max(np.subtract(self.high, self.low))

    def __reduce__(self):
        # sums and alias tables are computed again when needed
        weights = None if self.graph.weights == NULL else np.asarray(self.weights)
        log_prior = None if self.graph.log_prior == NULL else np.asarray(self.log_prior)
        return Graph, (np.asarray(self.table), np.asarray(self.begins),
                       np.asarray(self.neighbours), weights, log_prior)

    def prepare_counts(self):
        """Compute the sums of |weights| and alias tables for draws by counts, before chains run."""
        cdef int64_t n = self.graph.n_variables, v, begin, degree
        cdef double[::1] masses = np.diff(self.begins).astype(np.float64)
        cdef double[::1] sizes
        cdef double[:, ::1] table
        cdef int64_t[::1] work
        cdef pb_alias *alias
        if self.masses is not None:
            return
        if self.graph.weights:
            sizes = np.abs(self.weights)
            table = np.empty((sizes.shape[0], COLUMN))
            work = np.empty(np.max(np.diff(self.begins)), dtype=np.int64)
            alias = <pb_alias *>&table[0, 0]
            with nogil:
                for v in range(n):
                    begin = self.begins[v]
                    degree = self.begins[v + 1] - begin
                    masses[v] = 0.0
                    if degree:
                        masses[v] = pb_alias_build(&sizes[begin], 1, degree, alias + begin,
                                                   &work[0])
            self.alias = table
        self.masses = masses


cdef class GraphChain:
    """One chain. Use it in one thread at a time."""

    cdef Graph owner
    cdef pb_graph *graph
    cdef pb_graph_counts counts
    cdef pb_pairwise pairwise           # factors of the variable being drawn
    cdef object rng, lock
    cdef pb_bitgen *bitgen
    cdef readonly object values
    cdef int64_t[::1] states, order
    cdef double[::1] work, logs
    cdef const double[::1] masses
    cdef double[:, ::1] alias
    cdef int64_t[::1] kept
    cdef list tracks
    cdef const int64_t[::1] track_of    # race of each variable; -1: sum all its factors
    cdef pb_sampler **samplers
    cdef bint random
    cdef int method
    cdef readonly int64_t n_looks, n_evaluations, n_exact
    cdef double n_pairs

    shown = ()

    def __cinit__(self, Graph owner not None, rng, int64_t[::1] values, str method, double rate,
                  bint random, dict options):
        cdef int64_t n_states = owner.graph.n_states
        if values.shape[0] != owner.graph.n_variables:
            raise ValueError(f"values must have length {owner.graph.n_variables}; got "
                             f"{values.shape[0]}")
        self.owner, self.graph = owner, &owner.graph
        self.rng, self.lock, self.bitgen = rng, rng.bit_generator.lock, bitgen_of(rng)
        self.values, self.states = np.asarray(values), values
        self.method, self.random = METHODS[method], random
        self.order = np.arange(values.shape[0])
        self.work = np.empty(pb_graph_memory(self.graph))
        self.tracks, self.track_of = [], np.full(values.shape[0], -1)
        if method == "race":
            self._lay_tracks(options)
        if method == "poisson":
            self.logs = np.empty(2 * n_states * n_states)
            self.kept = np.empty(2 * n_states, dtype=np.int64)
            self.counts.poisson, self.counts.rate = next_poisson, rate
            self.masses, self.alias = owner.masses, owner.alias
            self.counts.masses, self.counts.spread = &self.masses[0], owner.spread
            if self.alias is not None:
                self.counts.alias = <pb_alias *>&self.alias[0, 0]
            self.counts.low, self.counts.high = &owner.low[0], &owner.high[0]
            self.counts.total = -1.0
            self.counts.logs, self.counts.kept = &self.logs[0], &self.kept[0]

    def __dealloc__(self):
        PyMem_RawFree(self.samplers)

    cdef _lay_tracks(self, dict options):
        """Create one race for each number of neighbours."""
        cdef Track track
        cdef RacePlan plan
        cdef int64_t i
        degrees, kinds = np.unique(np.diff(self.owner.begins), return_inverse=True)
        default = "permutation" if degrees.sum() <= ENTRIES else "rejection"
        places = []
        for degree in degrees.tolist():
            if not degree:
                places.append(-1)
                continue
            plan = make_plan(options["bound"], hashable("delta", options["delta"]),
                             options["looks"], degree, self.graph.n_states)
            if plan.rows.shape[0] < 2:
                places.append(-1)  # the first look would read all factors
                continue
            native = Pairwise(self.owner.table, self.states, None, None)
            factors = Factors(native.bound, degree, self.graph.n_states)
            track = Track(factors, plan, index_kind(factors, options["looks"].indices, default))
            track.race.factors.function = pb_pairwise_read
            track.race.factors.user_data = <void *>&self.pairwise
            places.append(len(self.tracks))
            self.tracks.append(track)
        self.track_of = np.array(places, dtype=np.int64)[kinds.ravel()]
        self.samplers = <pb_sampler **>PyMem_RawMalloc(
            max(1, len(self.tracks)) * sizeof(pb_sampler *))
        if not self.samplers:
            raise MemoryError(f"cannot allocate {len(self.tracks)} races")
        for i in range(len(self.tracks)):
            track = self.tracks[i]
            self.samplers[i] = &track.sampler

    def clear(self):
        self.n_looks = self.n_evaluations = self.n_exact = 0
        self.n_pairs = 0.0

    def end_warmup(self):
        self.clear()

    def step(self):
        """Run one sweep."""
        cdef int64_t i = 0, n = self.order.shape[0], until
        cdef pb_status status = PB_OK
        if self.random:
            self.order = self.rng.permutation(n)
        while i < n:
            until = self.n_evaluations + READS * self.graph.n_states
            with self.lock, nogil:
                while i < n and self.n_evaluations < until:
                    status = self.update(self.order[i])
                    if status != PB_OK:
                        break
                    i += 1
            if status != PB_OK:
                (<Track>self.tracks[self.track_of[self.order[i]]]).raise_failure(status)
            PyErr_CheckSignals()

    cdef pb_status update(self, int64_t v) noexcept nogil:
        cdef int64_t degree = self.graph.begins[v + 1] - self.graph.begins[v]
        cdef int64_t n_states = self.graph.n_states, at = self.track_of[v]
        cdef pb_sampler *sampler
        cdef pb_status status
        self.n_pairs += <double>(degree * n_states)
        if at >= 0:
            sampler = self.samplers[at]
            pb_graph_factors(self.graph, v, &self.states[0], &self.pairwise)
            sampler.log_prior = (self.graph.log_prior + v * n_states if self.graph.log_prior
                                 else NULL)
            status = pb_sampler_draw(sampler, self.bitgen, &self.states[v])
            self.n_looks += sampler.race.n_looks
            self.n_evaluations += sampler.race.n_evaluations
            self.n_exact += sampler.race.exact
            return status
        self.n_looks += 1
        if self.method == 2:
            self.states[v] = pb_graph_draw_counts(self.graph, &self.counts, v, &self.states[0],
                                                  self.bitgen, &self.work[0])
            self.n_evaluations += self.counts.n_read * n_states
            return PB_OK
        self.states[v] = pb_graph_draw(self.graph, v, &self.states[0], self.bitgen, &self.work[0])
        self.n_evaluations += degree * n_states
        self.n_exact += 1
        return PB_OK

    def take_statistics(self, thin):
        """Return the fraction read, looks, evaluations and exact draws since the last call."""
        taken = (self.n_evaluations / max(1.0, self.n_pairs), self.n_looks, self.n_evaluations,
                 self.n_exact)
        self.clear()
        return taken
