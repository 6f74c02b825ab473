"""The kernels of csrc/racing, declared for Cython; contracts in include/pybandit/racing."""

from libc.stdint cimport int32_t, int64_t, uint32_t

from pybandit._shared._csrc cimport pb_bitgen, pb_heap, pb_status
from pybandit.betting._csrc cimport pb_betting, pb_threshold


cdef extern from "pybandit/racing/b_normal.h" nogil:
    ctypedef enum pb_convention:
        PB_ONE_SIDED
        PB_TWO_SIDED
        PB_UNION

    int64_t pb_b_normal_memory(const double *fractions, int64_t n_looks) noexcept
    double pb_b_normal_error(double boundary, const double *fractions, int64_t n_looks,
                             pb_convention convention, double *workspace) noexcept
    pb_status pb_b_normal_solve(double delta, const double *fractions, int64_t n_looks,
                                pb_convention convention, double *workspace,
                                double *boundary) noexcept


cdef extern from "pybandit/racing/factors.h" nogil:
    ctypedef int (*pb_factor_function)(const int64_t *factors, int64_t n_factors,
                                       const int64_t *states, int64_t n_states,
                                       double *out, void *user_data) noexcept nogil
    ctypedef struct pb_factors:
        int64_t n_factors
        int64_t n_states
        const double *matrix
        pb_factor_function function
        void *user_data


cdef extern from "pybandit/racing/control.h" nogil:
    ctypedef struct pb_control:
        pb_factors factors
        pb_factor_function subtract
        void *data
        void (*ahead)(const int64_t *factors, int64_t n_factors, const void *data) noexcept nogil

    ctypedef struct pb_control_linear:
        int64_t n_parameters
        const double *features
        const double *slopes
        const double *curvatures
        const double *center
        const double *points

    int pb_control_read(const int64_t *factors, int64_t n_factors, const int64_t *states,
                        int64_t n_states, double *out, void *user_data) noexcept
    int pb_control_matrix(const int64_t *factors, int64_t n_factors, const int64_t *states,
                          int64_t n_states, double *out, void *data) noexcept
    int pb_control_linear_change(const int64_t *factors, int64_t n_factors,
                                 const int64_t *states, int64_t n_states, double *out,
                                 void *data) noexcept
    void pb_control_linear_ahead(const int64_t *factors, int64_t n_factors,
                                 const void *data) noexcept
    double pb_control_quadratic_change(int64_t n_parameters, const double *gradient,
                                       const double *hessian, const double *center,
                                       const double *points) noexcept


cdef extern from "pybandit/racing/expansion.h" nogil:
    ctypedef struct pb_expansion:
        int64_t n_parameters
        int64_t rank
        const double *gradients
        const double *matrices
        const double *directions
        const double *weights
        const double *center
        const double *points

    int pb_expansion_change(const int64_t *factors, int64_t n_factors, const int64_t *states,
                            int64_t n_states, double *out, void *data) noexcept


cdef extern from "pybandit/racing/pairwise.h" nogil:
    ctypedef struct pb_pairwise:
        int64_t n_states
        int64_t n_labels
        const double *table
        const int64_t *labels
        const int32_t *members
        const double *weights

    int pb_pairwise_read(const int64_t *factors, int64_t n_factors, const int64_t *states,
                         int64_t n_states, double *out, void *user_data) noexcept
    int64_t pb_pairwise_memory(const pb_pairwise *pairwise) noexcept
    int64_t pb_pairwise_totals(const pb_pairwise *pairwise, int64_t n_factors, double *work,
                               double *totals) noexcept


cdef extern from "pybandit/racing/quadratic.h" nogil:
    ctypedef struct pb_quadratic:
        int64_t n_states
        const double *constants
        const double *slopes
        const double *curvatures
        double center
        const double *values
        const int32_t *members

    int pb_quadratic_read(const int64_t *factors, int64_t n_factors, const int64_t *states,
                          int64_t n_states, double *out, void *user_data) noexcept
    void pb_quadratic_totals(const pb_quadratic *quadratic, int64_t n_factors,
                             double *totals) noexcept


cdef extern from "pybandit/racing/subsample.h" nogil:
    ctypedef enum pb_subsample_kind:
        PB_SUBSAMPLE_PERMUTATION
        PB_SUBSAMPLE_BLOCKS
        PB_SUBSAMPLE_KEYED
        PB_SUBSAMPLE_REJECTION
        PB_SUBSAMPLE_GROUPS

    ctypedef struct pb_subsample:
        pb_subsample_kind kind
        int64_t size
        int64_t position
        uint32_t *memory
        int64_t run

    int64_t pb_subsample_memory(pb_subsample_kind kind, int64_t size, int64_t run) noexcept
    void pb_subsample_init(pb_subsample *subsample, pb_subsample_kind kind, int64_t size,
                           int64_t run, uint32_t *permutation) noexcept
    void pb_subsample_restart(pb_subsample *subsample, pb_bitgen *bitgen) noexcept
    void pb_subsample_next(pb_subsample *subsample, pb_bitgen *bitgen, int64_t n,
                           int64_t *out) noexcept


cdef extern from "pybandit/racing/moments.h" nogil:
    ctypedef struct pb_moments:
        int64_t count

    void pb_moments_stream(const double *matrix, int64_t n_rows, int64_t stride,
                           const int64_t *columns, int64_t n_columns, int64_t reference,
                           double *sum) noexcept


cdef extern from "pybandit/racing/race.h" nogil:
    enum:
        PB_RACE_CALL_ROWS

    ctypedef struct pb_schedule:
        int64_t n_looks
        const int64_t *rows
        const double *scale
        const double *slack
        const double *unit

    ctypedef struct pb_race:
        pb_factors factors
        pb_schedule schedule
        pb_subsample *subsample
        const double *offsets
        int pairwise
        const double *ranges
        double difference_range
        pb_betting *betting
        int64_t *states
        int64_t *kept
        double *moments_memory
        int64_t *indices
        int64_t indices_capacity
        double *rewards
        int64_t rewards_capacity
        int64_t n_alive
        pb_moments moments
        double *low
        double *high
        int64_t needed_indices
        int64_t needed_rewards
        int64_t called_at
        int64_t called_rows
        const double *refused
        int64_t winner
        int64_t n_looks
        int64_t n_evaluations
        int exact

    void pb_race_begin(pb_race *race, pb_bitgen *bitgen) noexcept
    pb_status pb_race_run(pb_race *race, pb_bitgen *bitgen) noexcept


cdef extern from "pybandit/racing/column.h" nogil:
    ctypedef struct pb_column:
        int64_t count
        double low
        double high


cdef extern from "pybandit/racing/accept.h" nogil:
    ctypedef struct pb_accept:
        pb_factors factors
        pb_schedule schedule
        pb_subsample *subsample
        double range
        const double *total
        pb_threshold *betting
        int64_t block
        int64_t *indices
        double *ratios
        pb_status status
        int accepted
        int exact
        int64_t n_looks
        int64_t n_evaluations
        pb_column column
        int64_t bad_factor
        double bad_ratio

    int64_t pb_accept_memory(const pb_factors *factors, pb_subsample_kind kind) noexcept
    void pb_accept_init(pb_accept *accept, const pb_factors *factors,
                        const pb_schedule *schedule, pb_subsample_kind kind,
                        void *memory) noexcept
    pb_status pb_accept_run(pb_accept *accept, double log_threshold,
                            pb_bitgen *bitgen) noexcept
    pb_status pb_accept_decide(pb_accept *accept, double log_threshold, pb_bitgen *bitgen,
                               int64_t *accepted, int64_t *n_evaluations) noexcept


cdef extern from "pybandit/racing/populations.h" nogil:
    ctypedef struct pb_populations:
        int64_t n_arms
        const int64_t *sizes
        const double *const *values
        pb_factor_function function
        void *user_data
        const double *offsets
        double boundary
        int student
        int64_t first_look
        pb_subsample *subsamples
        int64_t block
        int64_t *indices
        double *rewards
        int64_t *alive
        pb_column *columns
        int64_t winner
        int64_t n_looks
        int64_t n_evaluations
        int exact
        int64_t bad_factor
        double bad_reward

    int64_t pb_populations_next(int64_t size, int64_t first_look, int64_t n_read) noexcept
    pb_status pb_populations_run(pb_populations *race, pb_bitgen *bitgen) noexcept


cdef extern from "pybandit/racing/schedule.h" nogil:
    int64_t pb_schedule_memory(int64_t n_factors, int64_t first_look,
                               double max_fraction) noexcept
    pb_status pb_schedule_normal(double delta, pb_convention convention, int64_t n_factors,
                                 int64_t n_states, int64_t first_look, double max_fraction,
                                 void *memory, pb_schedule *schedule) noexcept


cdef extern from "pybandit/racing/sampler.h" nogil:
    ctypedef struct pb_sampler:
        pb_race race
        pb_subsample subsample
        const double *log_prior
        const double *totals
        double *offsets
        int (*grow)(pb_race *race) noexcept nogil
        pb_status status

    int64_t pb_sampler_memory(const pb_factors *factors, const pb_schedule *schedule,
                              pb_subsample_kind kind) noexcept
    void pb_sampler_init(pb_sampler *sampler, const pb_factors *factors,
                         const pb_schedule *schedule, const double *log_prior,
                         pb_subsample_kind kind, void *memory) noexcept
    pb_status pb_sampler_draw(pb_sampler *sampler, pb_bitgen *bitgen, int64_t *state) noexcept


cdef extern from "pybandit/racing/lil_ucb.h" nogil:
    ctypedef struct pb_lil:
        double delta
        double epsilon
        double beta
        double lambda_ "lambda"
        double radius

    ctypedef struct pb_lil_ucb:
        pb_factors factors
        const double *offsets
        const double *ranges
        pb_lil lil
        pb_subsample *subsamples
        double *sums
        double *low
        double *high
        int64_t *pulls
        pb_heap heap
        int64_t winner
        int64_t n_pulls
        int ended
        int exact
        int64_t factor
        double reward

    double pb_lil_bonus(const pb_lil *lil, double pulls) noexcept
    pb_status pb_lil_ucb_run(pb_lil_ucb *race, pb_bitgen *bitgen) noexcept
    pb_status pb_lil_ucb_begin(pb_lil_ucb *race, pb_bitgen *bitgen) noexcept
    pb_status pb_lil_ucb_continue(pb_lil_ucb *race, pb_bitgen *bitgen, int64_t n) noexcept
