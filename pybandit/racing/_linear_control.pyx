"""Compiled control variates of Metropolis-Hastings; their cost is that of dot products."""

import numpy as np

from pybandit._shared.checks import as_array, check_indices

from libc.stdint cimport int64_t

from pybandit.racing._csrc cimport (
    pb_control_linear, pb_control_linear_ahead, pb_control_linear_change,
    pb_control_quadratic_change, pb_expansion, pb_expansion_change,
)
from pybandit.racing._source cimport CompiledControl


def viewed(name, array, *shape):
    """Return an array over the memory of `array`, which is read again at every call.

    Raises TypeError unless it is aligned, C-contiguous float64, ValueError for another shape.
    """
    given = array
    if isinstance(given, np.ndarray):
        array = as_array(name, given)  # a subclass may lie about its size
    if array is given or array.dtype != np.float64 or not (
            array.dtype.isnative and array.flags.c_contiguous and array.flags.aligned):
        raise TypeError(f"{name} must be an aligned, C-contiguous array of float64, because it is "
                        f"read again at every call; got {type(given).__name__}")
    if array.shape != shape or not array.size:
        raise ValueError(f"{name} must have shape {shape}; got {array.shape}")
    return array


cdef class LinearChange(CompiledControl):
    """Values h_n(points[1]) - h_n(points[0]) of a `ControlVariate` of N factors and one state.

    All arrays are read again at every call: features (N, d), slopes and curvatures (N,),
    center (d,) and points (2, d).
    """

    cdef pb_control_linear linear
    cdef const double[:, ::1] features, points
    cdef const double[::1] slopes, curvatures, center

    def __cinit__(self, features, slopes, curvatures, center, points):
        features = as_array("features", features)
        if features.ndim != 2:
            raise ValueError(f"features must have shape (N, d); got {features.shape}")
        n, d = features.shape
        self.features = viewed("features", features, n, d)
        self.slopes = viewed("slopes", slopes, n)
        self.curvatures = viewed("curvatures", curvatures, n)
        self.center = viewed("center", center, d)
        self.points = viewed("points", points, 2, d)
        self.linear.n_parameters = d
        self.linear.features = &self.features[0, 0]
        self.linear.slopes = &self.slopes[0]
        self.linear.curvatures = &self.curvatures[0]
        self.linear.center = &self.center[0]
        self.linear.points = &self.points[0, 0]
        self.subtract = pb_control_linear_change
        self.data, self.ahead = <void *>&self.linear, pb_control_linear_ahead

    @property
    def shape(self):
        """(N, 1)."""
        return self.features.shape[0], 1

    def __call__(self, indices, states):
        """Return the values, like the function of a `ControlVariate`."""
        return _values(self, self.features.shape[0], indices, states)


cdef class ExpansionChange(CompiledControl):
    """`LinearChange` for arbitrary second-order expansions; see pb_expansion.

    gradients (N, d); matrices (N, d, d) or None; directions (N, r, d) with weights (N, r), or
    None; center (d,) and points (2, d).
    """

    cdef pb_expansion expansion
    cdef const double[:, ::1] gradients, weights, points
    cdef const double[:, :, ::1] matrices, directions
    cdef const double[::1] center

    def __cinit__(self, gradients, matrices, directions, weights, center, points):
        n, d = as_array("gradients", gradients).shape
        self.gradients = viewed("gradients", gradients, n, d)
        self.center, self.points = viewed("center", center, d), viewed("points", points, 2, d)
        e = &self.expansion
        e.n_parameters, e.gradients = d, &self.gradients[0, 0]
        e.center, e.points = &self.center[0], &self.points[0, 0]
        if matrices is not None:
            self.matrices = viewed("matrices", matrices, n, d, d)
            e.matrices = &self.matrices[0, 0, 0]
        if directions is not None:
            e.rank = as_array("weights", weights).shape[1]
            self.directions = viewed("directions", directions, n, e.rank, d)
            self.weights = viewed("weights", weights, n, e.rank)
            e.directions, e.weights = &self.directions[0, 0, 0], &self.weights[0, 0]
        self.subtract, self.data = pb_expansion_change, <void *>&self.expansion

    @property
    def shape(self):
        """(N, 1)."""
        return self.gradients.shape[0], 1

    def __call__(self, indices, states):
        """Return the values, like the function of a `ControlVariate`."""
        return _values(self, self.gradients.shape[0], indices, states)


cdef _values(CompiledControl control, n, indices, states):
    cdef const int64_t[::1] rows = check_indices("indices", indices, n)
    cdef const int64_t[::1] only = check_indices("states", states, 1)
    cdef double[:, ::1] out = np.zeros((rows.shape[0], only.shape[0]))
    if only.shape[0] > 1:
        raise ValueError(f"states must have at most one entry; got {only.shape[0]}")
    if rows.shape[0] and only.shape[0]:
        control.subtract(&rows[0], rows.shape[0], &only[0], 1, &out[0, 0], control.data)
    return -np.asarray(out)


cdef class TotalChange:
    """Callable that returns the change of a quadratic function between two points.

    All arrays are read again at every call.
    """

    cdef const double[::1] gradient, center
    cdef const double[:, ::1] hessian, points

    def __cinit__(self, gradient, hessian, center, points):
        d = as_array("center", center).size
        self.gradient, self.center = viewed("gradient", gradient, d), viewed("center", center, d)
        self.hessian = viewed("hessian", hessian, d, d)
        self.points = viewed("points", points, 2, d)

    def __call__(self):
        return pb_control_quadratic_change(
            self.gradient.shape[0], &self.gradient[0], &self.hessian[0, 0], &self.center[0],
            &self.points[0, 0])
