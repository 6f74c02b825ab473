"""Pass log factors to the kernels, and call user-defined functions for them."""

from pybandit._shared.cell_range import cell_type
from pybandit.racing._callbacks import Callback
from pybandit.racing.factors import Factors, check_returned

import numpy as np

cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport isnan
from libc.stdint cimport int64_t, uintptr_t
from libc.string cimport memcpy

from pybandit.racing._csrc cimport pb_control_matrix, pb_control_read, pb_factor_function

cnp.import_array()

# Pairs of a compiled function between two checks for Ctrl-C: 1 ms at 1 ns per pair.
cdef enum:
    PAIRS_BETWEEN_SIGNALS = 1 << 20


cdef class CompiledControl:
    pass


cdef class Source:
    """Factors of a race: checked `Factors`, or a C-contiguous (N, D) matrix of a cell type.

    A compiled function is called without the GIL and under the generator's lock.
    """

    def __cinit__(self, factors):
        if isinstance(factors, Factors):
            self.factors.n_factors = factors.n_factors
            self.factors.n_states = factors.n_states
            self.function = factors._callback or factors.function
            if isinstance(self.function, Callback):
                self.compiled.function = <pb_factor_function><uintptr_t>self.function.function
                self.compiled.user_data = <void *><uintptr_t>self.function.user_data
                self.compiled.source = <void *>self
                self.factors.function = _call_compiled
                self.factors.user_data = <void *>&self.compiled
            else:
                self.factors.function = _call_python
                self.factors.user_data = <void *>self
            if factors.control is not None:
                self._subtract(factors.control)
            return
        self.table, self.cells = factors, factors.view(np.uint8)
        self.factors.n_factors, self.factors.n_states = factors.shape
        self.factors.matrix = &self.cells[0, 0]
        self.factors.type = cell_type(factors)

    cdef _subtract(self, control):
        cdef const double[:, ::1] matrix
        cdef const double[::1] totals = control.totals
        control.check_sizes(self.factors.n_factors, self.factors.n_states)
        self.control_totals, self.totals = control.totals, &totals[0]
        self.control_values = control.values
        self.control.factors = self.factors
        self.factors.function = pb_control_read
        self.factors.user_data = <void *>&self.control
        if isinstance(control.values, CompiledControl):
            self.control.subtract = (<CompiledControl>control.values).subtract
            self.control.data = (<CompiledControl>control.values).data
            self.control.ahead = (<CompiledControl>control.values).ahead
        elif callable(control.values):
            self.control.subtract = _subtract_python
            self.control.data = <void *>self
        else:
            matrix = control.values
            self.control_matrix.n_factors = self.factors.n_factors
            self.control_matrix.n_states = self.factors.n_states
            self.control_matrix.matrix = &matrix[0, 0]
            self.control.subtract = pb_control_matrix
            self.control.data = <void *>&self.control_matrix

    cdef void add_totals(self, double *offsets) noexcept nogil:
        cdef int64_t state
        if self.totals:
            for state in range(self.factors.n_states):
                offsets[state] += self.totals[state]

    cdef void hold(self, lock):
        self.lock = lock

    cdef raise_error(self):
        if self.error is None and isinstance(self.function, Callback):
            raise RuntimeError("the compiled function of Factors returned a status other than 0 "
                               "(a function of pybandit.numba does so if it raises)")
        error, self.error = self.error, None
        if error is None:
            raise RuntimeError("the exception of the function of Factors was already raised")
        raise error

    cdef str explain(self, double value):
        if not isinstance(self.function, Callback) or not isnan(value):
            return ""
        return self.function.explained


cdef int _call_compiled(const int64_t *factors, int64_t n_factors, const int64_t *states,
                        int64_t n_states, double *out, void *user_data) noexcept nogil:
    cdef compiled_function *compiled = <compiled_function *>user_data
    cdef int status = compiled.function(factors, n_factors, states, n_states, out,
                                        compiled.user_data)
    compiled.unsignalled += n_factors * n_states
    if status or compiled.unsignalled < PAIRS_BETWEEN_SIGNALS:
        return status
    compiled.unsignalled = 0
    return _look_for_signals(compiled.source)


cdef int _look_for_signals(void *source) noexcept with gil:
    """Return 1 if Ctrl-C was pressed, and store its exception as that of the function."""
    try:
        PyErr_CheckSignals()
        return 0
    except BaseException as error:
        (<Source>source).error = error
        return 1


cdef int _call_python(const int64_t *factors, int64_t n_factors, const int64_t *states,
                      int64_t n_states, double *out, void *user_data) noexcept with gil:
    cdef Source source = <Source>user_data
    try:
        values = _ask(source, source.function, "the function of Factors", factors, n_factors,
                      states, n_states)
        memcpy(out, cnp.PyArray_DATA(values), n_factors * n_states * sizeof(double))
        return 0
    except BaseException as error:
        source.error = error
        return 1


cdef int _subtract_python(const int64_t *factors, int64_t n_factors, const int64_t *states,
                          int64_t n_states, double *out, void *user_data) noexcept with gil:
    cdef Source source = <Source>user_data
    cdef const double *control
    cdef int64_t i
    try:
        values = _ask(source, source.control_values, "the values of ControlVariate", factors,
                      n_factors, states, n_states)
        control = <const double *>cnp.PyArray_DATA(values)
        for i in range(n_factors * n_states):
            out[i] -= control[i]
        return 0
    except BaseException as error:
        source.error = error
        return 1


cdef cnp.ndarray _ask(Source source, function, name, const int64_t *factors, int64_t n_factors,
                      const int64_t *states, int64_t n_states):
    """Return a Python function's values for these factors and states, C-contiguous float64."""
    # copies, because the function may keep its arguments
    rows, columns = _as_array(factors, n_factors), _as_array(states, n_states)
    # the function may draw from the same generator, whose lock is not reentrant
    # before NumPy 2.4
    lock = source.lock
    if lock is not None:
        lock.release()
    try:
        values = function(rows, columns)
    finally:
        if lock is not None:
            take_back(lock)
    if not (cnp.PyArray_CheckExact(values) and cnp.PyArray_TYPE(values) == cnp.NPY_DOUBLE
            and cnp.PyArray_IS_C_CONTIGUOUS(values) and cnp.PyArray_NDIM(values) == 2
            and cnp.PyArray_DIM(values, 0) == n_factors
            and cnp.PyArray_DIM(values, 1) == n_states
            and cnp.PyArray_ISNOTSWAPPED(values) and cnp.PyArray_ISALIGNED(values)):
        values = check_returned(values, (n_factors, n_states), name)
    return values


cdef take_back(lock):
    interrupt = None
    while True:
        try:
            lock.acquire()
            break
        except BaseException as error:
            interrupt = error
    if interrupt is not None:
        raise interrupt


cdef _as_array(const int64_t *values, cnp.npy_intp n):
    array = cnp.PyArray_SimpleNew(1, &n, cnp.NPY_INT64)
    memcpy(cnp.PyArray_DATA(array), values, n * sizeof(int64_t))
    return array
