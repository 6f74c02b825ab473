"""What `cimport pybandit` gives: the structs of the C headers and the kernels to call on them.

Compile with ``include_dirs=[pybandit.get_include()]``; there is nothing to link.
"""

from pybandit._shared._csrc cimport (
    PB_CALLBACK, PB_GROW, PB_NOT_FINITE, PB_NO_SOLUTION, PB_OK, PB_RANGE, pb_bitgen, pb_status,
)
from pybandit.embedding cimport (
    race_begin, race_run, sampler_draw, sampler_init, sampler_memory, schedule_memory,
    schedule_normal,
)
from pybandit.racing._csrc cimport (
    PB_ONE_SIDED, PB_SUBSAMPLE_KEYED, PB_SUBSAMPLE_PERMUTATION, PB_SUBSAMPLE_REJECTION,
    PB_TWO_SIDED, PB_UNION, pb_convention, pb_factor_function, pb_factors, pb_race, pb_sampler,
    pb_schedule, pb_subsample, pb_subsample_kind,
)
