"""Control variates of Metropolis-Hastings at the speed of their dot products."""

import numpy as np

from libc.stdint cimport int64_t

from pybandit.racing._csrc cimport (
    pb_control_linear, pb_control_linear_change, pb_control_quadratic_change,
)
from pybandit.racing._source cimport CompiledControl


cdef class LinearChange(CompiledControl):
    """h_n(points[1]) - h_n(points[0]); the arrays are checked, and read anew at every call."""

    cdef pb_control_linear linear
    cdef const double[:, ::1] features, points
    cdef const double[::1] slopes, curvatures, center

    def __init__(self, features, slopes, curvatures, center, points):
        self.features, self.points = features, points
        self.slopes, self.curvatures, self.center = slopes, curvatures, center
        self.linear.n_parameters = self.features.shape[1]
        self.linear.features = &self.features[0, 0]
        self.linear.slopes = &self.slopes[0]
        self.linear.curvatures = &self.curvatures[0]
        self.linear.center = &self.center[0]
        self.linear.points = &self.points[0, 0]
        self.subtract = pb_control_linear_change
        self.data = <void *>&self.linear

    def __call__(self, indices, states):
        """The values, as a Python function of `ControlVariate` gives them."""
        cdef const int64_t[::1] rows = np.ascontiguousarray(indices, dtype=np.int64)
        cdef const int64_t[::1] only = np.ascontiguousarray(states, dtype=np.int64)
        cdef double[:, ::1] out = np.zeros((rows.shape[0], only.shape[0]))
        if rows.shape[0]:
            pb_control_linear_change(&rows[0], rows.shape[0], &only[0], only.shape[0],
                                     &out[0, 0], self.data)
        return -np.asarray(out)


cdef class TotalChange:
    """Call it for the change of a quadratic form between two points, read anew."""

    cdef const double[::1] gradient, center
    cdef const double[:, ::1] hessian, points

    def __init__(self, gradient, hessian, center, points):
        self.gradient, self.center = gradient, center
        self.hessian, self.points = hessian, points

    def __call__(self):
        return pb_control_quadratic_change(
            self.gradient.shape[0], &self.gradient[0], &self.hessian[0, 0], &self.center[0],
            &self.points[0, 0])
